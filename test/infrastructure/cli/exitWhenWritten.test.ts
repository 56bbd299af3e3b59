// A long output reaches a pipe completely, as in `reconcile list --json | jq`.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { expect } from 'chai';

const MODULE = join(import.meta.dirname, '../../../infrastructure/cli/exitWhenWritten.ts');
const LENGTH = 1_000_000;

const ending = (statement: string) =>
  spawn(
    process.execPath,
    [
      '--input-type=module',
      '--eval',
      `import { exitWhenWritten } from '${MODULE}'; process.stdout.write('x'.repeat(${LENGTH})); ${statement}`,
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );

describe('exitWhenWritten', () => {
  const STATEMENT = 'await exitWhenWritten(3, [process.stdout, process.stderr]);';
  it('writes all output before it exits', async () => {
    const child = ending(STATEMENT);
    const exited = new Promise((resolve) => child.once('exit', resolve));
    let length = 0;
    for await (const chunk of child.stdout) length += (chunk as Buffer).length;
    expect([length, await exited]).to.deep.equal([LENGTH, 3]);
  });
  it('exits even if the reader has closed the pipe', async () => {
    const child = ending(STATEMENT);
    const exited = new Promise((resolve) => child.once('exit', resolve));
    child.stdout.once('data', () => child.stdout.destroy());
    expect(await exited).to.equal(3);
  });
});
