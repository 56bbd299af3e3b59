// Two APIs, two workers and two projectors on one machine under load, one of them killed every ten seconds. After each kill, a read model
// or process is divided into another number of partitions.
//   MINUTES  how long (default 5)      STORE=postgres  the log in Postgres (default: the test EventStoreDB as a process of its own)
//   SEED     of who dies when (printed)      TEST_EVENTSTORE_URL  a server to use instead of the test one
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { openEventStoreDb } from '../../infrastructure/eventStore/eventStoreDb/eventStoreDb.ts';
import { openPostgresEventStore } from '../../infrastructure/eventStore/postgres/store.ts';
import { givenEventStoreDb } from '../support/eventStoreDb/given.ts';
import { startServerProcess } from '../support/eventStoreDb/serverProcess.ts';
import { cli, newDataDir, removeDataDir } from '../world/program.ts';
import { Inbox } from './deployment/inbox.ts';
import { Apis, type Merchant, newMerchant, sellDuring, Till } from './deployment/merchants.ts';
import { startOwnPostgres } from './deployment/ownPostgres.ts';
import { Deployment, TARGETS, type Target } from './deployment/processes.ts';
import { askApis, flushDeliveries, readLog, readWallets } from './deployment/reconcile.ts';

const MINUTES = Number(process.env['MINUTES'] ?? 5);
const SEED = Number(process.env['SEED'] ?? Date.now() % 1_000_000);
const KILL_EVERY_MS = 10_000;
const TAKEOVER_MS_MAX = 5_000;
const MERCHANTS = ['um', 'dois', 'tres'];
const DIVIDED = [
  'payments',
  'process/webhookFanOut',
  'webhookDeliveries',
  'process/instrumentIssuing',
  'dailyBalances',
];
/** Its length and that of DIVIDED have no common divisor, so that each gets each number. */
const PARTITIONS = [4, 1, 16, 2];
const TILLS_PER_MERCHANT = 4;
/** What a killed worker had claimed is given to another one after 12.5 s at most; a message may have to wait for its second attempt. */
const QUIET_MS = 300_000;
const SECRETS_KEY = randomBytes(32).toString('base64');

const say = (line: string): void => void process.stderr.write(`${new Date().toISOString()}  ${line}\n`);

