// The static files of the pages for developers. Swagger UI comes from its package, so that the pages work without a network.
import { assetFolder } from '../assets.ts';

const here = (name: string): URL => new URL(name, import.meta.url);
const ofSwagger = (name: string): URL => new URL(import.meta.resolve(`swagger-ui-dist/${name}`));

export const DOCS_ASSETS = assetFolder('/docs/assets', {
  'preferences.css': here('../preferences.css'),
  'docs.css': here('docs.css'),
  'reference.css': here('reference.css'),
  'docs.js': here('docs.js'),
  'reference.js': here('reference.js'),
  'favicon.svg': here('../favicon.svg'),
  'swagger-ui.css': ofSwagger('swagger-ui.css'),
  'swagger-ui-bundle.js': ofSwagger('swagger-ui-bundle.js'),
});
