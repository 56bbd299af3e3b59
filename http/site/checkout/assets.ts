// The static files of the payer's pages.
import { type Asset, assetFolder } from '../assets.ts';

const here = (name: string): URL => new URL(name, import.meta.url);

const FOLDER = assetFolder('/pay/assets', {
  'checkout.css': here('checkout.css'),
  'methods.css': here('methods.css'),
  'preferences.css': here('../preferences.css'),
  'checkout.js': here('checkout.js'),
  'favicon.svg': here('../favicon.svg'),
});

/** Returns the file served at `/pay/assets/<name>`, or null if absent. */
export const checkoutAsset = (name: string): Asset | null => FOLDER.find(name);

export const checkoutAssetUrl = FOLDER.urlOf;
