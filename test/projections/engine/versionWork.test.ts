// Read models of another version are rebuilt beside the live ones, which stay current, also while two versions of the program run
// (architecture §6).
import { expect } from 'chai';
import type { LogConsumer } from '../../../application/ports/consumers.ts';
import type { OpenLeaderSession } from '../../../application/ports/sql.ts';
import { connectionConfig, PgPool } from '../../../infrastructure/postgres/session.ts';
import { refusingOtherVersions } from '../../../infrastructure/subscriptions/otherVersions.ts';
import { LogProgress } from '../../../infrastructure/subscriptions/progress.ts';
import { divideOnce } from '../../../projections/engine/dividing.ts';
import { liveSchema, type Projection } from '../../../projections/engine/projection.ts';
import { prepareLiveCopies } from '../../../projections/engine/rebuild.ts';
import { verify } from '../../../projections/engine/verify.ts';
import { startVersionWork } from '../../../projections/engine/versionWork.ts';
import { paymentsProjection } from '../../../projections/payments/projection.ts';
import { walletProjection } from '../../../projections/wallet/projection.ts';
import { Followed, Gate, interceptingCommits, Scene } from './scene.ts';

/** The next version of payments, with one more column. */
const NEXT_PAYMENTS: Projection = {
  ...paymentsProjection,
  version: paymentsProjection.version + 1,
  ddl: (schema) => `${paymentsProjection.ddl(schema)}; ALTER TABLE ${schema}.payments ADD COLUMN gift text`,
};
const OLD: readonly Projection[] = [paymentsProjection, walletProjection];
const NEW: readonly Projection[] = [NEXT_PAYMENTS, walletProjection];
const YIELD_MS = 400;

const asConsumer = (projection: Projection): LogConsumer => {
  const writer = projection.writer(liveSchema(projection.name));
  const { name, categories, isByAccount } = projection;
  return {
    ...{ name, categories, reset: async () => writer.reset(), apply: writer.apply.bind(writer) },
    ...(isByAccount && { ofPartition: () => asConsumer(projection) }),
  };
};

/** A projector process of one version of the program. */
class Program {
  readonly followed: Followed;
  readonly done: Promise<readonly string[]>;
  readonly gaveUp: Promise<readonly string[]>;
  readonly errors: string[] = [];
  readonly others: string[] = [];
  readonly #stopWork: () => Promise<void>;

  constructor(
    scene: Scene,
    db: PgPool,
    projections: readonly Projection[],
    openSession: OpenLeaderSession = scene.openSession,
  ) {
    this.followed = new Followed(scene, {
      consumers: projections.map(asConsumer),
      versionOf: ({ name }) => projections.find((projection) => projection.name === name)?.version ?? 0,
      prepare: prepareLiveCopies(projections, scene),
      onOtherVersions: (others) => this.others.push(...others.map(({ name, condition }) => `${name} ${condition}`)),
      yieldMs: YIELD_MS,
    });
    const done = Promise.withResolvers<readonly string[]>();
    const gaveUp = Promise.withResolvers<readonly string[]>();
    this.done = done.promise;
    this.gaveUp = gaveUp.promise;
    this.#stopWork = startVersionWork({
      projections,
      log: scene,
      openSession,
      db,
      isOrphaned: (name) => this.followed.subscriptions.isOrphaned(name),
      isBehind: () => false,
      onProgress: (names, { state }) => {
        if (state === 'done') done.resolve(names);
        if (state === 'given up') gaveUp.resolve(names);
      },
      onError: (error) => this.errors.push(error.message),
    });
  }

  async stop(): Promise<void> {
    await this.#stopWork();
    await this.followed.stop();
  }
}

