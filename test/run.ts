// `npm test`: five mochas in parallel, each with its own PostgreSQL, because many suites spend most of their time waiting for processes,
// locks or real deadlines. An idle mocha takes the next file. The output ends with the slowest files and `N passed, N failed`. Files that
// failed run once more, alone, and are reported as unstable if they pass. The exit code is 0 only if all passed.
// `npm run test:programs`: whole deployments on both event stores are started, killed and restarted, logs moved and keys rotated. Also the
// embedded PostgreSQL under killed owners, and commands as operators run them. Parallel, as above.
// `npm run test:deadlines`: tests that wait for real deadlines, retries, outages of stores or other leaders, or measure the CPU time of
// requests. Parallel, as above.
// `npm run test:routes`: every route with every caller, error, unknown field, other version and hostile request. Parallel, as above.
// `npm run test:pages`: the dashboard's pages, forms and rejections in both languages. Parallel, as above.
// `npm run test:plans`: lists, plans and buffers of large tables. Parallel, as above.
// `npm run test:isolation`: whole programs that are stopped, poisoned, cut off or flooded while others continue. One file at a time.
// `npm run test:python`: the Python receiver of the webhook guide. Needs python3.
// `npm run test:providers`: Quita's adapters against independent judges: the central bank's schema and an institution's own client.
// `npm run test:browser`: pages in Chromium, checked with axe. Needs /usr/bin/chromium.
import { spawn, spawnSync } from 'node:child_process';
import { globSync, rmSync } from 'node:fs';
import { chmod, mkdtemp, readFile, rm, statfs, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Suites with a script of their own: prefixes of their files, and the number of mochas that run in parallel. */
const SUITES = {
  programs: {
    of: [
      'test/faults/',
      'test/system/',
      'test/infrastructure/boot/start.test.ts',
      'test/infrastructure/boot/restart.test.ts',
      'test/infrastructure/cli/',
      'test/infrastructure/demo/liveTour.test.ts',
      'test/infrastructure/embeddedPostgres/',
    ],
    jobs: 3,
  },
  deadlines: {
    of: [
      'test/http/kernel/requestCost.test.ts',
      'test/http/kernel/regularExpressions.test.ts',
      'test/infrastructure/eventStore/eventStoreDb/',
      'test/conformance/eventStore.',
      'test/application/webhooks/redrive.test.ts',
      'test/http/api/webhooks/retries.test.ts',
      'test/http/api/webhooks/failingEndpoints.test.ts',
      'test/http/api/webhooks/hostileReceivers.test.ts',
      'test/http/api/access/guesses.test.ts',
      'test/http/api/sandbox/clockSilence.test.ts',
      'test/infrastructure/boot/watchdog.test.ts',
      'test/infrastructure/webhookSender/send.test.ts',
      'test/projections/engine/verify.test.ts',
      'test/projections/engine/rebuild.test.ts',
      'test/projections/engine/leadership.test.ts',
      'test/projections/engine/dividing.test.ts',
      'test/projections/partitions.test.ts',
      'test/http/api/providers/operatorConnections.test.ts',
    ],
    jobs: 4,
  },
  routes: {
    of: [
      'test/http/kernel/routes.test.ts',
      'test/http/kernel/errors.test.ts',
      'test/http/kernel/otherVersions.test.ts',
      'test/http/kernel/unknownFields.test.ts',
      'test/http/kernel/unknownParameters.test.ts',
      'test/http/kernel/fuzz.test.ts',
      'test/http/openapi/examples.test.ts',
    ],
    jobs: 4,
  },
  pages: { of: ['test/http/site/dashboard'], jobs: 4 },
  plans: {
    of: [
      'test/projections/disputes/explain.test.ts',
      'test/projections/engine/explain.test.ts',
      'test/projections/payments/counted.test.ts',
      'test/projections/payments/explain.test.ts',
      'test/projections/payments/lists.test.ts',
      'test/projections/payments/manyTenants.test.ts',
      'test/projections/payments/searchExplain.test.ts',
      'test/projections/payouts/explain.test.ts',
      'test/projections/wallet/explain.test.ts',
      'test/projections/webhooks/explain.test.ts',
      'test/infrastructure/jobs/claimCost.test.ts',
      'test/infrastructure/jobs/claims.test.ts',
      'test/infrastructure/payments/velocityGuard.test.ts',
      'test/infrastructure/payouts/hourlyLimits.test.ts',
    ],
    jobs: 4,
  },
  isolation: { of: ['test/isolation/'], jobs: 1 },
  python: { of: ['test/python/'], jobs: 1 },
  providers: { of: ['test/providers/'], jobs: 3 },
  browser: { of: ['test/browser/'], jobs: 2 },
} as const;
/** For all other files. */
const JOBS = 5;
/** The slowest files start first, so that none is left alone at the end. */
const LONGEST = [
  'test/http/kernel/routes.test.ts',
  'test/http/kernel/errors.test.ts',
  'test/laws/payouts.test.ts',
  'test/application/reconciliation/conservation.test.ts',
  'test/tidy.test.ts',
  'test/model/',
  'test/foreignCapability.test.ts',
  'test/installation.test.ts',
  'test/infrastructure/jobs/',
  'test/projections/engine/',
  'test/providers/killedLive.test.ts',
  'test/infrastructure/',
];

/** Tests create and drop hundreds of databases, which on a disk takes a quarter of all CPU. */
const MEMORY = '/dev/shm';
const MEMORY_BYTES = 3e9;

/** As open as TMPDIR, because PostgreSQL runs as another user. */
const openFolder = async (parent: string): Promise<string> => {
  const folder = await mkdtemp(join(parent, 'quita-test-'));
  await chmod(folder, 0o1777);
  return folder;
};
/** Returns null if there is too little memory, or if it is mounted noexec, because some tests copy PostgreSQL into TMPDIR. */
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

const suite = process.argv[2] as keyof typeof SUITES | undefined;
const isOf = (file: string, { of }: { readonly of: readonly string[] }): boolean =>
  of.some((beginning) => file.startsWith(beginning));
const isWanted = (file: string): boolean =>
  suite === undefined ? !Object.values(SUITES).some((own) => isOf(file, own)) : isOf(file, SUITES[suite]);
const jobs = suite === undefined ? JOBS : SUITES[suite].jobs;
const rank = (file: string): number => {
  const found = LONGEST.findIndex((prefix) => file.startsWith(prefix));
  return found === -1 ? LONGEST.length : found;
};
const files = globSync('test/**/*.test.ts')
  .filter(isWanted)
  .sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));

