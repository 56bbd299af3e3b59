// `npm test`: five mochas side by side, each with a PostgreSQL of its own: many suites wait for processes, locks or real deadlines
// for most of their time, and the others run meanwhile. The last line is `N passed, N failed`; exit code 0 only when all passed.
import { spawn, spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { chmod, mkdtemp, readFile, rm, statfs, writeFile } from 'node:fs/promises';
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

/** Databases are made and dropped by the hundred: on a disk that takes a quarter of all CPU. */
const MEMORY = '/dev/shm';
const MEMORY_BYTES = 3e9;

/** As open as any TMPDIR, because PostgreSQL runs as another user. */
const openFolder = async (parent: string): Promise<string> => {
  const folder = await mkdtemp(join(parent, 'quita-test-'));
  await chmod(folder, 0o1777);
  return folder;
};
/** Null where there is not enough of it, or where nothing may be executed: some tests copy PostgreSQL into TMPDIR. */
const folderInMemory = async (): Promise<string | null> => {
  const { bavail, bsize } = await statfs(MEMORY);
  if (bavail * bsize < MEMORY_BYTES) return null;
  const folder = await openFolder(MEMORY);
  const program = join(folder, 'program');
  await writeFile(program, '#!/bin/sh\n', { mode: 0o755 });
  if (spawnSync(program).status === 0) return folder;
  await rm(folder, { recursive: true });
  return null;
};

interface Result {
  readonly output: string;
  readonly code: number;
  readonly passed: number;
  readonly failed: number;
}

const NODE_COMPILE_CACHE = join(import.meta.dirname, '../node_modules/.cache/quita');
/** Of all that the tests write. */
const dir = (await folderInMemory().catch(() => null)) ?? (await openFolder(tmpdir()));
process.once('exit', () => rmSync(dir, { recursive: true, force: true, maxRetries: 10 }));
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

/** `isShown`: printed as it comes; otherwise kept. */
const runMocha = async (args: readonly string[], name: string, isShown: boolean): Promise<Result> => {
  const report = join(dir, name);
  const reporter = ['--reporter', 'test/support/countingReporter.mjs', '--reporter-option', `output=${report}`];
  const child = spawn('mocha', [...args, ...reporter], {
    stdio: ['ignore', isShown ? 'inherit' : 'pipe', 'inherit'],
    env: { ...process.env, TMPDIR: dir, NODE_COMPILE_CACHE },
  });
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
const ignored = [...filesOf([ISOLATION]), ...apart.flat()].flatMap((spec) => ['--ignore', spec]);
const results =
  process.argv[2] === ISOLATION
    ? [await runMocha(filesOf([ISOLATION]), ISOLATION, true)]
    : await Promise.all([
        runMocha([ALL, ...ignored], 'rest', true),
        ...apart.map((files, n) => runMocha(files, String(n), false)),
      ]);
for (const { output } of results) process.stdout.write(output);
const sum = (of: 'passed' | 'failed'): number => results.reduce((total, result) => total + result[of], 0);
const isBad = results.some(({ code }) => code !== 0);
process.stdout.write(`${sum('passed')} passed, ${isBad ? Math.max(sum('failed'), 1) : sum('failed')} failed\n`);
process.exit(isBad ? 1 : 0);
