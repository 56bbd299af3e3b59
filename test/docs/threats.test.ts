// The threat list has every row of its sources, and each row names a test (test/citations.test.ts checks that the tests exist).
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';

const rowsOf = async (heading: string): Promise<readonly (readonly string[])[]> => {
  const text = await readFile(join(import.meta.dirname, '../../docs/SECURITY.md'), 'utf8');
  const [, part = ''] = text.split(`### ${heading}\n`);
  const table =
    part
      .split('\n#')[0]
      ?.split('\n')
      .filter((line) => line.startsWith('| ')) ?? [];
  return table.slice(1).map((line) => line.split('|').map((cell) => cell.trim()));
};

describe('the threat list', () => {
  for (const [heading, prefix, last] of [
    ['OWASP API Security Top 10, 2023', 'API', 10],
    ['ASVS 5.0', 'V', 17],
  ] as const)
    it(`has every row of ${heading}, each with a sentence and a test`, async () => {
      const rows = await rowsOf(heading);
      const ids = new Set(rows.map(([, name = '']) => name.split(' ')[0]));
      expect([...ids]).to.deep.equal(Array.from({ length: last }, (_, n) => `${prefix}${n + 1}`));
      for (const [, name, rule, tests] of rows) {
        expect(rule, name).to.match(/^\S.*\.$/);
        expect(tests, name).to.match(/`test\/[\w/]+(\.test)?\.ts`/);
      }
    });
});
