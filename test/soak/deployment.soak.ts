// Two APIs, two workers and two projectors on one machine serve many accounts, while one fault after another strikes a process: kill -9,
// SIGSTOP for 8 to 20 s, silence on all its connections to PostgreSQL, and replacement by another release (and back). After each fault, a
// read model or process is divided into another number of partitions. At the end everything is reconciled, and nothing may have grown with
// time.
//   MINUTES  duration (default 5)
//   ACCOUNTS  number of accounts, each with an endpoint (default 3)
//   SEED  seed of the faults (printed)
//   FAULTS=kill,freeze,silence,replace  only these kinds (default: all)
//   STORE=postgres  keeps the log in PostgreSQL (default: the test EventStoreDB in its own process)
//   TEST_EVENTSTORE_URL, TEST_DATABASE_URL  servers to use instead of the test’s own
//   An hour with many accounts: MINUTES=60 ACCOUNTS=2000 STORE=postgres npm run soak:deployment
import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { givenEventStoreDb } from '../support/eventStoreDb/given.ts';
import { startServerProcess } from '../support/eventStoreDb/serverProcess.ts';
import { cli, newDataDir, removeDataDir } from '../world/program.ts';
import { type Fault, KINDS, type Kind, strikeInTurn } from './deployment/faults.ts';
import { Sampler } from './deployment/flatness.ts';
import { Inbox } from './deployment/inbox.ts';
import { Apis, type DeploymentEnv, openLog, openMerchants, sellDuring, Till } from './deployment/merchants.ts';
import { startOwnPostgres } from './deployment/ownPostgres.ts';
import { Deployment, TARGETS } from './deployment/processes.ts';
import { askApis, flushDeliveries, readLog, wrongWallets } from './deployment/reconcile.ts';
import { makeReleases } from './upgrade/releases.ts';

const MINUTES = Number(process.env['MINUTES'] ?? 5);
const ACCOUNTS = Number(process.env['ACCOUNTS'] ?? 3);
const FAULTS = (process.env['FAULTS']?.split(',') ?? KINDS) as readonly Kind[];
const SEED = Number(process.env['SEED'] ?? Date.now() % 1_000_000);
const TILLS = 12;
/** Longer than an API needs under this load, but shorter than most outages of a process. */
const ANSWER_MS = 8_000;
/** The limits after a process ended and after one was suspended. */
const [TAKEOVER_MS_MAX, TAKEOVER_OF_SUSPENDED_MS_MAX] = [5_000, 15_000] as const;
/** Another worker takes over the claims of a killed one after at most 12.5 s. A webhook may have to wait for its second attempt. */
const QUIET_MS = 300_000;
const SAMPLE_MS = Math.min(30_000, (MINUTES * 60_000) / 40);
/** In a shorter run, no process lives long enough to judge its memory. */
const JUDGED_MINUTES_MIN = 5;
const SECRETS_KEY = randomBytes(32).toString('base64');

const say = (line: string): void => void process.stderr.write(`${new Date().toISOString()}  ${line}\n`);

const openEventStore = async () => {
  if (process.env['STORE'] === 'postgres') return { url: null, stop: async () => undefined };
  const given = givenEventStoreDb();
  if (given) return { url: given, stop: async () => undefined };
  const { connectionString, stop } = await startServerProcess();
  return { url: connectionString, stop };
};

/** Returns the longest takeover by kind of fault, in milliseconds. */
const longestTakeovers = (faults: readonly Fault[]): Readonly<Record<string, number>> =>
  Object.fromEntries(
    [...Map.groupBy(faults, ({ kind }) => kind)].map(([kind, its]) => [
      kind,
      Math.round(Math.max(...its.map(({ takeoverMs }) => takeoverMs ?? 0))),
    ]),
  );

/** Returns whether the role had no leader for too long, while its process was suspended or after it ended. */
const isSlow = ({ target, awayMs, takeoverMs }: Fault): boolean =>
  !target.startsWith('api') &&
  (awayMs === null
    ? (takeoverMs ?? Number.POSITIVE_INFINITY) > TAKEOVER_MS_MAX
    : (takeoverMs ?? awayMs) > TAKEOVER_OF_SUSPENDED_MS_MAX);

