// `npm test`: two mochas side by side, each with a PostgreSQL of its own. The suites of the event stores wait on real deadlines for
// most of their time, so that the others run meanwhile. The last line is `N passed, N failed`; exit code 0 only when all passed.
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ALL = 'test/**/*.test.ts';
const STORES = ['test/conformance/**/*.test.ts', 'test/infrastructure/eventStore/**/*.test.ts'];

interface Result {
  readonly output: string;
  readonly code: number;
  readonly passed: number;
  readonly failed: number;
}

/** `isShown`: printed as it comes; otherwise kept. */
const runMocha = async (args: readonly string[], report: string, isShown: boolean): Promise<Result> => {
  const reporter = ['--reporter', 'test/support/countingReporter.mjs', '--reporter-option', `output=${report}`];
  const child = spawn('mocha', [...args, ...reporter], { stdio: ['ignore', isShown ? 'inherit' : 'pipe', 'inherit'] });
  let output = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  const code = await new Promise<number>((resolve) => child.once('close', (exit) => resolve(exit ?? 1)));
  // A mocha that died before its end has counted nothing.
  const counts = await readFile(report, 'utf8').catch(() => '0 1');
  const [passed = 0, failed = 1] = counts.trim().split(' ').map(Number);
  return { output, code, passed, failed };
};

const dir = await mkdtemp(join(tmpdir(), 'quita-test-run-'));
const [others, stores] = await Promise.all([
  runMocha([ALL, ...STORES.flatMap((spec) => ['--ignore', spec])], join(dir, 'others'), true),
  runMocha(STORES, join(dir, 'stores'), false),
]);
await rm(dir, { recursive: true, force: true });
process.stdout.write(stores.output);
const failed = others.failed + stores.failed;
const isBad = others.code !== 0 || stores.code !== 0;
process.stdout.write(`${others.passed + stores.passed} passed, ${isBad ? Math.max(failed, 1) : failed} failed\n`);
process.exit(isBad ? 1 : 0);
