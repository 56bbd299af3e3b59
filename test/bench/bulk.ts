// A gateway on a bulk-loaded log of any length. Measures consistency, the duration of reads and the size of each table.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { EndpointId } from '../../domain/kernel/ids.ts';
import { API_ROUTES } from '../../http/api/routes.ts';
import { openStorage, type Storage } from '../../infrastructure/boot/storage.ts';
import { verify } from '../../projections/engine/verify.ts';
import { PROJECTIONS } from '../../projections/registry.ts';
import { TEST_SECRETS_KEY } from '../support/dataKeys.ts';
import { type TestGateway, type TestTenant, testKeyring } from '../world/gateway.ts';
import { openReady, rawIdOf } from '../world/http.ts';
import { migratedDatabase } from '../world/postgres.ts';
import type { BulkWork } from './bulkProcess.ts';
import { median } from './statistics.ts';

const ASKED = 5;

export interface Size {
  readonly name: string;
  readonly rows: number;
  readonly tableBytes: number;
  readonly indexBytes: number;
}
export interface BulkReport {
  readonly events: number;
  readonly fillSeconds: number;
  readonly projectSeconds: number;
  readonly verifySeconds: number;
  /** Rows that differ from a replay. */
  readonly differences: readonly unknown[];
  /** Sum of the ledger's balances; 0 if every entry sums to zero. */
  readonly ledgerSum: number;
  /** Median milliseconds of each GET with a merchant’s key, with its status, slowest first. */
  readonly gets: readonly { readonly path: string; readonly status: number; readonly ms: number }[];
  readonly sizes: readonly Size[];
}

interface BulkOptions {
  readonly events: number;
  readonly tenants: number;
  /** Names of the read models to verify; null: all. */
  readonly verified: readonly string[] | null;
  readonly say: (line: string) => void;
}

const SIZES = `SELECT n.nspname || '.' || c.relname AS name, c.reltuples::bigint AS rows, pg_table_size(c.oid) AS "tableBytes",
    pg_indexes_size(c.oid) AS "indexBytes"
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relkind = 'r' AND n.nspname !~ '^(pg_|information_schema)' AND pg_table_size(c.oid) > 1000000
  ORDER BY pg_total_relation_size(c.oid) DESC`;

/** Moves the processes past the whole log. Otherwise they would make the deliveries again that the log already contains. */
const REACTED = `UPDATE subscriptions.checkpoints p SET position = c.position, event_id = c.event_id FROM subscriptions.checkpoints c
  WHERE c.name = 'payments' AND p.name <> ALL ($1::text[])`;

/** Runs processes in parallel and passes on their output. Rejects if one fails. */
const together = async (works: readonly BulkWork[], say: (line: string) => void): Promise<void> => {
  const run = async (work: BulkWork): Promise<void> => {
    const file = fileURLToPath(new URL('./bulkProcess.ts', import.meta.url));
    const child = spawn(process.execPath, [file, JSON.stringify(work)], { stdio: ['ignore', 'pipe', 'inherit'] });
    for await (const line of createInterface({ input: child.stdout })) say(line);
    if (child.exitCode === null) await once(child, 'exit');
    if (child.exitCode !== 0) throw new Error(`${work.work.kind} failed`);
  };
  await Promise.all(works.map(run));
};

/** The read model with the most rows. It follows its own streams, so a separate process builds it. */
const APART = 'webhookDeliveries';
const FILLING = 2;

const timed = async <Result>(work: () => Promise<Result>): Promise<readonly [Result, number]> => {
  const beganAtMs = performance.now();
  const result = await work();
  return [result, (performance.now() - beganAtMs) / 1_000];
};

/** Merchants with one endpoint each, created through the program. */
const openTenants = async (
  gateway: TestGateway,
  count: number,
): Promise<readonly (TestTenant & { endpointId: EndpointId })[]> => {
  const tenants: (TestTenant & { endpointId: EndpointId })[] = [];
  for (let n = 0; n < count; n++) {
    const tenant = await gateway.newTenant();
    const body = { url: 'https://example.com', events: ['*'] };
    const made = await gateway.post<{ id: string }>('/v1/webhooks/endpoints', body, { key: tenant.testKey });
    tenants.push({ ...tenant, endpointId: rawIdOf(made.body.id) as EndpointId });
  }
  return tenants;
};

