// The generated pages of docs/ are up to date.
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { FOLDER, PAGES } from './pages.ts';

describe('docs/', function suite() {
  for (const [file, page] of Object.entries(PAGES))
    it(`${file} is up to date (npm run docs writes it)`, () => {
      expect(readFileSync(new URL(file, FOLDER), 'utf8')).to.equal(page());
    });
});
