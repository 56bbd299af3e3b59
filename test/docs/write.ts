// `npm run docs`: writes the generated pages, then records the examples of the OpenAPI document.
import { writeFileSync } from 'node:fs';
import { FOLDER, PAGES } from './pages.ts';

for (const [file, page] of Object.entries(PAGES)) {
  writeFileSync(new URL(file, FOLDER), page());
  process.stdout.write(`docs/${file}\n`);
}

await import('../http/openapi/record.ts');
