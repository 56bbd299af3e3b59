// `npm test`: five mochas side by side, each with a PostgreSQL of its own: many suites wait for processes, locks or real deadlines
// for most of their time, and the others run meanwhile. The last line is `N passed, N failed`; exit code 0 only when all passed.
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ALL = 'test/**/*.test.ts';
/** By what they wait for: whole programs, what boots them and their databases, engines under the gateway; the routes are the rest. */
const APART = [
  ['system', 'faults'],
  [
    'infrastructure/boot',
    'infrastructure/cli',
    'infrastructure/logMigration',
    'infrastructure/postgres',
    'infrastructure/embeddedPostgres',
  ],
  ['conformance', 'infrastructure/eventStore', 'model', 'application'],
  [
    'projections',
    'infrastructure/jobs',
    'infrastructure/operations',
    'infrastructure/timers',
    'infrastructure/webhookSender',
  ],
];
/** Whole programs that stand still, are poisoned, cut off or flooded, beside others that go on: `npm run test:isolation`, by themselves. */
const ISOLATION = 'isolation';
const filesOf = (folders: readonly string[]): readonly string[] => folders.map((name) => `test/${name}/**/*.test.ts`);

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

const apart = APART.map(filesOf);
const dir = await mkdtemp(join(tmpdir(), 'quita-test-run-'));
const ignored = [...filesOf([ISOLATION]), ...apart.flat()].flatMap((spec) => ['--ignore', spec]);
const results =
  process.argv[2] === ISOLATION
    ? [await runMocha(filesOf([ISOLATION]), join(dir, ISOLATION), true)]
    : await Promise.all([
        runMocha([ALL, ...ignored], join(dir, 'rest'), true),
        ...apart.map((files, n) => runMocha(files, join(dir, String(n)), false)),
      ]);
await rm(dir, { recursive: true, force: true });
for (const { output } of results) process.stdout.write(output);
const sum = (of: 'passed' | 'failed'): number => results.reduce((total, result) => total + result[of], 0);
const isBad = results.some(({ code }) => code !== 0);
process.stdout.write(`${sum('passed')} passed, ${isBad ? Math.max(sum('failed'), 1) : sum('failed')} failed\n`);
process.exit(isBad ? 1 : 0);
