// A rebuild makes a new copy beside the live one, which stays readable and current, and swaps them without a gap (architecture §6).
import { expect } from 'chai';
import type { EventCodec, EventLog } from '../../../application/ports/eventCodec.ts';
import { connectionConfig, PgPool } from '../../../infrastructure/postgres/session.ts';
import { liveSchema, type Projection } from '../../../projections/engine/projection.ts';
import { prepareLiveCopies, RebuildRunning, rebuild } from '../../../projections/engine/rebuild.ts';
import { ensureLive } from '../../../projections/engine/schemaVersions.ts';
import { paymentsProjection } from '../../../projections/payments/projection.ts';
import { walletProjection } from '../../../projections/wallet/projection.ts';
import { Followed, Gate, interceptingCommits, Scene } from './scene.ts';

const PROJECTIONS = [paymentsProjection, walletProjection];
const asConsumer = (projection: Projection) => {
  const writer = projection.writer(liveSchema(projection.name));
  const { name, categories } = projection;
  return { name, categories, reset: async () => writer.reset(), apply: writer.apply.bind(writer) };
};

describe('rebuilding a read model', () => {
  let scene: Scene;
  let followed: Followed | null = null;
  beforeEach(async () => {
    scene = await Scene.open();
    followed = null;
  });
  afterEach(async () => {
    await followed?.stop();
    await scene.close();
  });
  const followLive = (projections: readonly Projection[] = PROJECTIONS) => {
    followed = new Followed(scene, {
      consumers: projections.map(asConsumer),
      versionOf: ({ name }) => projections.find((projection) => projection.name === name)?.version ?? 0,
      prepare: prepareLiveCopies(projections, scene),
    });
    return followed;
  };
  const createLive = async (projection: Projection) => {
    const session = await scene.openSession('test');
    await session.transaction((tx) => ensureLive(tx, projection, scene.store.storeId));
    await session.close();
  };
  /** Returns all rows of the live read models as text. */
  const rows = async () => {
    const all: Record<string, string[]> = {};
    for (const { name, tables } of PROJECTIONS)
      for (const table of tables) {
        const text = `SELECT t::text AS row FROM ${liveSchema(name)}.${table.name} t ORDER BY ${table.key}`;
        all[`${name}.${table.name}`] = (await scene.log.sql.query<{ row: string }>(text)).rows.map(({ row }) => row);
      }
    return all;
  };
  const schemas = async () => {
    const text = "SELECT nspname FROM pg_namespace WHERE nspname LIKE 'rm\\_%' ORDER BY 1";
    return (await scene.log.sql.query<{ nspname: string }>(text)).rows.map(({ nspname }) => nspname);
  };
  const checkpoints = async () =>
    (await scene.log.sql.query('SELECT name, version, position FROM subscriptions.checkpoints ORDER BY name')).rows;

  it('produces the same rows and leaves no schema or checkpoint beside the live copy', async () => {
    await scene.appendPayments(30);
    await followLive().caughtUp();
    const [before, marks] = [await rows(), await checkpoints()];
    for (const projection of PROJECTIONS) {
      const [report] = await rebuild([projection], scene, scene.openSession);
      const events = projection === walletProjection ? 30 : 90;
      expect({ ...report, seconds: 0 }).to.deep.equal({ projection: projection.name, events, seconds: 0 });
    }
    expect(await rows()).to.deep.equal(before);
    expect(await checkpoints()).to.deep.equal(marks);
    expect(await schemas()).to.deep.equal(['rm_payments', 'rm_wallet']);
    await scene.appendPayments(1);
    await followed?.caughtUp();
    expect((await rows())['payments.payments']).to.have.length(31);
  });

  it('repairs rows that were changed, added or deleted', async () => {
    await scene.appendPayments(3);
    await followLive().caughtUp();
    const before = await rows();
    await scene.log.sql.query(
      "UPDATE rm_wallet.balances SET amount = amount + 1; DELETE FROM rm_payments.payments; INSERT INTO rm_wallet.held_tranches VALUES ('x', 'x', 'test', 'BRL', 1, now())",
    );
    await rebuild(PROJECTIONS, scene, scene.openSession);
    expect(await rows()).to.deep.equal(before);
  });

  it('works on an empty log', async () => {
    await createLive(paymentsProjection);
    const [report] = await rebuild([paymentsProjection], scene, scene.openSession);
    expect(report?.events).to.equal(0);
    expect(await checkpoints()).to.deep.equal([
      { name: 'payments', version: paymentsProjection.version, position: null },
    ]);
  });

  it('succeeds repeatedly while events arrive, and readers see neither a gap nor older data', async () => {
    await scene.appendPayments(20);
    const live = followLive();
    await live.caughtUp();
    let isOver = false;
    const writing = (async () => {
      while (!isOver) {
        await scene.appendPayments(5);
        await live.caughtUp(); // Appends as fast as the consumers read. Otherwise each rebuild has more to do than the one before.
      }
    })();
    const pool = new PgPool(connectionConfig(scene.log.connectionString, 'reader'), 2, () => undefined);
    const seen: number[] = [];
    const reading = (async () => {
      while (!isOver) {
        const { rows: found } = await pool.query<{ n: number }>({
          name: 'count_payments',
          text: 'SELECT count(*) AS n FROM rm_payments.payments',
        });
        seen.push(found[0]?.n ?? -1);
      }
    })();
    try {
      for (let round = 0; round < 3; round++) await rebuild(PROJECTIONS, scene, scene.openSession);
    } finally {
      isOver = true;
      await Promise.all([writing, reading]);
      await pool.close();
    }
    await live.caughtUp();
    expect(live.faults).to.deep.equal([]);
    expect(seen).to.deep.equal(seen.toSorted((a, b) => a - b));
    const total = (await scene.positions('payment')).length / 3;
    expect(seen.at(-1)).to.be.at.most(total);
    const after = await rows();
    expect(after['payments.payments']).to.have.length(total);
    await live.stop();
    await rebuild(PROJECTIONS, scene, scene.openSession);
    expect(await rows()).to.deep.equal(after);
  });

  it('waits for a long transaction that reads the live copy, without blocking other readers', async () => {
    await scene.appendPayments(2);
    await followLive().caughtUp();
    const reader = await scene.openSession('test');
    await reader.query('BEGIN');
    await reader.query('SELECT FROM rm_payments.payments');
    let isDone = false;
    const rebuilding = rebuild([paymentsProjection], scene, scene.openSession).then(() => {
      isDone = true;
    });
    await scene.backends.until(
      async () =>
        (
          await scene.backends.sql.query(
            "SELECT FROM pg_locks WHERE NOT granted AND relation = 'rm_payments.payments'::regclass",
          )
        ).rowCount,
    );
    const started = performance.now();
    expect((await scene.backends.sql.query('SELECT count(*) FROM rm_payments.payments')).rows).to.deep.equal([
      { count: '2' },
    ]);
    // Queued behind the rebuild’s lock request, the query would wait for the long transaction.
    expect(performance.now() - started).to.be.lessThan(5_000);
    expect(isDone).to.equal(false);
    await reader.query('COMMIT');
    await reader.close();
    await rebuilding;
  });

  it('decodes a batch while the previous one is written', async () => {
    await scene.appendPayments(3);
    const second = new Gate();
    let [decoded, commits] = [0, 0];
    const codec: EventCodec = {
      encode: (events) => scene.codec.encode(events),
      decode: (recorded) => {
        if (++decoded === 2) second.open();
        return scene.codec.decode(recorded);
      },
    };
    // The first commit creates the empty copy.
    const waiting = interceptingCommits(scene.openSession, async () => {
      if (++commits === 2) await second.pass();
    });
    const [report] = await rebuild([paymentsProjection], { store: scene.store, codec }, waiting, { batchSize: 3 });
    expect([report?.events, decoded]).to.deep.equal([9, 3]);
  });

  /** Rebuilds in batches of three events. The first batch is committed only after the next one has failed. */
  const failingBehindTheFirst = async (failing: (fail: () => never) => EventLog): Promise<string | undefined> => {
    await scene.appendPayments(2);
    const written = new Gate();
    let commits = 0;
    const slow = interceptingCommits(scene.openSession, async () => {
      if (++commits === 2) await written.pass();
    });
    const log = failing(() => {
      setImmediate(() => written.open());
      throw new Error('lost');
    });
    return await rebuild([paymentsProjection], log, slow, { batchSize: 3 }).then(
      () => undefined,
      ({ message }: Error) => message,
    );
  };

  it('keeps the batch before one that can’t be decoded, then rejects', async () => {
    const { store, codec } = scene;
    let decoded = 0;
    const failed = await failingBehindTheFirst((fail) => ({
      store,
      codec: {
        encode: (events) => codec.encode(events),
        decode: async (recorded) => (++decoded === 1 ? codec.decode(recorded) : fail()),
      },
    }));
    expect(failed).to.equal('lost');
    expect(await scene.checkpoint('payments/next')).to.equal('0000000000000000003');
  });

  it('keeps the batch before a failing subscription, then rejects', async () => {
    const { store, codec } = scene;
    const failed = await failingBehindTheFirst((fail) => ({
      store: {
        ...store,
        async *subscribe(options) {
          for await (const batch of store.subscribe(options)) {
            yield batch;
            fail();
          }
        },
      },
      codec,
    }));
    expect(failed).to.equal('lost');
    expect(await scene.checkpoint('payments/next')).to.equal('0000000000000000003');
  });

  it('resumes after an abort signal and after a lost connection', async () => {
    // More events than two replay transactions of 4,000: the first is committed when the signal stops the replay.
    await scene.appendPayment();
    await scene.log.sql.query(
      `INSERT INTO event_store.events (position, revision, recorded_at, id, stream, type, data, metadata)
       SELECT n + 3, 0, now(), gen_random_uuid(), 'payment-' || lpad(n::text, 26, '0'), e.type,
         jsonb_set(e.data::jsonb, '{sealed}', '""')::text, e.metadata -- no other stream's text can be opened
       FROM generate_series(1, 9000) n, event_store.events e WHERE e.position = 1`,
    );
    const log = { store: await scene.log.connect(), codec: scene.codec };
    await createLive(paymentsProjection);
    const stopAfterFirst = new AbortController();
    let commits = 0;
    const stopping = interceptingCommits(scene.openSession, () => {
      if (++commits === 2) stopAfterFirst.abort();
    });
    const stopped = await rebuild([paymentsProjection], log, stopping, { signal: stopAfterFirst.signal }).catch(
      (error: Error) => error,
    );
    expect((stopped as Error).message).to.equal('the replay was stopped');
    expect(await scene.checkpoint('payments/next')).to.equal('0000000000000004000');
    expect(await schemas()).to.deep.equal(['rm_payments', 'rm_payments_next']);

    commits = 0;
    const dying = interceptingCommits(scene.openSession, async () => {
      if (++commits === 3) await scene.backends.cut('quita rebuild');
    });
    const died = await rebuild([paymentsProjection], log, dying).catch((error: Error) => error);
    expect((died as Error).message).to.match(/terminat|not queryable|ECONNRESET|EPIPE/i);
    expect(await scene.checkpoint('payments/next')).to.equal('0000000000000008000');

    const [report] = await rebuild([paymentsProjection], log, scene.openSession);
    expect(report?.events).to.equal(1_003);
    const { rows } = await scene.log.sql.query(
      'SELECT revision, count(*) FROM rm_payments.payments GROUP BY 1 ORDER BY 1',
    );
    expect(rows).to.deep.equal([
      { revision: 0, count: '9000' },
      { revision: 2, count: '1' },
    ]);
    expect(await schemas()).to.deep.equal(['rm_payments']);
  });

  it('rejects a second rebuild of the same read model, without disturbing the first', async () => {
    await scene.appendPayments(2);
    await createLive(paymentsProjection);
    const gate = new Gate();
    const slow = interceptingCommits(scene.openSession, () => gate.pass());
    const first = rebuild([paymentsProjection], scene, slow);
    await gate.reached;
    const second = await rebuild([paymentsProjection], scene, scene.openSession).catch((error: Error) => error);
    expect(second).to.be.instanceOf(RebuildRunning);
    await createLive(walletProjection);
    expect((await rebuild([walletProjection], scene, scene.openSession))[0]?.events).to.equal(2); // Another read model may be rebuilt.
    gate.open();
    expect((await first)[0]?.events).to.equal(6);
  });
});
