import type { Request } from 'express';
import type { Preferences } from './route.ts';

/** Returns what the headers of a request prefer. */
export const preferencesOf = (req: Request): Preferences => ({
  type: (of) => (req.accepts([...of]) || null) as (typeof of)[number] | null,
  language: (of) => (req.acceptsLanguages([...of]) || null) as (typeof of)[number] | null,
  encoding: (of) => (req.acceptsEncodings([...of]) || null) as (typeof of)[number] | null,
});
