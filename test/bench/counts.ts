// `npm run counts [-- <another checkout>]` measures how far related code is spread, in any checkout of this repository. It lists the files
// that name a concept, and the files and functions that a POST /v1/charges runs through. Product code, tests and documents are counted
// separately. A name counts anywhere in a file: code, comment, schema or page text.
//   --since <commit>     lists the product files of that commit that have changed since, with package.json; new files don’t count
//   --path               lists the files that a POST /v1/charges runs through, with the functions that ran in each
//   --wiring <folder>    lists the product files outside folders of that name that import from them, or from ports of that name. To add or
//                        remove the capability, these files must change
//   --outside <folder>   leaves out files in folders of that name, in the singular and the plural (payout: payout/ and payouts/)
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { type Profiler, Session } from 'node:inspector/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { circlesAmong } from '../support/tidy/cycles.ts';
import { longestFunctions } from '../support/tidy/functions.ts';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    since: { type: 'string' },
    outside: { type: 'string' },
    wiring: { type: 'string' },
    path: { type: 'boolean' },
  },
});
const ROOT = resolve(positionals[0] ?? '.');
const ROOMS = ['domain', 'application', 'projections', 'infrastructure', 'http', 'migrations'];

const filesOf = async (folder: string, ending = '.ts'): Promise<readonly string[]> =>
  (await readdir(join(ROOT, folder), { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile() && entry.name.endsWith(ending))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)));
const product = (await Promise.all(ROOMS.map((room) => filesOf(room)))).flat();
const tests = await filesOf('test', '.ts');
const docs = await filesOf('docs', '.md');
const textOf = new Map([...product, ...tests, ...docs].map((path) => [path, readFileSync(join(ROOT, path), 'utf8')]));
const among = (paths: readonly string[], pattern: RegExp): number =>
  paths.filter((path) => pattern.test(textOf.get(path) as string)).length;
type Row = readonly [what: string, product: number, tests?: number, docs?: number];
const naming = (what: string, pattern: RegExp): Row => [
  `files that name ${what}`,
  among(product, pattern),
  among(tests, pattern),
  among(docs, pattern),
];
const linesOf = (paths: readonly string[]): number =>
  paths.reduce((sum, path) => sum + (textOf.get(path) as string).split('\n').length, 0);

/** Returns a test whether a file is in a folder of this name, in the singular or the plural. */
const inFolders =
  (name: string) =>
  (path: string): boolean =>
    dirname(path)
      .split('/')
      .some((folder) => folder.replace(/s$/, '') === name.replace(/s$/, ''));

const wiringOf = (name: string): readonly string[] => {
  const isIn = inFolders(name);
  const isOwn = (path: string): boolean => isIn(path) || new RegExp(`^application/ports/.*\\b${name}`).test(path);
  return product.filter(
    (path) =>
      !isOwn(path) &&
      [...(textOf.get(path) as string).matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)].some(([, spec = '']) =>
        isOwn(join(dirname(path), spec)),
      ),
  );
};
if (options.wiring !== undefined) {
  const wiring = wiringOf(options.wiring);
  process.stdout.write([...wiring, `${wiring.length} product files import from ${options.wiring}`, ''].join('\n'));
  process.exit(0);
}

