// The pages of docs/ that are made from the program, by their file names.

import { cliPage } from './cli.ts';
import { errorReference } from './errorReference.ts';
import { eventsPage } from './events.ts';
import { routesPage } from './routes.ts';

export const FOLDER = new URL('../../docs/', import.meta.url);
export const PAGES: { readonly [file: string]: () => string } = {
  'cli.md': cliPage,
  'errors.md': errorReference,
  'events.md': eventsPage,
  'routes.md': routesPage,
};
