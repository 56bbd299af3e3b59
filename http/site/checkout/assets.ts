// The static files of the payer's pages, read once at start: no request ever touches the disk or names a path.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

export interface CheckoutAsset {
  readonly contentType: string;
  readonly body: Buffer;
  /** First 16 hex digits of the body's SHA-256: an entity tag, and the `v` of `checkoutAssetUrl`. */
  readonly version: string;
}

export type CheckoutAssetName = 'checkout.css' | 'methods.css' | 'preferences.css' | 'checkout.js' | 'favicon.svg';

const load = (name: CheckoutAssetName, contentType: string): [CheckoutAssetName, CheckoutAsset] => {
  const body = readFileSync(new URL(name, import.meta.url));
  return [name, { contentType, body, version: createHash('sha256').update(body).digest('hex').slice(0, 16) }];
};

const ASSETS = new Map<string, CheckoutAsset>([
  load('checkout.css', 'text/css; charset=utf-8'),
  load('methods.css', 'text/css; charset=utf-8'),
  load('preferences.css', 'text/css; charset=utf-8'),
  load('checkout.js', 'text/javascript; charset=utf-8'),
  load('favicon.svg', 'image/svg+xml'),
]);

/** The file served at `/pay/assets/<name>`, or null when there is no such file. */
export const checkoutAsset = (name: string): CheckoutAsset | null => ASSETS.get(name) ?? null;

/** Host-relative URL that changes with the content, so that the answer may be cached for ever. */
export const checkoutAssetUrl = (name: CheckoutAssetName): string =>
  `/pay/assets/${name}?v=${ASSETS.get(name)!.version}`;