/** Folder for everything that tests write. */
const TMPDIR = (await folderInMemory().catch(() => null)) ?? (await openFolder(tmpdir()));
process.once('exit', () => rmSync(TMPDIR, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 }));
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

interface Outcome {
  /** Number of passed tests per file. */
  readonly passed: Readonly<Record<string, number>>;
  /** The file of each failed test. */
  readonly failed: readonly string[];
}
const OUTPUT = join(TMPDIR, 'outcome.json');
const REPORTER = ['--reporter', 'test/support/countingReporter.mjs', '--reporter-option', `output=${OUTPUT}`];
/** If mocha died early, it has no results, and all its files count as failed. */
const runMocha = async (jobs: number, files: readonly string[]): Promise<Outcome> => {
  await rm(OUTPUT, { force: true });
  const mocha = spawn('mocha', [...(jobs > 1 ? ['--parallel', '--jobs', String(jobs)] : []), ...REPORTER, ...files], {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, TMPDIR, NODE_COMPILE_CACHE: join(import.meta.dirname, '../node_modules/.cache/quita') },
  });
  const code = await new Promise<number>((resolve) => mocha.once('close', (exit) => resolve(exit ?? 1)));
  const died: Outcome = { passed: {}, failed: files };
  const text = await readFile(OUTPUT, 'utf8').catch(() => null);
  const outcome = text === null ? died : (JSON.parse(text) as Outcome);
  return code === 0 || outcome.failed.length > 0 ? outcome : died;
};

/** A machine that stalled fails a few files. More failures are real. */
const MOST_REPEATED = 3;
/** Runs failed files once more, alone. Files that pass then are reported as unstable; files that fail again have failed. */
const repeated = async ({ passed, failed }: Outcome): Promise<Outcome> => {
  const again = [...new Set(failed)];
  if (again.length === 0 || again.length > MOST_REPEATED || again.length === files.length) return { passed, failed };
  process.stdout.write(`Once more, by themselves: ${again.join(', ')}\n`);
  const second = await runMocha(1, again);
  const unstable = again.filter((file) => !second.failed.includes(file));
  if (unstable.length > 0) process.stdout.write(`Unstable: ${unstable.join(', ')}\n`);
  return { passed: { ...passed, ...second.passed }, failed: second.failed };
};

const { passed, failed } = await repeated(await runMocha(jobs, files));
const count = Object.values(passed).reduce((sum, of) => sum + of, 0);
process.stdout.write(`${count} passed, ${failed.length} failed\n`);
process.exit(failed.length === 0 ? 0 : 1);
