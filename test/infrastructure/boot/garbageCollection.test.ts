// Buffers outside of the heap start no full garbage collection while the heap is small.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';

const run = promisify(execFile);
const SETTINGS = new URL('../../../infrastructure/boot/garbageCollection.ts', import.meta.url).href;

/** Keeps 200 MB of buffers, and counts the full collections meanwhile (kind 4). */
const COUNT = `
  let full = 0;
  const count = (list) => list.getEntries().forEach(({ detail }) => (full += detail.kind === 4 ? 1 : 0));
  new PerformanceObserver(count).observe({ entryTypes: ['gc'] });
  const kept = [];
  for (let n = 0; n < 200; n++) {
    kept.push(Buffer.alloc(1_000_000));
    await new Promise(setImmediate);
  }
  await new Promise((done) => setTimeout(done, 50));
  process.stdout.write(JSON.stringify({ full, kept: kept.length, pool: Buffer.poolSize }));`;

const counted = async (imports: string): Promise<{ full: number; kept: number; pool: number }> => {
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', `${imports}${COUNT}`], { env: {} });
  return JSON.parse(stdout);
};

describe('garbage collection', () => {
  it('is not started by buffers, with the settings of the program', async () => {
    expect((await counted('')).full).to.be.greaterThan(0);
    expect(await counted(`await import('${SETTINGS}');`)).to.deep.equal({ full: 0, kept: 200, pool: 8_192 });
  });
});
