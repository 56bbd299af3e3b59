// The generated pages of docs/, by file name.

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
