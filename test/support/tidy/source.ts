// The input of the tidy rules: the text of every source file, and its imports.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { posix } from 'node:path';

export interface Source {
  /** Path from the project's root, with `/`. */
  readonly path: string;
  readonly text: string;
}
/** A violation, with its location and remedy. */
export type Problem = string;

export const ROOMS = ['domain', 'application', 'projections', 'infrastructure', 'http', 'migrations', 'test'] as const;

export const readSources = (root: string): readonly Source[] =>
  ROOMS.flatMap((room) => filesUnder(root, room)).map((path) => ({
    path,
    text: readFileSync(posix.join(root, path), 'utf8'),
  }));

const filesUnder = (root: string, folder: string): string[] =>
  readdirSync(posix.join(root, folder)).flatMap((name) => {
    const path = posix.join(folder, name);
    if (statSync(posix.join(root, path)).isDirectory()) return filesUnder(root, path);
    return path.endsWith('.ts') ? [path] : [];
  });

export interface Import {
  /** A path from the root for our files, or the name of a package or `node:` module. */
  readonly target: string;
  readonly isOurs: boolean;
  /** The names imported as values, empty for type imports. `*` for all, or for side effects only. */
  readonly values: readonly string[];
}

const STATEMENT = /^(?:import|export)\s+(?:(type)\s+)?(?:([^'";]*?)\s*from\s*)?'([^']+)'/gm;
const DYNAMIC = /\bimport\('([^']+)'\)/g;

export const importsOf = ({ path, text }: Source): readonly Import[] => {
  const resolved = (name: string, values: readonly string[]): Import =>
    name.startsWith('.')
      ? { target: posix.join(posix.dirname(path), name), isOurs: true, values }
      : { target: name, isOurs: false, values };
  const fixed = [...text.matchAll(STATEMENT)].map(([, type, what, name]) =>
    resolved(name as string, type ? [] : valuesIn(what)),
  );
  return [...fixed, ...[...text.matchAll(DYNAMIC)].map(([, name]) => resolved(name as string, ['*']))];
};

const valuesIn = (what: string | undefined): readonly string[] => {
  const braces = /\{([^}]*)\}/.exec(what ?? '')?.[1];
  if (braces === undefined) return ['*'];
  const names = braces
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && !name.startsWith('type '));
  return names.map((name) => name.replace(/\s+as\s.*$/, ''));
};
