// The static files of the pages for developers.
import { assetFolder } from '../assets.ts';

const here = (name: string): URL => new URL(name, import.meta.url);

export const DOCS_ASSETS = assetFolder('/docs/assets', {
  'preferences.css': here('../preferences.css'),
  'docs.css': here('docs.css'),
  'reference.css': here('reference.css'),
  'docs.js': here('docs.js'),
  'reference.js': here('reference.js'),
  'favicon.svg': here('../favicon.svg'),
  'tryIt.js': here('tryIt.js'),
});
