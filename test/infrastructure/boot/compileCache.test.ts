// A start uses what an earlier one compiled.
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';

const run = promisify(execFile);
const BOOT = new URL('../../../infrastructure/boot/', import.meta.url);

describe('compiled code', () => {
  it('is kept beside the packages', async () => {
    const says = `await import('${new URL('compileCache.ts', BOOT)}'); process.stdout.write(require('node:module').getCompileCacheDir())`;
    const { stdout } = await run(process.execPath, ['-e', `(async () => { ${says} })()`], { env: {} });
    expect(stdout.startsWith(fileURLToPath(new URL('../../node_modules/.cache/quita/', BOOT)))).to.equal(true);
  });

  // Imports that stand in the file are compiled before any of them runs.
  for (const name of ['cli', 'dump', 'migrateEvents', 'restore', 'start'])
    it(`is looked for before ${name}.ts imports anything else`, async () => {
      const text = await readFile(new URL(`${name}.ts`, BOOT), 'utf8');
      expect(text.match(/^import .*$/gm)).to.deep.equal(["import './compileCache.ts';"]);
    });
});
