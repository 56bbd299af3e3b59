// The cost of a paid Pix charge with one endpoint that receives all events: stored data, commits, and the CPU of creation and of
// settlement, each with its deliveries. Charges come 32 at a time, so batches are as large as under load.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { eachOf } from '../world/eachOf.ts';
import { thisTree } from './checkout.ts';
import { type BenchRow, ofAccounts } from './row.ts';
import { type Cpu, Side, type Sold } from './side.ts';

const CONNECTIONS = 32;
/** Each look costs PostgreSQL about 10 ms. */
const LOOK_EVERY_MS = 1_000;
const EVENTS_MAX = 8;
const KB_MAX = 12;
/** Deliveries to an endpoint of `*`. */
const DELIVERIES = { created: 2, paid: 3 };

/** Leaves out the request log, which is kept for a few days only, and checkpoints and open jobs, which don’t grow with charges. */
const STORED = `SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relkind = 'r' AND n.nspname !~ '^(pg_|information_schema|pgboss)' AND n.nspname <> 'subscriptions' AND c.relname !~ '^request_log'`;
const COUNTERS = `SELECT (SELECT count(*) FROM event_store.events)::float8 AS events, (${STORED})::float8 AS bytes,
  (pg_current_wal_lsn() - '0/0')::float8 AS wal, pg_snapshot_xmax(pg_current_snapshot())::text::float8 AS commits`;

interface Counters {
  readonly events: number;
  readonly bytes: number;
  readonly wal: number;
  /** Commits of transactions that wrote. */
  readonly commits: number;
}
/** CPU in µs. */
type Cost = Counters & Cpu;

/** Returns the cost of `work` with all its effects, for each of `count` charges. */
const costOf = async (side: Side, count: number, work: () => Promise<unknown>): Promise<Cost> => {
  const look = async () => (await side.sql.query<Counters>(COUNTERS)).rows[0] as Counters;
  const before = await look();
  const { node, postgres } = await side.withCpu(work, () => count);
  const after = await look();
  const each = (figure: keyof Counters): number => (after[figure] - before[figure]) / count;
  return {
    events: each('events'),
    bytes: each('bytes'),
    wal: each('wal'),
    commits: each('commits'),
    node,
    postgres,
  };
};

const described = ({ events, bytes, wal, commits, node, postgres }: Cost): string =>
  `${events.toFixed(2)} events, ${(bytes / 1_000).toFixed(1)} kB stored, ${(wal / 1_000).toFixed(1)} kB of WAL, ` +
  `${commits.toFixed(2)} commits, Node ${node.toFixed(0)} µs, PostgreSQL ${postgres.toFixed(0)} µs`;

export const paidCharge: BenchRow = async ({ quick, accounts, say }) => {
  const [least, count] = quick ? [50, 200] : [1_000, 5_000];
  // The first payment of an account also stores rows of the account, such as its counts of the day.
  const warmUp = Math.max(least, accounts ?? 0);
  const side = await Side.open(thisTree, { accounts });
  const receiver = createServer((req, res) => req.resume().on('end', () => res.end()));
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
  await eachOf(side.apiKeys, CONNECTIONS, (apikey) =>
    side.call('/v1/webhooks/endpoints', { url, events: ['*'] }, { apikey }),
  );
  await side.idle();
  let expected = 0;
  const delivered = async (more: number): Promise<void> => {
    expected += more;
    const of = "rm_webhook_deliveries.deliveries WHERE status = 'DELIVERED'";
    while ((await side.count(of)) < expected) await pause(LOOK_EVERY_MS);
  };
  const create = async (name: string, count: number): Promise<readonly Sold[]> => {
    const charges = await side.createCharges(count, name);
    await delivered(count * DELIVERIES.created);
    return charges;
  };
  const pay = async (charges: readonly Sold[]): Promise<void> => {
    await eachOf(charges, CONNECTIONS, ({ id, apiKey: apikey }) =>
      side.call(`/v1/sandbox/charges/${id}/pay`, {}, { apikey }),
    );
    await delivered(charges.length * DELIVERIES.paid);
  };
  say(`paidCharge: ${warmUp} charges to warm up`);
  await pay(await create('warm-up', warmUp));
  await side.idle();
  say(`paidCharge: ${count} charges`);
  let charges: readonly Sold[] = [];
  const creation = await costOf(side, count, async () => {
    charges = await create('measured', count);
  });
  const settlement = await costOf(side, count, () => pay(charges));
  await side.close();
  receiver.closeAllConnections();
  receiver.close();
  const events = creation.events + settlement.events;
  const kb = (creation.bytes + settlement.bytes) / 1_000;
  return [
    {
      name: 'paidCharge',
      what: `stored for a paid charge with one \`*\` endpoint${ofAccounts(accounts)}`,
      against: `a bound; ${count} charges`,
      unit: 'kB',
      ours: kb,
      counterpart: null,
      goal: { text: `≤ ${EVENTS_MAX} events, ≤ ${KB_MAX} kB`, met: events <= EVENTS_MAX && kb <= KB_MAX },
      details: { 'created:': described(creation), 'paid:': described(settlement) },
    },
  ];
};