describe('a deployment of six processes that are killed, frozen, cut off and replaced', () => {
  it(`loses nothing, duplicates nothing and doesn’t grow in ${MINUTES} minutes with ${ACCOUNTS} accounts`, async function run() {
    this.timeout(0);
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => process.exit(1)); // `exit` kills the deployment too
    say(`seed ${SEED}`);
    const [postgres, eventStore, dataDir, inbox, releases] = [
      await startOwnPostgres(),
      await openEventStore(),
      await newDataDir(),
      await Inbox.open(),
      // A changed read model would be rebuilt repeatedly while its partitions change.
      await makeReleases({ otherReadModel: false }),
    ];
    const env: DeploymentEnv = {
      DATABASE_URL: postgres.connectionString,
      ...(eventStore.url !== null && { EVENTSTORE_URL: eventStore.url }),
      SECRETS_KEY,
      WEBHOOK_ALLOW_PRIVATE: 'true',
    };
    const tool = (...words: readonly string[]) => cli(dataDir, words, env, undefined, releases.older);
    let deployment: Deployment | null = null;
    let sampler: Sampler | null = null;
    try {
      deployment = await Deployment.start(dataDir, env, releases);
      say('all six are ready');
      const apis = new Apis(deployment.apis, ANSWER_MS);
      const till = new Till(apis);
      const merchants = await openMerchants(ACCOUNTS, apis, inbox, { dataDir, env });
      say(`${merchants.length} accounts are open`);
      sampler = await Sampler.start(deployment, env.DATABASE_URL, { everyMs: SAMPLE_MS, accounts: ACCOUNTS });
      const striking = {
        ...{ seed: SEED, kinds: FAULTS, forMs: MINUTES * 60_000, say },
        divide: (consumer: string, partitions: number) =>
          tool('projections', 'partition', consumer, String(partitions)),
      };
      const running = deployment;
      const faults = await sellDuring(till, merchants, { tills: TILLS }, () => strikeInTurn(running, striking));
      await sampler.stop();
      const { acknowledged } = till;
      say(
        `${acknowledged.length} charges, ${faults.length} faults, ${apis.repeats} repeats; waiting until it is quiet`,
      );

      const quietFromMs = performance.now();
      const expected = acknowledged.flatMap(({ id }) => [`charge.created ${id}`, `charge.paid ${id}`]);
      await inbox.until(expected, QUIET_MS);
      const pendingDeliveries = await flushDeliveries(apis, merchants);
      say('all webhooks came; waiting until the tables of open work are as before');
      const flatness = await sampler.compare(faults.filter(({ kind }) => kind === 'kill').length);
      say(`quiet after ${Math.round(performance.now() - quietFromMs)} ms; reconciling`);
      say(`\n${flatness.table}`);

      const { otherReplays, unpaid } = await askApis(apis, acknowledged);
      say('the APIs have answered');
      const store = await openLog(env);
      const { oddStreams, events } = await readLog(store, acknowledged);
      await store.close();
      const wallets = await wrongWallets(apis, merchants, acknowledged);
      say('the log and the wallets are read; verifying');
      const { differences, parked, rows } = (await tool('projections', 'verify')) as {
        differences: unknown[];
        parked: unknown[];
        rows: number;
      };
      const ledger = (await tool('ledger', 'check')) as { sums: { sum: number }[] };
      const figures = {
        charges: acknowledged.length,
        faults: Object.fromEntries(
          [...Map.groupBy(faults, ({ kind }) => kind)].map(([kind, its]) => [kind, its.length]),
        ),
        repeats: apis.repeats,
        refusals: apis.refusals,
        paidLate: till.late,
        webhooks: inbox.events,
        duplicateDeliveries: inbox.duplicates,
        longestTakeoversMs: longestTakeovers(faults),
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
        wallets,
        differences,
        parked,
        ledger: ledger.sums.filter(({ sum }) => sum !== 0),
        unasked: deployment.unasked,
        slow: faults.filter(isSlow),
        rises: flatness.rises,
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
        parked: [],
        ledger: [],
        unasked: [],
        slow: [],
        rises: [],
      });
      expect(acknowledged.length).to.be.greaterThan(0);
      if (MINUTES >= JUDGED_MINUTES_MIN) expect(flatness.judged).to.have.members(['api', 'projector', 'worker']);
      expect(await deployment.stop()).to.deep.equal(TARGETS.map(() => ({ code: 0, signal: null })));
    } finally {
      await sampler?.close();
      await deployment?.kill9();
      await inbox.close();
      await eventStore.stop();
      await postgres.stop();
      await removeDataDir(dataDir);
      await releases.remove();
    }
  });
});
