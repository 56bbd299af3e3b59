// Static files, read once at start: no request ever touches the disk or names a path.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

export interface Asset {
  readonly contentType: string;
  readonly body: Buffer;
  /** The first 16 hex digits of the body's SHA-256. */
  readonly version: string;
}

interface AssetFolder<Name extends string> {
  /** Returns the file of that name, or null when the folder has none. */
  find(name: string): Asset | null;
  /** Returns a host-relative URL that changes with the content, so that the answer may be cached for ever. */
  urlOf(name: Name): string;
}

const CONTENT_TYPES: { readonly [extension: string]: string } = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
};

/** Style goes out without its indentation, a tenth of it. */
const bytesOf = (name: string, from: URL): Buffer =>
  name.endsWith('.css') ? Buffer.from(readFileSync(from, 'utf8').replaceAll(/^ +/gm, '')) : readFileSync(from);

const load = (name: string, from: URL): Asset => {
  const body = bytesOf(name, from);
  const contentType = CONTENT_TYPES[name.split('.').at(-1) as string];
  if (contentType === undefined) throw new Error(`no content type for ${name}`);
  return { contentType, body, version: createHash('sha256').update(body).digest('hex').slice(0, 16) };
};

/** `path`: where the folder is served. `files`: where each of its files is read from. */
export const assetFolder = <Name extends string>(
  path: string,
  files: { readonly [name in Name]: URL },
): AssetFolder<Name> => {
  const assets = new Map<string, Asset>(
    Object.entries<URL>(files).map(([name, from]) => [name, load(name, from)] as const),
  );
  return {
    find: (name) => assets.get(name) ?? null,
    urlOf: (name) => `${path}/${name}?v=${assets.get(name)?.version}`,
  };
};