/** Requests every GET of a merchant’s key five times, for the tenant’s newest objects. */
const askAll = async (gateway: TestGateway, { testKey: key }: TestTenant): Promise<BulkReport['gets']> => {
  const newest = async (path: string) =>
    ((await gateway.get<{ data: readonly { id: string }[] }>(`${path}?limit=1`, { key })).body.data[0]?.id ??
      'none') as string;
  const [charge, delivery] = [await newest('/v1/charges'), await newest('/v1/webhooks/deliveries')];
  const lastMonth = new Date(Date.now() - 31 * 86_400_000).toISOString().slice(0, 7);
  const concrete = (path: string): string =>
    path
      .replace('{month}', lastMonth)
      .replace(/(charges|payments)\/\{id\}/, `$1/${charge}`)
      .replace('deliveries/{id}', `deliveries/${delivery}`)
      .replaceAll(/\{\w+\}/g, 'none');
  const keyed = API_ROUTES.filter(
    ({ method, principal }) => method === 'GET' && (principal === 'apiKey' || principal === 'testKey'),
  );
  const gets: { path: string; status: number; ms: number }[] = [];
  for (const path of [
    ...keyed.map((route) => route.path),
    '/v1/charges?limit=100',
    '/v1/charges?limit=100&status=refunded',
  ]) {
    const times: number[] = [];
    let status = 0;
    for (let n = 0; n < ASKED; n++) {
      const [reply, seconds] = await timed(() => gateway.get(concrete(path), { key }));
      status = reply.status;
      times.push(seconds * 1_000);
    }
    gets.push({ path, status, ms: median(times) });
  }
  return gets.sort((a, b) => b.ms - a.ms);
};

const consistent = async (storage: Storage, verified: BulkOptions['verified']) => {
  const chosen = PROJECTIONS.filter(({ name }) => verified === null || verified.includes(name));
  const report = await verify(chosen, storage, storage.openSession);
  const text = 'SELECT coalesce(sum(amount), 0)::bigint AS sum FROM rm_wallet.balances';
  const { rows } = await storage.operations.query<{ sum: number }>(text);
  return { differences: [...report.differences, ...report.parked], ledgerSum: rows[0]?.sum ?? Number.NaN };
};

export const bulk = async ({ events: wanted, tenants: count, verified, say }: BulkOptions): Promise<BulkReport> => {
  const database = await migratedDatabase();
  const first = await openReady({ database });
  const tenants = await openTenants(first, count);
  await first.close();
  const of = { connectionString: database.connectionString, secretsKey: TEST_SECRETS_KEY.toString('base64') };
  const bulkTenants = tenants.map(({ accountId, endpointId }) => ({ accountId, endpointId }));
  const fill = (index: number): BulkWork => {
    const part = { index, of: FILLING };
    return { ...of, work: { kind: 'fill', tenants: bulkTenants, events: Math.ceil(wanted / FILLING), part } };
  };
  const [, fillSeconds] = await timed(() =>
    together(
      Array.from({ length: FILLING }, (_, n) => fill(n)),
      say,
    ),
  );
  say(`filled in ${fillSeconds.toFixed(0)} s; building the read models`);
  const others = PROJECTIONS.map(({ name }) => name).filter((name) => name !== APART);
  const project = (names: readonly string[]): BulkWork => ({ ...of, work: { kind: 'project', names } });
  const [, projectSeconds] = await timed(() => together([project([APART]), project(others)], say));
  const storage = await openStorage(of.connectionString, null, testKeyring(), (error) => say(String(error)));
  const head = 'SELECT count(*) FROM event_store.events';
  const events = (await storage.operations.query<{ count: number }>(head)).rows[0]?.count ?? 0;
  await storage.operations.query(REACTED, [PROJECTIONS.map(({ name }) => name)]);
  say(`projected in ${projectSeconds.toFixed(0)} s; verifying`);
  const [found, verifySeconds] = await timed(() => consistent(storage, verified));
  await storage.operations.query('ANALYZE');
  const sizes = (await storage.operations.query<Size>(SIZES)).rows;
  await storage.close();
  say(`verified in ${verifySeconds.toFixed(0)} s; reading`);
  const gateway = await openReady({ database });
  const gets = await askAll(gateway, tenants[0] as TestTenant);
  await gateway.close();
  await database.drop();
  return { events, fillSeconds, projectSeconds, verifySeconds, ...found, gets, sizes };
};
