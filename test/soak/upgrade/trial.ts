// Upgrades a deployment under load and rolls it back: old alone, old and new, new alone, old and new, old alone. Each release has an API,
// a worker and a projector. The APIs, the log and the tools show what must hold at the end.
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import pg from 'pg';
import { openPostgresEventStore } from '../../../infrastructure/eventStore/postgres/store.ts';
import { cli, freePort, newDataDir, Program, type RoleName, removeDataDir } from '../../world/program.ts';
import { Inbox } from '../deployment/inbox.ts';
import { Apis, type Merchant, openMerchants, sellDuring, Till } from '../deployment/merchants.ts';
import { startOwnPostgres } from '../deployment/ownPostgres.ts';
import { askApis, flushDeliveries, readLog, wrongWallets } from '../deployment/reconcile.ts';
import { makeReleases, type Releases } from './releases.ts';

type Release = 'older' | 'newer';
type Role = Exclude<RoleName, 'start'>;

export interface TrialOptions {
  /** How long the deployment sells in each state. */
  readonly phaseMs: number;
  readonly merchants: number;
  readonly selling: Parameters<typeof sellDuring>[2];
  /**
   * The order in which roles are rolled back. If workers come first, jobs of the newer release are left. The older workers put them back
   * until the watchdog finds the work again, within two minutes.
   */
  readonly rollback: readonly Role[];
  readonly say: (line: string) => void;
}

export interface TrialReport {
  readonly charges: number;
  /** Number of `ChargeCreated` events by version. */
  readonly created: Readonly<Record<string, number>>;
  /** Failed requests by status and route. */
  readonly refusals: Readonly<Record<string, number>>;
  readonly jobsPutBack: number;
  readonly verifiedRows: number;
}

const UPGRADE: readonly Role[] = ['projector', 'worker', 'api'];
const QUIET_MS = 300_000;
const READY_MS = 60_000;
const REBUILT_MS = 120_000;

/** Requests that read the changed read model. No other requests may fail (docs/upgrading.md). */
const MAY_BE_REFUSED = ['503 POST /v1/sandbox/charges/{id}/pay', '503 GET /v1/charges'];

const LOOK_MS = 100;

const until = async (what: string, timeoutMs: number, isSo: () => Promise<boolean>): Promise<void> => {
  for (const beganAtMs = performance.now(); !(await isSo()); await pause(LOOK_MS))
    if (performance.now() - beganAtMs > timeoutMs) throw new Error(`not within ${timeoutMs} ms: ${what}`);
};

/** The processes of both releases. */
class Fleet {
  readonly #releases: Releases;
  readonly #dataDir: string;
  readonly #env: Readonly<Record<string, string>>;
  readonly #running = new Map<string, Program>();
  readonly apis = new Apis([]);
  jobsPutBack = 0;

