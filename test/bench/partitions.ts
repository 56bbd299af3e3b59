// The cost of an append to a log partitioned by position, against the log as it is (ADR 0019). A trial on one server in one run: both logs
// get the same flushes in turn, each of 32 appends. `node test/bench/partitions.ts`
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { migratedDatabase } from '../world/postgres.ts';
import { cpuMsOf } from './cpu.ts';
import { median } from './statistics.ts';

const STREAMS = 32;
const EVENT = 'x'.repeat(600);
const METADATA = 'x'.repeat(100);
/** Flushes per round. Each starts 32 streams, and every second one continues the streams of the previous flush. */
const FLUSHES = 400;
const ROUNDS = 8;
const PARTITIONS = 12;
const PARTITION_EVENTS = 10_000_000;

/** The same events, partitioned by position. No index can be unique across partitions, so revisions have their own table. */
const PARTITIONED = `
  CREATE SCHEMA partitioned;
  CREATE TABLE partitioned.events (LIKE event_store.events) PARTITION BY RANGE (position);
  ALTER TABLE partitioned.events ADD PRIMARY KEY (position);
  ${Array.from(
    { length: PARTITIONS },
    (_, n) => `CREATE TABLE partitioned.events_${n} PARTITION OF partitioned.events
      FOR VALUES FROM (${n * PARTITION_EVENTS}) TO (${(n + 1) * PARTITION_EVENTS});`,
  ).join('\n')}
  CREATE INDEX ON partitioned.events (hashtextextended(stream, 0), hashtextextended(stream, 1), revision);
  CREATE INDEX ON partitioned.events (position) WHERE split_part(stream, '-', 1) IN ('account', 'keyring', 'webhookEndpoint');
  CREATE TRIGGER refuse_unless_in_use BEFORE INSERT ON partitioned.events
    FOR EACH STATEMENT EXECUTE FUNCTION event_store.refuse_unless_in_use();
  CREATE FUNCTION partitioned.of_stream(name text) RETURNS SETOF partitioned.events LANGUAGE sql STABLE AS $function$
    SELECT * FROM partitioned.events e WHERE hashtextextended(e.stream, 0) = hashtextextended(name, 0)
      AND hashtextextended(e.stream, 1) = hashtextextended(name, 1) AND e.stream = name
  $function$;
  CREATE TABLE partitioned.streams (hash_0 bigint NOT NULL, hash_1 bigint NOT NULL, first_position bigint NOT NULL,
    revision bigint NOT NULL, PRIMARY KEY (hash_0, hash_1)) WITH (fillfactor = 80);`;

const HEADS = /SELECT e\.revision FROM event_store\.of_stream\(m\.stream\) e ORDER BY e\.revision DESC LIMIT 1/;
const NOTIFY = /PERFORM pg_notify\('quita_events', [^;]+;/;
const replaced = (text: string, pattern: RegExp, by: string): string => {
  if (!pattern.test(text)) throw new Error(`event_store.append has no ${pattern}`);
  return text.replace(pattern, by);
};

/** Returns the function event_store.append for the partitioned log. */
const appendOf = (text: string): string => {
  const heads = replaced(
    text,
    HEADS,
    `SELECT s.revision FROM partitioned.streams s
     WHERE s.hash_0 = hashtextextended(m.stream, 0) AND s.hash_1 = hashtextextended(m.stream, 1)`,
  );
  const streams = `INSERT INTO partitioned.streams AS s (hash_0, hash_1, first_position, revision)
      SELECT hashtextextended(m.stream, 0), hashtextextended(m.stream, 1), m.base + 1, m.expected + m.count
      FROM unnest(member_streams, bases, member_expected, member_counts) m (stream, base, expected, count) WHERE m.base >= 0
      ON CONFLICT (hash_0, hash_1) DO UPDATE SET revision = excluded.revision;`;
  return replaced(heads, NOTIFY, `${streams} $&`)
    .replaceAll('event_store.events', 'partitioned.events')
    .replaceAll('event_store.of_stream', 'partitioned.of_stream')
    .replace('FUNCTION event_store.append', 'FUNCTION partitioned.append');
};

const database = await migratedDatabase();
const client = new pg.Client({ connectionString: database.connectionString });
await client.connect();
const one = async <Value>(text: string): Promise<Value> =>
  Object.values((await client.query(text)).rows[0] as { readonly [name: string]: Value })[0] as Value;
await client.query(PARTITIONED);
await client.query(
  appendOf(await one<string>("SELECT pg_get_functiondef(oid) FROM pg_proc WHERE oid = 'event_store.append'::regproc")),
);
const pid = await one<number>('SELECT pg_backend_pid()');

const LOGS = ['event_store', 'partitioned'] as const;
type Log = (typeof LOGS)[number];

const flush = async (log: Log, streams: readonly string[], revision: number): Promise<void> => {
  const all = <Value>(of: (n: number) => Value) => streams.map((_, n) => of(n));
  const text = `SELECT outcome FROM ${log}.append($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::uuid[], $7::text[],
    $8::text[], $9::text[])`;
  const values = [
    ...[streams, all(() => revision), all(() => 1), all((n) => n + 1), all(() => 0), all(() => randomUUID())],
    ...[all(() => 'ChargeCreated'), all(() => EVENT), all(() => METADATA)],
  ];
  const { rows } = await client.query<{ outcome: string }>({ name: `append ${log}`, text, values });
  if (rows.some(({ outcome }) => outcome !== 'written')) throw new Error(`${log}: ${rows[0]?.outcome}`);
};

/** Returns the milliseconds of database CPU, the elapsed milliseconds and the bytes of write-ahead log, each per event. */
const round = async (log: Log) => {
  await client.query('CHECKPOINT');
  const [cpuMs, wal, beganAtMs] = [
    await cpuMsOf(pid),
    await one<string>('SELECT pg_current_wal_lsn()'),
    performance.now(),
  ];
  for (let n = 0; n < FLUSHES; n += 2) {
    const streams = Array.from({ length: STREAMS }, () => `payment-${randomUUID()}`);
    await flush(log, streams, -1);
    await flush(log, streams, 0);
  }
  const events = FLUSHES * STREAMS;
  return {
    cpuUs: (((await cpuMsOf(pid)) - cpuMs) * 1_000) / events,
    timeUs: ((performance.now() - beganAtMs) * 1_000) / events,
    walBytes: Number(await one<string>(`SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '${wal}')`)) / events,
  };
};

for (const log of LOGS) await round(log);
const rounds: { readonly [L in Log]: Awaited<ReturnType<typeof round>> }[] = [];
for (let n = 0; n < ROUNDS; n++) {
  const [first, second] = n % 2 === 0 ? LOGS : LOGS.toReversed();
  const a = await round(first as Log);
  const b = await round(second as Log);
  rounds.push({ [first as Log]: a, [second as Log]: b } as (typeof rounds)[number]);
}
for (const what of ['cpuUs', 'timeUs', 'walBytes'] as const) {
  const of = (log: Log) => median(rounds.map((pair) => pair[log][what])).toFixed(1);
  const ratio = median(rounds.map((pair) => pair.partitioned[what] / pair.event_store[what]));
  console.log(
    `${what} an event: ${of('event_store')} as it is, ${of('partitioned')} partitioned; ${ratio.toFixed(3)} (median of pairs)`,
  );
}
for (const relation of [
  'event_store.events',
  'event_store.events_of_stream',
  'partitioned.streams',
  'partitioned.streams_pkey',
])
  console.log(`${relation}: ${await one<string>(`SELECT pg_relation_size('${relation}')`)} bytes`);
await client.end();
await database.drop();
process.exit(0);
