// Static files. They are read once at start, so that no request touches the disk or names a path.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

export interface Asset {
  readonly contentType: string;
  readonly body: Buffer;
  /** The first 16 hex digits of the body's SHA-256. */
  readonly version: string;
}

/** For files and images whose address changes with their content. */
export const FOR_EVER = 'public, max-age=31536000, immutable';

/** Returns the response of a route with a file. */
export const sentAsset = ({ version, contentType, body }: Asset) =>
  ({
    status: 200,
    headers: { 'Cache-Control': FOR_EVER, ETag: `"${version}"` },
    contentType,
    bytes: body,
  }) as const;

interface AssetFolder<Name extends string> {
  /** Returns the file, or null if no file has that name. */
  find(name: string): Asset | null;
  /** Returns a host-relative URL that changes with the content, so that responses can be cached forever. */
  urlOf(name: Name): string;
}

const CONTENT_TYPES: { readonly [extension: string]: string } = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
};

/** Serves style sheets without indentation, which makes them a tenth smaller. */
const bytesOf = (name: string, from: URL): Buffer =>
  name.endsWith('.css') ? Buffer.from(readFileSync(from, 'utf8').replaceAll(/^ +/gm, '')) : readFileSync(from);

const load = (name: string, from: URL): Asset => {
  const body = bytesOf(name, from);
  const contentType = CONTENT_TYPES[name.split('.').at(-1) as string];
  if (contentType === undefined) throw new Error(`no content type for ${name}`);
  return { contentType, body, version: createHash('sha256').update(body).digest('hex').slice(0, 16) };
};

/** `path` is the URL path of the folder. `files` maps each name to its location on disk. */
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