  constructor(releases: Releases, dataDir: string, env: Readonly<Record<string, string>>) {
    this.#releases = releases;
    this.#dataDir = dataDir;
    this.#env = env;
    // The processes have groups of their own, so they would survive.
    process.once('exit', () => {
      for (const program of this.#running.values())
        if (program.process.exitCode === null && program.process.signalCode === null) program.signalGroup('SIGKILL');
    });
  }

  async start(release: Release, role: Role): Promise<void> {
    const options = { dataDir: this.#dataDir, env: this.#env, root: this.#releases[release] };
    const program = new Program({ ...options, port: await freePort(), role });
    this.#running.set(`${release} ${role}`, program);
    await program.ready();
    if (role === 'api') {
      // As a load balancer does.
      const isReady = () => fetch(`${program.baseUrl}/health/ready`).then(({ status }) => status === 200);
      await until(`the ${release} API is ready`, READY_MS, isReady);
      this.apis.add(program.baseUrl);
    }
  }

  /** Stops the process with SIGTERM, an API after its requests have ended. */
  async stop(release: Release, role: Role): Promise<void> {
    const name = `${release} ${role}`;
    const program = this.#running.get(name) as Program;
    if (role === 'api') await this.apis.remove(program.baseUrl);
    if (role === 'worker') this.jobsPutBack += await this.#metric(program, 'quita_jobs_put_back');
    expect(await program.stop(), `${name}: ${program.output.slice(-2_000)}`).to.deep.equal({ code: 0, signal: null });
    this.#running.delete(name);
  }

  async kill9(): Promise<void> {
    await Promise.all([...this.#running.values()].map((program) => program.kill9()));
  }

  tool(release: Release, ...words: readonly string[]): Promise<unknown> {
    return cli(this.#dataDir, words, this.#env, undefined, this.#releases[release]);
  }

  async #metric({ baseUrl }: Program, name: string): Promise<number> {
    const text = await (await fetch(`${baseUrl}/metrics`)).text();
    const found = [...text.matchAll(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\d+)$`, 'gm'))];
    return found.reduce((sum, [, count]) => sum + Number(count), 0);
  }
}

/** Returns the version of the live copy of the changed read model. */
const liveVersion = async (db: pg.Client): Promise<number> => {
  const text = `SELECT version FROM subscriptions.checkpoints WHERE name = 'payments'`;
  return (await db.query<{ version: number }>(text)).rows[0]?.version ?? 0;
};

const createdByVersion = async (connectionString: string): Promise<Record<string, number>> => {
  const store = await openPostgresEventStore({ connectionString });
  const counts: Record<string, number> = {};
  const over = new AbortController();
  for await (const signal of store.subscribe({ after: null, categories: ['payment'], signal: over.signal })) {
    if (signal.kind === 'caughtUp') break;
    if (signal.kind !== 'events') continue;
    for (const { type, metadata } of signal.events)
      if (type === 'ChargeCreated') {
        const { v = 1 } = JSON.parse(metadata) as { v?: number };
        counts[v] = (counts[v] ?? 0) + 1;
      }
  }
  over.abort();
  await store.close();
  return counts;
};

/** Upgrades and rolls back while merchants sell. */
const upgradeAndRollBack = async (fleet: Fleet, db: pg.Client, options: TrialOptions): Promise<void> => {
  const { phaseMs, rollback, say } = options;
  const sellOn = async (what: string): Promise<void> => {
    say(what);
    await pause(phaseMs);
  };
  const change = async (role: Role, from: Release, to: Release): Promise<void> => {
    await fleet.start(to, role);
    say(`${role}: ${from} and ${to}`);
    if (role === 'projector') {
      const before = await liveVersion(db);
      const isRebuilt = async () => (await liveVersion(db)) !== before;
      const rebuilt = () => until('the read model is rebuilt', REBUILT_MS, isRebuilt);
      // While a newer projector lives, an older one leaves the newer read model alone.
      if (to === 'newer') await rebuilt();
      await fleet.stop(from, role);
      if (to === 'older') await rebuilt();
      return say(`read model of the ${to} release is live`);
    }
    await pause(phaseMs / 2);
    await fleet.stop(from, role);
  };
  await sellOn('older alone');
  for (const role of UPGRADE) await change(role, 'older', 'newer');
  await sellOn('newer alone');
  for (const role of rollback) await change(role, 'newer', 'older');
  await sellOn('older alone again');
};

const check = async (
  fleet: Fleet,
  {
    till,
    inbox,
    merchants,
    connectionString,
  }: {
    readonly till: Till;
    readonly inbox: Inbox;
    readonly merchants: readonly Merchant[];
    readonly connectionString: string;
  },
): Promise<Omit<TrialReport, 'jobsPutBack'>> => {
  const { apis } = fleet;
  const { acknowledged } = till;
  const expected = acknowledged.flatMap(({ id }) => [`charge.created ${id}`, `charge.paid ${id}`]);
  await inbox.until(expected, QUIET_MS);
  const pendingDeliveries = await flushDeliveries(apis, merchants);
  const { otherReplays, unpaid } = await askApis(apis, acknowledged);
  const store = await openPostgresEventStore({ connectionString });
  const { oddStreams } = await readLog(store, acknowledged);
  await store.close();
  const wallets = await wrongWallets(apis, merchants, acknowledged);
  const verified = (await fleet.tool('older', 'projections', 'verify')) as {
    readonly differences: readonly unknown[];
    readonly parked: readonly unknown[];
    readonly rows: number;
  };
  const ledger = (await fleet.tool('older', 'ledger', 'check')) as { sums: { sum: number }[] };
  const refused = Object.keys(apis.refusals).filter((why) => !MAY_BE_REFUSED.includes(why));
  expect({
    wrong: [...till.wrong, ...inbox.wrong],
    refused,
    otherReplays,
    unpaid,
    notOnce: inbox.notOnce(expected),
    unexpected: inbox.unexpected(new Set(expected)),
    pendingDeliveries,
    oddStreams,
    wallets,
    differences: verified.differences,
    parked: verified.parked,
    ledger: ledger.sums.filter(({ sum }) => sum !== 0),
  }).to.deep.equal({
    wrong: [],
    refused: [],
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
  });
  const created = await createdByVersion(connectionString);
  const { refusals } = apis;
  return {
    charges: acknowledged.length,
    created,
    refusals,
    verifiedRows: verified.rows,
  };
};

/** Runs the trial. Throws an assertion error that lists everything that is wrong at the end. */
export const upgradeTrial = async (options: TrialOptions): Promise<TrialReport> => {
  const [releases, postgres, dataDir, inbox] = [
    await makeReleases(),
    await startOwnPostgres(),
    await newDataDir(),
    await Inbox.open(),
  ];
  const { connectionString } = postgres;
  const env = {
    DATABASE_URL: connectionString,
    SECRETS_KEY: randomBytes(32).toString('base64'),
    WEBHOOK_ALLOW_PRIVATE: 'true',
  };
  const fleet = new Fleet(releases, dataDir, env);
  const db = new pg.Client({ connectionString });
  try {
    await db.connect();
    for (const role of UPGRADE) await fleet.start('older', role);
    const merchants = await openMerchants(options.merchants, fleet.apis, inbox, { dataDir, env });
    const till = new Till(fleet.apis);
    await sellDuring(till, merchants, options.selling, () => upgradeAndRollBack(fleet, db, options));
    options.say(`${till.acknowledged.length} charges; reconciling`);
    const report = await check(fleet, { till, inbox, merchants, connectionString });
    for (const role of ['api', 'worker', 'projector'] as const) await fleet.stop('older', role);
    return { ...report, jobsPutBack: fleet.jobsPutBack };
  } finally {
    await fleet.kill9();
    await db.end();
    await inbox.close();
    await postgres.stop();
    await removeDataDir(dataDir);
    await releases.remove();
  }
};