describe('read models of another version', () => {
  let scene: Scene;
  let db: PgPool;
  let programs: Program[];
  beforeEach(async () => {
    scene = await Scene.open();
    db = new PgPool(connectionConfig(scene.log.connectionString, 'test'), 2, () => undefined);
    programs = [];
  });
  afterEach(async () => {
    for (const program of programs) await program.stop();
    await db.close();
    await scene.close();
  });
  const start = (projections: readonly Projection[], openSession?: OpenLeaderSession): Program => {
    const program = new Program(scene, db, projections, openSession);
    programs.push(program);
    return program;
  };
  const end = async (program: Program) => {
    programs.splice(programs.indexOf(program), 1);
    await program.stop();
  };
  /** Resolves when the checkpoint reaches the head of the log. */
  const reached = (name: string) =>
    scene.backends.until(async () => (await scene.checkpoint(name)) === (await scene.positions()).at(-1));
  const versions = async () =>
    (
      await scene.log.sql.query<{ version: string }>(
        "SELECT name || ' ' || version AS version FROM subscriptions.checkpoints ORDER BY name",
      )
    ).rows.map(({ version }) => version);
  const count = async () =>
    (await scene.log.sql.query<{ n: number }>('SELECT count(*)::int AS n FROM rm_payments.payments')).rows[0]?.n;
  const OLD_VERSIONS = [`payments ${paymentsProjection.version}`, `wallet ${walletProjection.version}`];
  const NEW_VERSIONS = [`payments ${NEXT_PAYMENTS.version}`, `wallet ${walletProjection.version}`];
  const first = async (count = 4) => {
    await scene.appendPayments(count);
    const old = start(OLD);
    await old.followed.caughtUp();
    return old;
  };

  it('are rebuilt while the live ones follow the log, and are then swapped in', async () => {
    await end(await first());
    const gate = new Gate();
    let commits = 0;
    const program = start(
      NEW,
      interceptingCommits(scene.openSession, () => (++commits > 1 ? gate.pass() : undefined)),
    );
    await gate.reached;
    for (let n = 0; n < 3; n++) {
      await scene.appendPayments(1);
      const before = performance.now();
      await reached('wallet');
      expect(performance.now() - before, 'lag of a live one').to.be.below(1_000);
    }
    expect([await count(), await versions()], 'the live copy').to.deep.equal([
      4,
      [OLD_VERSIONS[0], `payments/next ${NEXT_PAYMENTS.version}`, OLD_VERSIONS[1]],
    ]);
    expect(program.others).to.deep.equal(['payments outdated']);
    const verified = verify(NEW, scene, scene.openSession).catch(({ message }: Error) => message);
    expect(await verified).to.equal('payments is rebuilt in another version: verify when that has ended');
    gate.open();
    expect(await program.done).to.deep.equal(['payments']);
    await scene.appendPayments(1);
    await program.followed.caughtUp();
    expect([await count(), await versions(), program.errors]).to.deep.equal([8, NEW_VERSIONS, []]);
    expect((await scene.log.sql.query('SELECT gift FROM rm_payments.payments')).rowCount).to.equal(8);
  });

  it('are rebuilt beside an older process, which then leads only the read models of its own version', async () => {
    const old = await first();
    const program = start(NEW);
    expect(await program.done).to.deep.equal(['payments']);
    await scene.appendPayments(1);
    await scene.backends.until(async () => program.followed.subscriptions.led.join() === 'payments');
    await scene.backends.until(async () => old.followed.subscriptions.led.join() === 'wallet');
    await scene.appendPayments(1);
    await Promise.all([reached('payments'), reached('wallet')]);
    expect([await count(), await versions()]).to.deep.equal([6, NEW_VERSIONS]);
    expect([old.others, program.others, old.followed.faults]).to.deep.equal([
      ['payments newer'],
      ['payments outdated'],
      [],
    ]);
    // Both run longer than it takes to treat a version as rolled back. The older process still leaves the newer read model alone.
    expect(old.followed.subscriptions.isOrphaned('payments')).to.equal(false);
  });

  it('keep their partitions when rebuilt, and are left alone by older processes', async () => {
    const old = await first();
    expect(await divideOnce(db, 'payments', 2)).to.equal('divided');
    const program = start(NEW);
    expect(await program.done).to.deep.equal(['payments']);
    await scene.appendPayments(1);
    const partitions = ['payments#0/2', 'payments#1/2'];
    await scene.backends.until(async () => program.followed.subscriptions.led.toSorted().join() === partitions.join());
    await scene.backends.until(async () => old.followed.subscriptions.led.join() === 'wallet');
    let payments = 5;
    for (const end = performance.now() + 2 * YIELD_MS; performance.now() < end; payments++) {
      await scene.appendPayments(1);
      await Promise.all(['wallet', ...partitions].map(reached));
    }
    expect(old.followed.subscriptions.isOrphaned('payments')).to.equal(false);
    const { differences } = await verify(NEW, scene, scene.openSession);
    expect([await count(), differences, program.errors, old.errors]).to.deep.equal([payments, [], [], []]);
  });

  it('are created once by two processes that start on an empty database, and then shared', async () => {
    const both = [start(OLD), start(OLD)] as const;
    await scene.appendPayments(2);
    await scene.backends.until(async () => both.every(({ followed }) => followed.subscriptions.led.length === 1));
    await scene.appendPayments(1);
    await Promise.all([reached('payments'), reached('wallet')]);
    expect([await count(), await versions()]).to.deep.equal([3, OLD_VERSIONS]);
    expect(both.flatMap(({ followed, errors }) => [...followed.restarts, ...followed.faults, ...errors])).to.deep.equal(
      [],
    );
  });

  it('are rebuilt by an older process when no process of the newer version leads any more', async () => {
    await end(await first());
    const newer = start(NEW);
    await newer.followed.caughtUp();
    await end(newer);
    const older = start(OLD);
    expect(await older.done).to.deep.equal(['payments']);
    await scene.appendPayments(1);
    await older.followed.caughtUp();
    expect([await count(), await versions(), older.others]).to.deep.equal([5, OLD_VERSIONS, ['payments newer']]);
  });

  it('stay in the newer version if its process returns while an older one rebuilds them', async () => {
    await scene.appendPayments(4);
    const newer = start(NEW);
    await newer.followed.caughtUp();
    await end(newer);
    const gate = new Gate();
    const older = start(
      OLD,
      interceptingCommits(scene.openSession, () => gate.pass()),
    );
    await gate.reached;
    const returned = start(NEW);
    await scene.backends.until(async () => returned.followed.subscriptions.led.includes('payments'));
    await scene.backends.until(async () => !older.followed.subscriptions.isOrphaned('payments'));
    gate.open();
    expect(await Promise.race([older.gaveUp, older.done.then(() => 'done')])).to.deep.equal(['payments']);
    const copy = await scene.log.sql.query("SELECT to_regnamespace('rm_payments_next') AS schema");
    expect([await versions(), copy.rows, older.errors]).to.deep.equal([NEW_VERSIONS, [{ schema: null }], []]);
    await scene.appendPayments(1);
    await reached('payments');
    expect([await count(), returned.errors]).to.deep.equal([5, []]);
  });

  it('are rebuilt undivided by an older process that knows no partitions, once the newer one is gone', async () => {
    const newer = await first();
    expect(await divideOnce(db, 'payments', 2)).to.equal('divided');
    await end(newer);
    const { isByAccount: _, ...undivided } = paymentsProjection;
    const older = start([undivided, walletProjection]);
    expect(await older.done).to.deep.equal(['payments']);
    await scene.appendPayments(1);
    await older.followed.caughtUp();
    expect([await count(), await versions(), older.errors]).to.deep.equal([5, OLD_VERSIONS, []]);
  });

  it('are rebuilt although another one fails in its new version', async () => {
    await end(await first());
    const broken: Projection = {
      ...walletProjection,
      version: walletProjection.version + 1,
      writer: () => ({
        reset: () => undefined,
        apply: async (_, tx) => void (await tx.query('SELECT missing FROM nowhere')),
      }),
    };
    const program = start([broken, NEXT_PAYMENTS]);
    const next = `wallet/next ${broken.version}`;
    await scene.backends.until(async () => program.errors.length > 1);
    expect([await count(), await versions()]).to.deep.equal([4, [NEW_VERSIONS[0], OLD_VERSIONS[1], next]]);
    expect(new Set(program.errors)).to.deep.equal(new Set(['wallet: database error 42P01']));
  });

  it('are resumed where a killed process left them', async () => {
    await end(await first(400));
    let commits = 0;
    const died = new Error('killed');
    const dying = start(
      NEW,
      interceptingCommits(scene.openSession, () => {
        if (++commits > 2) throw died;
      }),
    );
    await scene.backends.until(async () => commits > 2);
    await end(dying);
    const kept = await scene.checkpoint('payments/next');
    expect(kept).to.be.a('string');
    expect(kept).to.not.equal((await scene.positions()).at(-1));
    const program = start(NEW);
    await program.followed.caughtUp();
    expect([await count(), await versions()]).to.deep.equal([400, NEW_VERSIONS]);
  });

  it('are reported as unreadable to processes of another version', async () => {
    await end(await first());
    const { notices, close } = await scene.listen();
    const api = new LogProgress(
      () => performance.now(),
      ['payments'],
      new Map([['payments', paymentsProjection.version]]),
    );
    await api.follow(scene.store, notices, 'projector');
    api.moved(['payments'], (await scene.positions()).at(-1) as never);
    expect(await api.caughtUp(0)).to.equal(true);
    const program = start(NEW);
    await program.done;
    // The swap may arrive before its notice.
    const reads = refusingOtherVersions(db, api);
    const refused = await reads
      .query('SELECT gone FROM rm_payments.payments')
      .catch(({ name, message }: Error) => [name, message]);
    expect(refused).to.deep.equal(['ReadModelsBehind', 'payments have another version']);
    const divided = await reads.query('SELECT 1/0').catch(({ message }: Error) => message);
    expect(divided, 'another mistake').to.equal('division by zero');
    await scene.backends.until(async () => api.isOtherVersion('payments'));
    expect(await api.caughtUp(60_000)).to.equal(false);
    await close();
  });
});
