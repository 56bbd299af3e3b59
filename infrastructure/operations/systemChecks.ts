// Checks the deployment: database, durability, connections, clocks, keys, event store, consumers, jobs, providers and the audit log.
import { hasSealed } from '../../application/ports/eventCodec.ts';
import type { EventStore } from '../../application/ports/eventStore.ts';
import { asTimestamp, type Sql } from '../../application/ports/sql.ts';
import type { Finding, Leader, OwnReports, SystemChecks } from '../../application/ports/systemChecks.ts';
import type { PaymentId, StreamName } from '../../domain/kernel/ids.ts';
import { PAYMENT } from '../../domain/payment/aggregate.ts';
import { diagnoseEventStoreDb } from '../eventStore/eventStoreDb/eventStoreDb.ts';
import { JOBS_SCHEMA } from '../jobs/schema.ts';
import { POSTGRES_MIN } from '../postgres/database.ts';
import { CONNECTED_LEASES, LEASE_TIMINGS } from '../postgres/leases.ts';
import type { SecretsKeyring } from '../secrets/keyring.ts';
import { countSealed } from '../secrets/resealing.ts';
import { opensWhatIsSealed } from '../secrets/secretsKey.ts';
import { checkConsumers, checkParked } from '../subscriptions/checks.ts';
import { VERSION } from '../system/version.ts';
import { finding } from './finding.ts';

/** The parts of the deployment that are checked. */
export interface Checked {
  readonly storage: {
    readonly store: EventStore;
    readonly reads: Sql;
    readonly operations: Sql;
    /** null: the log is in PostgreSQL. */
    readonly eventStoreUrl: string | null;
  };
  /** Read models and processes. */
  readonly consumers: { readonly names: readonly string[] };
  /** Returns null if only the programs' environment has the keys. */
  readonly keyringOf: () => Promise<SecretsKeyring | null>;
}

type Check = (checked: Checked, reports: OwnReports) => Promise<Finding>;

/** The most connections that one process opens (architecture §9). */
const CONNECTIONS_A_PROCESS = 24;
/** Signatures tolerate 300 s and event store deadlines 10 s, so one second is harmless. */
const CLOCK_SKEW_MS_MAX = 1_000;

const postgresVersion: Check = async ({ storage: { reads } }) => {
  const { rows } = await reads.query<{ version: string }>("SELECT current_setting('server_version') AS version");
  const version = rows[0]?.version ?? '';
  return finding(
    'database version',
    Number.parseInt(version, 10) >= POSTGRES_MIN,
    `PostgreSQL ${version}`,
    `PostgreSQL ${version} is older than ${POSTGRES_MIN}: upgrade it`,
  );
};

const durability: Check = async ({ storage: { reads } }) => {
  const { rows } = await reads.query<{ name: string; setting: string }>(
    "SELECT name, setting FROM pg_settings WHERE name IN ('fsync', 'full_page_writes', 'synchronous_commit')",
  );
  const off = rows.filter(({ setting }) => setting === 'off').map(({ name }) => name);
  return finding(
    'durability',
    off.length === 0,
    'fsync, full_page_writes and synchronous_commit are on',
    `${off.join(', ')} off: a power failure can lose acknowledged payments; turn it on`,
  );
};

const connections: Check = async ({ storage: { reads } }) => {
  const { rows } = await reads.query<{ max: number; used: number }>(
    `SELECT current_setting('max_connections')::int AS max, count(*)::int AS used FROM pg_stat_activity`,
  );
  const { max = 0, used = 0 } = rows[0] ?? {};
  const room = Math.floor((max - used) / CONNECTIONS_A_PROCESS);
  return finding(
    'connections',
    room >= 1,
    `${used} of ${max} in use, room for ${room} more ${room === 1 ? 'process' : 'processes'}`,
    `${used} of ${max} in use: a process takes up to ${CONNECTIONS_A_PROCESS}; raise max_connections`,
  );
};

