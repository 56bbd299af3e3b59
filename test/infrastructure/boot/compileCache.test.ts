// A start reuses the code that an earlier start compiled.
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';

const run = promisify(execFile);
const BOOT = new URL('../../../infrastructure/boot/', import.meta.url);

describe('the compile cache', () => {
  it('is stored in node_modules/.cache', async () => {
    const says = `await import('${new URL('compileCache.ts', BOOT)}'); process.stdout.write(require('node:module').getCompileCacheDir())`;
    const { stdout } = await run(process.execPath, ['-e', `(async () => { ${says} })()`], { env: {} });
    expect(stdout.startsWith(fileURLToPath(new URL('../../node_modules/.cache/quita/', BOOT)))).to.equal(true);
  });

  // Static imports are compiled before any of them runs.
  for (const name of ['cli', 'dump', 'migrateEvents', 'restore', 'start'])
    it(`is enabled before ${name}.ts imports anything else`, async () => {
      const text = await readFile(new URL(`${name}.ts`, BOOT), 'utf8');
      expect(text.match(/^import .*$/gm)).to.deep.equal(["import './compileCache.ts';"]);
    });
});