/** Returns the existing product files that changed since a commit, deleted and renamed files included. */
const changedSince = (commit: string, outside: string | undefined): readonly string[] => {
  const kinds = ['--diff-filter=MDT', '--no-renames', '--name-only'];
  const changed = execFileSync('git', ['diff', ...kinds, commit, '--', ...ROOMS, 'package.json'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  const isOutside = (path: string): boolean => outside === undefined || !inFolders(outside)(path);
  return changed.split('\n').filter((path) => path !== '' && isOutside(path));
};
if (options.since !== undefined) {
  const changed = changedSince(options.since, options.outside);
  const where = options.outside === undefined ? '' : ` outside ${options.outside}`;
  const total = `${changed.length} existing product files changed since ${options.since}${where}`;
  process.stdout.write([...changed, total, ''].join('\n'));
  process.exit(0);
}

/** Returns whether every folder may import from this one: ports and the core. */
const isShared = (folder: string): boolean => /^application(\/(ports|core)\b.*)?$/.test(folder);

/** Counts imports in application from one unshared folder into another, and the distinct pairs of folders. */
const arrows = (): { imports: number; pairs: number } => {
  const found: string[] = [];
  for (const path of product.filter((one) => one.startsWith('application/')))
    for (const [, spec = ''] of (textOf.get(path) as string).matchAll(/from '(\.[^']+)'/g)) {
      const [from, to] = [dirname(path), dirname(join(dirname(path), spec))];
      if (to.startsWith('application') && from !== to && !isShared(to) && !isShared(from)) found.push(`${from} ${to}`);
    }
  return { imports: found.length, pairs: new Set(found).size };
};

/** Number of traced creations. Timers of the process run during some of them, but the code that serves a creation runs in each. */
const TRACED = 9;

/** Returns the project’s files that run for every creation, from socket to append and back, each with its functions that ran. */
const creationPath = async (): Promise<ReadonlyMap<string, readonly string[]>> => {
  const urlOf = (path: string): string => pathToFileURL(join(ROOT, path)).href;
  const { TestGateway } = (await import(urlOf('test/world/gateway.ts'))) as typeof import('../world/gateway.ts');
  const { migratedDatabase } = (await import(urlOf('test/world/postgres.ts'))) as typeof import('../world/postgres.ts');
  const database = await migratedDatabase();
  const projecting = await TestGateway.open({ database, roles: { serves: true, projects: true, works: false } });
  // Only the serving role is traced, without projector and worker.
  const gateway = await TestGateway.open({
    database,
    isAlone: false,
    roles: { serves: true, projects: false, works: false },
  });
  const create = (n: number) =>
    gateway.call('POST', '/v1/charges', {
      key: gateway.tenant.testKey,
      idempotencyKey: `a-key-of-its-own-${n}`,
      body: { amount: 1000, payment_method: 'pix' },
    });
  for (let n = 0; n < 3; n++) await create(n); // afterwards, key and account are cached
  await projecting.close();
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  await session.post('Profiler.takePreciseCoverage');
  const prefixes = ['domain', 'application', 'infrastructure', 'http'].map((room) => `${urlOf(room)}/`);
  const ran = new Map<string, { readonly file: string; readonly name: string; readonly times: number }>();
  for (let n = 0; n < TRACED; n++) {
    const { status } = await create(9 + n);
    if (status !== 201) throw new Error(`the creation answered ${status}`);
    const { result } = (await session.post('Profiler.takePreciseCoverage')) as Profiler.TakePreciseCoverageReturnType;
    for (const { url, functions } of result.filter((one) => prefixes.some((prefix) => one.url.startsWith(prefix))))
      for (const { functionName, ranges } of functions.filter((one) => (one.ranges[0]?.count ?? 0) > 0)) {
        const key = `${url} ${ranges[0]?.startOffset}`;
        const seen = ran.get(key) ?? { file: relative(ROOT, fileURLToPath(url)), name: functionName || '=>', times: 0 };
        ran.set(key, { ...seen, times: seen.times + 1 });
      }
  }
  await gateway.close();
  const always = [...ran.values()]
    .filter(({ times }) => times === TRACED)
    .toSorted((one, other) => one.file.localeCompare(other.file));
  const byFile = Map.groupBy(always, ({ file }) => file);
  return new Map([...byFile].map(([file, functions]) => [file, functions.map(({ name }) => name)]));
};

const sources = [...product, ...tests].map((path) => ({ path, text: textOf.get(path) as string }));
const path = await creationPath();
if (options.path === true) {
  for (const [file, functions] of path) process.stdout.write(`${file}: ${functions.join(' ')}\n`);
  process.stdout.write(`${path.size} files\n`);
  process.exit(0);
}
const { imports, pairs } = arrows();
const rows: readonly Row[] = [
  ['files', product.length, tests.length, docs.length],
  ['lines', linesOf(product), linesOf(tests), linesOf(docs)],
  naming('refunds', /refund/i),
  naming('reconciliation', /reconcil/i),
  naming('one queue (releaseFunds)', /releaseFunds/),
  naming('one event (TransactionHeldRejected)', /TransactionHeldRejected/),
  naming('one route (/v1/payments/{id}/cancel)', /\/v1\/payments\/[{:]id\}?\/cancel|\/:id\/cancel/),
  ['import circles, types included', circlesAmong(sources).length],
  ['lines of code of the longest function', longestFunctions(sources)[0]?.lines ?? 0],
  ['lines of infrastructure/boot/composition.ts', linesOf(product.filter((one) => /boot\/composition\.ts$/.test(one)))],
  ['files in infrastructure/boot', product.filter((one) => one.startsWith('infrastructure/boot/')).length],
  ['files that a POST /v1/charges runs through', path.size],
  ['functions that it runs through', [...path.values()].flat().length],
  ['imports from one folder of application into another', imports],
  ['pairs of such folders', pairs],
];
const cell = (text: string | number | undefined): string => String(text ?? '').padStart(8);
process.stdout.write(`${cell('product')}${cell('tests')}${cell('docs')}\n`);
for (const [what, ...counts] of rows)
  process.stdout.write(`${[0, 1, 2].map((n) => cell(counts[n])).join('')}  ${what}\n`);
process.exit(0);