const clocks: Check = async ({ storage: { reads } }) => {
  const before = Date.now();
  const { rows } = await reads.query<{ now: number }>(
    'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now',
  );
  const skew = Math.round((rows[0]?.now ?? 0) - (before + Date.now()) / 2);
  return finding(
    'clocks',
    Math.abs(skew) <= CLOCK_SKEW_MS_MAX,
    `the database's clock differs from this machine's by ${skew} ms`,
    `the database's clock differs from this machine's by ${skew} ms: run NTP on both`,
  );
};

const eventStore: Check = async ({ storage: { store } }) => {
  const head = await store.head();
  return finding('event store', true, `${store.storeId}, head ${head ?? 'none yet'}`, '');
};

const consumers: Check = ({ storage, consumers: { names } }) => checkConsumers(storage, names);

const parkedStreams: Check = ({ storage: { reads } }) => checkParked(reads);

const failedJobs: Check = async ({ storage: { reads } }) => {
  const { rows: tables } = await reads.query<{ jobs: string | null }>('SELECT to_regclass($1) AS jobs', [
    `${JOBS_SCHEMA}.job`,
  ]);
  if (tables[0]?.jobs == null) return finding('jobs', true, 'none: no worker has run on this database yet', '');
  const { rows } = await reads.query<{ name: string; failed: number }>(
    `SELECT name, count(*)::int AS failed FROM ${JOBS_SCHEMA}.job WHERE state = 'failed' GROUP BY name ORDER BY name`,
  );
  return finding(
    'jobs',
    rows.length === 0,
    'no job has failed permanently',
    `failed permanently: ${rows.map(({ name, failed }) => `${failed} in ${name}`).join(', ')}: npm run cli -- jobs list`,
  );
};

const secretsKey: Check = async ({ keyringOf, storage: { operations } }) => {
  const keyring = await keyringOf();
  if (keyring === null) return finding('secrets key', true, 'not checked: SECRETS_KEY is not set here', '');
  const isRight = await opensWhatIsSealed(operations, keyring);
  const counts = [...(await countSealed(operations))];
  const sum = (entries: typeof counts) => entries.reduce((total, [, count]) => total + count, 0);
  const unopened = sum(counts.filter(([keyId]) => !keyring.has(keyId)));
  const old = sum(counts.filter(([keyId]) => keyring.has(keyId) && keyId !== keyring.sealingId));
  if (isRight === null) return finding('secrets key', true, 'nothing is sealed yet', '');
  if (isRight && unopened > 0)
    return finding(
      'secrets key',
      false,
      '',
      `${unopened} secrets are sealed with a missing key: their webhooks can’t be signed; npm run cli -- secrets status`,
    );
  return finding(
    'secrets key',
    isRight,
    old === 0
      ? 'it opens the secrets in the database'
      : `${old} secrets are still sealed with an old key: npm run cli -- secrets rotate`,
    'SECRETS_KEY is not the key that sealed this database’s secrets: webhooks can’t be signed, and personal data can’t be read; restore the right key',
  );
};

/** Number of payments whose data keys are looked up. Finds a loss of one percent with a probability of 99.99 %. */
const SAMPLED_PAYMENTS = 1_000;

const isSealed = async (store: EventStore, stream: StreamName): Promise<boolean> => {
  for await (const { data } of store.readStream(stream)) if (hasSealed(data)) return true;
  return false;
};

/** Payments without personal data have no key. */
const dataKeys: Check = async ({ storage: { reads, store } }) => {
  const { rows: known } = await reads.query<{ percent: number }>(
    `SELECT least(100, 100.0 * $1 / greatest(reltuples, 1))::float8 AS percent FROM pg_class
     WHERE oid = to_regclass('rm_payments.payments')`,
    [SAMPLED_PAYMENTS],
  );
  if (known[0] === undefined) return finding('data keys', true, 'none: no projector has run on this database yet', '');
  const { rows } = await reads.query<{ id: PaymentId; hasKey: boolean }>(
    `SELECT id, EXISTS (SELECT FROM privacy.data_keys WHERE owner = id) AS "hasKey"
     FROM rm_payments.payments TABLESAMPLE SYSTEM ($1) LIMIT $2`,
    [known[0].percent, SAMPLED_PAYMENTS],
  );
  let lost = 0;
  for (const { id, hasKey } of rows) if (!hasKey && (await isSealed(store, PAYMENT.stream(id)))) lost++;
  return finding(
    'data keys',
    lost === 0,
    `none is missing (${rows.length} payments sampled)`,
    `${lost} of ${rows.length} sampled payments have lost their data keys, so their personal data reads as erased: restore the table privacy.data_keys`,
  );
};