/** All six in random order, then again. */
function* targets(seed: number): Generator<Target, never> {
  let state = seed;
  const random = (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  for (;;) {
    const rest = [...TARGETS];
    while (rest.length > 0) yield rest.splice(random(rest.length), 1)[0] as Target;
  }
}

const openEventStore = async () => {
  if (process.env['STORE'] === 'postgres') return { url: null, stop: async () => undefined };
  const given = givenEventStoreDb();
  if (given) return { url: given, stop: async () => undefined };
  const { connectionString, stop } = await startServerProcess();
  return { url: connectionString, stop };
};

/** Kills for so long, and divides after each kill. Milliseconds of each takeover. */
const killInTurn = async (
  deployment: Deployment,
  forMs: number,
  divide: (consumer: string, partitions: number) => Promise<unknown>,
): Promise<{ kills: number; takeoversMs: number[] }> => {
  const order = targets(SEED);
  const beganAtMs = performance.now();
  const takeoversMs: number[] = [];
  let kills = 0;
  while ((kills + 1) * KILL_EVERY_MS <= forMs) {
    await pause(Math.max(0, beganAtMs + (kills + 1) * KILL_EVERY_MS - performance.now()));
    await deployment.ready();
    const target = order.next().value;
    const tookMs = await deployment.kill(target);
    kills += 1;
    if (tookMs !== null) takeoversMs.push(Math.round(tookMs));
    say(`killed: ${target}${tookMs === null ? '' : `; all was led again after ${Math.round(tookMs)} ms`}`);
    const consumer = DIVIDED[kills % DIVIDED.length] as string;
    const partitions = PARTITIONS[kills % PARTITIONS.length] as number;
    await divide(consumer, partitions);
    deployment.partitions.set(consumer, partitions);
    say(`divided: ${consumer} into ${partitions}`);
  }
  await pause(Math.max(0, beganAtMs + forMs - performance.now()));
  await deployment.ready();
  return { kills, takeoversMs };
};

describe(`a deployment of six processes, one killed every ${KILL_EVERY_MS / 1_000} s`, () => {
  it(`loses nothing and doubles nothing in ${MINUTES} minutes`, async function run() {
    this.timeout(0);
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => process.exit(1)); // takes all with it
    say(`seed ${SEED}`);
    const [postgres, eventStore, dataDir, inbox] = [
      await startOwnPostgres(),
      await openEventStore(),
      await newDataDir(),
      await Inbox.open(),
    ];
    const env = {
      DATABASE_URL: postgres.connectionString,
      ...(eventStore.url !== null && { EVENTSTORE_URL: eventStore.url }),
      SECRETS_KEY,
      WEBHOOK_ALLOW_PRIVATE: 'true',
    };
    let deployment: Deployment | null = null;
    try {
      deployment = await Deployment.start(dataDir, env);
      const apis = new Apis(deployment.apis);
      const till = new Till(apis);
      const merchants: Merchant[] = [];
      for (const name of MERCHANTS) merchants.push(await newMerchant(name, apis, inbox, { dataDir, env }));
      const running = deployment;
      say('all six are ready');
      const { kills, takeoversMs } = await sellDuring(till, merchants, { tillsPerMerchant: TILLS_PER_MERCHANT }, () =>
        killInTurn(running, MINUTES * 60_000, (consumer, partitions) =>
          cli(dataDir, ['projections', 'partition', consumer, String(partitions)], env),
        ),
      );
      const { acknowledged } = till;
      say(`${acknowledged.length} charges, ${kills} kills, ${apis.repeats} repeats; waiting until it is quiet`);

      const quietFromMs = performance.now();
      const expected = acknowledged.flatMap(({ id }) => [`charge.created ${id}`, `charge.paid ${id}`]);
      await inbox.until(expected, QUIET_MS);
      const pendingDeliveries = await flushDeliveries(apis, merchants);
      say(`quiet after ${Math.round(performance.now() - quietFromMs)} ms; reconciling`);

      const { otherReplays, unpaid } = await askApis(apis, acknowledged);
      const store =
        eventStore.url === null
          ? await openPostgresEventStore({ connectionString: postgres.connectionString })
          : await openEventStoreDb({ connectionString: eventStore.url });
      const { oddStreams, events } = await readLog(store, acknowledged);
      await store.close();
      const wallets = await readWallets(apis, merchants, acknowledged);
      const { differences, rows } = (await cli(dataDir, ['projections', 'verify'], env)) as {
        differences: unknown[];
        rows: number;
      };
      const ledger = (await cli(dataDir, ['ledger', 'check'], env)) as { sums: { sum: number }[] };
      const figures = {
        charges: acknowledged.length,
        kills,
        repeats: apis.repeats,
        refusals: apis.refusals,
        paidLate: till.late,
        webhooks: inbox.events,
        duplicateDeliveries: inbox.duplicates,
        takeoversMs,
        verifiedRows: rows,
        events,
        complaints: deployment.complaints(),
      };
      say(JSON.stringify(figures, null, 2));

      expect({
        wrong: [...till.wrong, ...inbox.wrong],
        otherReplays,
        unpaid,
        notOnce: inbox.notOnce(expected),
        unexpected: inbox.unexpected(new Set(expected)),
        pendingDeliveries,
        oddStreams,
        wallets: wallets.filter(({ available, expected: sum }) => available !== sum),
        differences,
        ledger: ledger.sums.filter(({ sum }) => sum !== 0),
        unasked: deployment.unasked,
        slowTakeovers: takeoversMs.filter((ms) => ms > TAKEOVER_MS_MAX),
      }).to.deep.equal({
        wrong: [],
        otherReplays: [],
        unpaid: [],
        notOnce: [],
        unexpected: [],
        pendingDeliveries: 0,
        oddStreams: [],
        wallets: [],
        differences: [],
        ledger: [],
        unasked: [],
        slowTakeovers: [],
      });
      expect(acknowledged.length).to.be.greaterThan(0);
      expect(await deployment.stop()).to.deep.equal(TARGETS.map(() => ({ code: 0, signal: null })));
    } finally {
      await deployment?.kill9();
      await inbox.close();
      await eventStore.stop();
      await postgres.stop();
      await removeDataDir(dataDir);
    }
  });
});