/** The read models of connections and of work that waits for them. */
const COUNTED_IN = ['rm_providers.connections', 'rm_payments.payments', 'rm_disputes.cases', 'rm_payouts.requested'];

/** Returns whether no projector has run on this database yet. */
const isNew = async ({ storage: { reads } }: Checked): Promise<boolean> => {
  const { rows } = await reads.query<{ missing: number }>(
    'SELECT count(*)::int AS missing FROM unnest($1::text[]) name WHERE to_regclass(name) IS NULL',
    [COUNTED_IN],
  );
  return rows[0]?.missing !== 0;
};

const providerConnections: Check = async (checked, { connectionProblems }) => {
  if (await isNew(checked))
    return finding('provider connections', true, 'none: no projector has run on this database yet', '');
  const problems = await connectionProblems();
  return finding('provider connections', problems.length === 0, 'nothing to do', problems.join('; '));
};

const orders: Check = async (checked, { unansweredOrders }) => {
  const found = (await isNew(checked)) ? [] : await unansweredOrders();
  return finding(
    'orders',
    found.length === 0,
    'each was answered within a day',
    `institutions have not answered for a day: ${found.join(', ')}. Run \`order list\`, ask the institution, then run \`order settle\``,
  );
};

/** A lag above this shows that no worker seals. */
const SEALING_SECONDS_MAX = 60;

const auditLog: Check = async (_, reports) => {
  const { size, stopped, lagSeconds, anchors } = await reports.auditStatus();
  if (stopped !== null)
    return finding('audit log', false, '', `sealing stopped: ${stopped}. See docs/runbook.md, "The audit log stopped"`);
  if (lagSeconds === null || lagSeconds > SEALING_SECONDS_MAX)
    return finding('audit log', false, '', 'it doesn’t follow the event log: is a worker running?');
  const failing = anchors.filter(({ failures }) => failures > 0).map(({ anchor, error }) => `${anchor} (${error})`);
  return finding(
    'audit log',
    failing.length === 0,
    `${size} entries sealed`,
    `anchors don’t receive checkpoints: ${failing.join(', ')}`,
  );
};

const CHECKS: readonly Check[] = [
  postgresVersion,
  durability,
  connections,
  clocks,
  secretsKey,
  dataKeys,
  eventStore,
  consumers,
  parkedStreams,
  failedJobs,
  providerConnections,
  orders,
  auditLog,
];

/** The leaders' sessions that are still connected. Several processes may share a role. */
const LEADERS = `SELECT coalesce(l.shares, l.role) AS role, ${asTimestamp('l.started_at')} AS since, host(a.client_addr) AS address,
    l.renewed_at > clock_timestamp() - $1 * interval '1 ms' AS "isAlive"
  FROM ${CONNECTED_LEASES} ORDER BY 1, 2`;

export const systemChecks = (checked: Checked): SystemChecks => ({
  version: VERSION,
  startedAt: new Date(performance.timeOrigin).toISOString(),
  run: async (reports) => {
    const { eventStoreUrl } = checked.storage;
    const findings: Finding[] = [];
    for (const check of CHECKS) findings.push(await check(checked, reports));
    return eventStoreUrl === null ? findings : [...findings, ...(await diagnoseEventStoreDb(eventStoreUrl))];
  },
  leaders: async () => (await checked.storage.reads.query<Leader>(LEADERS, [LEASE_TIMINGS.leaseMs])).rows,
});
