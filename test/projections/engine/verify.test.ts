// `verify` compares the read models with a replay of the whole log: a healthy system has 0 differences, and any change is found
// (architecture §6).
import { expect } from 'chai';
import type { Position } from '../../../application/ports/eventStore.ts';
import type { OpenLeaderSession, Sql } from '../../../application/ports/sql.ts';
import type { PaymentId } from '../../../domain/kernel/ids.ts';
import { PAYMENT } from '../../../domain/payment/aggregate.ts';
import { LeftOut } from '../../../projections/engine/parking.ts';
import { liveSchema } from '../../../projections/engine/projection.ts';
import { prepareLiveCopies, rebuild } from '../../../projections/engine/rebuild.ts';
import { ReplayedCopy } from '../../../projections/engine/replayedCopy.ts';
import type { Difference } from '../../../projections/engine/tableComparison.ts';
import { type VerifyProgress, verify } from '../../../projections/engine/verify.ts';
import { paymentsProjection } from '../../../projections/payments/projection.ts';
import { PROJECTIONS } from '../../../projections/registry.ts';
import { walletProjection } from '../../../projections/wallet/projection.ts';
import { type Backends, watchBackends } from '../../infrastructure/postgres/backends.ts';
import { startedDatabase, TestGateway } from '../../world/gateway.ts';
import type { TestDatabase } from '../../world/postgres.ts';
import { Receiver } from '../../world/receiver.ts';
import { Gate, Scene } from './scene.ts';

const CHARGES = 24;

describe('verify', function suite() {
  let database: TestDatabase;
  let gateway: TestGateway;
  let receiver: Receiver;
  let backends: Backends;

  before(async () => {
    database = await startedDatabase();
    gateway = await TestGateway.open({ database });
    receiver = await Receiver.open((hit, res) => {
      res.statusCode = hit.body['type'] === 'charge.paid' ? 500 : 200;
      res.end();
    });
    backends = await watchBackends(database.connectionString);
    expect(await gateway.gateway.projected.caughtUp(30_000)).to.equal(true); // Waits until the tables of the read models exist.
    await operate();
  });
  after(async () => {
    await backends.close();
    await gateway.close();
    await receiver.close();
    await database.drop();
  });

  // Pending events of earlier tests must not change the rows that a test reads.
  beforeEach(() => gateway.untilProjected());

  /** Opens sessions that call `react` after each statement, before they return its result. */
  const sessionsThat =
    (react: (statement: string) => Promise<void>): OpenLeaderSession =>
    async (role) => {
      const session = await gateway.storage.openSession(role);
      const reacting =
        (sql: Sql): Sql['query'] =>
        async (statement, values) => {
          const result = await sql.query(statement as string, values);
          await react(String(statement));
          return result as never;
        };
      return {
        query: reacting(session),
        transaction: (work) => session.transaction((tx) => work({ ...tx, query: reacting(tx) })),
        tryLead: (name) => session.tryLead(name),
        tryShare: (name) => session.tryShare(name),
        lost: session.lost,
        close: () => session.close(),
      };
    };
  const check = () => verify(PROJECTIONS, gateway.storage, gateway.storage.openSession);
  const rowOf = async (text: string): Promise<string> => {
    const { rows } = await backends.sql.query<{ row: string }>(text);
    expect(rows).to.have.length(1);
    return rows[0]?.row as string;
  };
  /** Returns the differences that verify finds after `damage`, which a rebuild then repairs for the next test. */
  const found = async (damage: string): Promise<readonly Difference[]> => {
    await backends.sql.query(damage);
    const { differences } = await check();
    const damaged = PROJECTIONS.filter(({ name }) => damage.includes(`${liveSchema(name)}.`));
    expect(damaged).to.have.length(1);
    await rebuild(damaged, gateway.storage, gateway.storage.openSession);
    return differences;
  };

  /** Makes charges that are paid, paid with a wrong amount, left open and expired, and webhooks that succeed and fail. */
  const operate = async (): Promise<void> => {
    await gateway.post('/v1/webhooks/endpoints', { url: receiver.url, events: ['*'] });
    await Promise.all(
      Array.from({ length: CHARGES }, async (_, n) => {
        const { body } = await gateway.charge<{ id: string }>({ amount: 1_000 + n });
        const pay = (over: object) => gateway.post(`/v1/sandbox/charges/${body.id}/pay`, over);
        if (n % 4 === 0) await pay({ amount: 1 });
        if (n % 4 <= 1) await pay({});
        if (n % 4 === 2) await Promise.all([pay({}), pay({})]);
      }),
    );
    await gateway.post('/v1/sandbox/clock/advance', { seconds: 7_200 });
    await gateway.post('/v1/sandbox/deliveries/flush');
    expect(gateway.faults).to.deep.equal([]);
  };

  it('reports its progress step by step', async () => {
    const told: VerifyProgress[] = [];
    const { storage } = gateway;
    await gateway.untilStored();
    await verify(PROJECTIONS, storage, storage.openSession, undefined, (progress) => told.push(progress));
    const steps = told.map(({ step }) => step);
    expect(steps).to.deep.equal(steps.toSorted((a, b) => a - b));
    expect(new Set(told.map(({ steps: all }) => all))).to.deep.equal(new Set([3 * PROJECTIONS.length]));
    const replayed = told.filter(({ work, position }) => work === 'replay' && position !== null);
    expect(new Set(replayed.map(({ projection }) => projection))).to.deep.equal(
      new Set(PROJECTIONS.map(({ name }) => name)),
    );
    expect(told.find(({ work, projection }) => work === 'fold' && projection === 'payments')?.count).to.equal(CHARGES);
  });

  it('finds no differences in a healthy system, also when run twice, and leaves no schema behind', async () => {
    const counts = PROJECTIONS.flatMap(({ name, tables }) =>
      tables.map(
        (table) => `(SELECT count(*) FROM ${liveSchema(name)}.${table.name} t WHERE ${table.counts ?? 'true'})`,
      ),
    );
    const { store } = gateway.storage;
    const look = async () => {
      const head = await store.head();
      await gateway.untilStored();
      const { rows } = await backends.sql.query<{ n: string }>(`SELECT ${counts.join(' + ')} AS n`);
      return { head, rows, reports: [await check(), await check()] };
    };
    let { head, rows, reports } = await look();
    // The last deliveries may still append events.
    while ((await store.head()) !== head) ({ head, rows, reports } = await look());
    for (const report of reports)
      expect(report).to.deep.equal({
        position: head,
        rows: Number(rows[0]?.n),
        differences: [],
        differenceCount: 0,
        parked: [],
      });
    expect(Number(rows[0]?.n)).to.be.greaterThan(CHARGES * 3);
    expect((await backends.sql.query("SELECT FROM pg_namespace WHERE nspname LIKE '%verify'")).rowCount).to.equal(0);
  });

  /** Matches the statements that begin a step, or a table within one. */
  const BEGINNINGS = /^CREATE SCHEMA|^DECLARE|WHERE id > \$1 ORDER BY id/;
  for (const [work, statement] of [
    ['replaying', 'CREATE SCHEMA rm_wallet_verify'],
    ['comparing', 'DECLARE verify_rm_wallet_verify_entries'],
    ['folding', 'FROM rm_payments.payments WHERE id >'],
  ] as const)
    it(`stops when aborted while it is ${work}, leaves no schema behind, and can run again`, async () => {
      const stop = new AbortController();
      const begun: string[] = [];
      const openSession = sessionsThat(async (text) => {
        if (!BEGINNINGS.test(text)) return;
        begun.push(text);
        if (text.includes(statement)) stop.abort(new Error('it was cut off'));
      });
      const cutOff = await verify(PROJECTIONS, gateway.storage, openSession, stop.signal).then(
        () => 'it went on',
        (error: Error) => error.message,
      );
      expect(cutOff).to.be.oneOf(['it was cut off', 'the replay was stopped']);
      // It ends within the current step and does not begin the next one.
      expect(begun.at(-1)).to.include(statement);
      expect((await backends.sql.query("SELECT FROM pg_namespace WHERE nspname LIKE '%verify'")).rowCount).to.equal(0);
      expect((await check()).differences).to.deep.equal([]);
    });

  describe('in slices', () => {
    const SLICE_ROWS = 40;
    const SNAPSHOT = 'SET TRANSACTION ISOLATION LEVEL REPEATABLE READ';
    const inSlices = (openSession: OpenLeaderSession) =>
      verify(PROJECTIONS, gateway.storage, openSession, undefined, undefined, SLICE_ROWS);

    it('holds a snapshot for one slice only, and accepts changes between two slices', async () => {
      let slices = 0;
      const openSession = sessionsThat(async (text) => {
        if (!text.startsWith(SNAPSHOT) || ++slices % 4 > 0) return;
        const { body } = await gateway.charge<{ id: string }>();
        await gateway.post(`/v1/sandbox/charges/${body.id}/pay`);
        await gateway.untilProjected();
      });
      const { rows, differences } = await inSlices(openSession);
      expect(differences).to.deep.equal([]);
      expect(rows).to.be.greaterThan(4 * SLICE_ROWS);
      expect(slices)
        .to.be.at.least(Math.floor(rows / SLICE_ROWS))
        .and.at.least(PROJECTIONS.length);
    });

    it('compares each row exactly once', async () => {
      await gateway.untilProjected();
      const both = async () => [await check(), await inSlices(gateway.storage.openSession)] as const;
      let [whole, sliced] = await both();
      // The last deliveries may still append events.
      while (whole.position !== sliced.position) [whole, sliced] = await both();
      expect(sliced).to.deep.equal(whole);
      const values = `SELECT '2026-11-21T13:00:00Z', 0, 'x' || n, NULL, 'a', 'test', 'BRL', '{platform_fees}', '{1}' FROM generate_series(1, 95) n`;
      await backends.sql.query(`INSERT INTO rm_wallet.entries ${values}`);
      const { differenceCount, differences } = await inSlices(gateway.storage.openSession);
      await backends.sql.query("DELETE FROM rm_wallet.entries WHERE account_id = 'a'");
      expect([differenceCount, new Set(differences.map(({ live }) => live)).size]).to.deep.equal([95, 95]);
    });
  });

  it('finds no differences while events arrive', async () => {
    let isOver = false;
    const writing = (async () => {
      while (!isOver) {
        const { body } = await gateway.charge<{ id: string }>();
        await gateway.post(`/v1/sandbox/charges/${body.id}/pay`);
      }
    })();
    try {
      for (let round = 0; round < 2; round++) expect((await check()).differences).to.deep.equal([]);
    } finally {
      isOver = true;
      await writing;
    }
  });

  it('finds no differences while a read model is rebuilt and swapped', async () => {
    const gate = new Gate();
    const checking = verify(
      PROJECTIONS,
      gateway.storage,
      sessionsThat(async (statement) => {
        if (statement.includes('subscriptions.checkpoints')) await gate.pass(); // The snapshot has been taken.
      }),
    );
    await gate.reached;
    let isSwapped = false;
    const rebuilding = rebuild([paymentsProjection], gateway.storage, gateway.storage.openSession).then(() => {
      isSwapped = true;
    });
    const waits = "SELECT FROM pg_locks WHERE NOT granted AND relation = 'rm_payments.payments'::regclass";
    await backends.until(async () => isSwapped || (await backends.sql.query(waits)).rowCount);
    gate.open();
    expect((await checking).differences).to.deep.equal([]);
    await rebuilding;
  });

  it('finds a wrong balance and nothing else', async () => {
    const where = "t.ledger_account = 'merchant_available'";
    const right = await rowOf(`SELECT t::text AS row FROM rm_wallet.balances t WHERE ${where}`);
    const amount = Number(/,(-?\d+)\)$/.exec(right)?.[1]);
    const wrong = right.replace(/-?\d+\)$/, `${amount + 1})`);
    const differences = await found(`UPDATE rm_wallet.balances t SET amount = amount + 1 WHERE ${where}`);
    expect(differences).to.deep.equal([{ table: 'wallet.balances', live: wrong, replayed: right }]);
  });

  it('finds a missing row', async () => {
    const row = await rowOf('SELECT t::text AS row FROM rm_webhook_endpoints.endpoints t');
    expect(await found('DELETE FROM rm_webhook_endpoints.endpoints')).to.deep.equal([
      { table: 'webhookEndpoints.endpoints', live: null, replayed: row },
    ]);
  });

  it('finds an extra row', async () => {
    const values = "('2026-11-21T13:00:00Z', 0, 'x', NULL, 'a', 'test', 'BRL', '{platform_fees}', '{1}')";
    expect(await found(`INSERT INTO rm_wallet.entries VALUES ${values}`)).to.deep.equal([
      {
        table: 'wallet.entries',
        live: '("2026-11-21 13:00:00+00",0,x,,a,test,BRL,{platform_fees},{1})',
        replayed: null,
      },
    ]);
  });

  it('finds a changed column', async () => {
    const id = await rowOf("SELECT id AS row FROM rm_payments.payments WHERE status = 'PAID' ORDER BY id LIMIT 1");
    const select = `SELECT t::text AS row FROM rm_payments.payments t WHERE id = '${id}'`;
    const right = await rowOf(select);
    const [difference, ...others] = await found(
      `UPDATE rm_payments.payments SET status = 'EXPIRED' WHERE id = '${id}'`,
    );
    expect(others).to.deep.equal([]);
    expect(difference).to.deep.equal({
      table: 'payments.payments',
      live: right.replace(/,PAID,/, ',EXPIRED,'),
      replayed: right,
    });
  });

  it('finds a changed delivery in both the replay and the fold of its stream', async () => {
    const [rows] = PROJECTIONS.find(({ name }) => name === 'webhookDeliveries')?.aggregates ?? [];
    // A delivery that has ended. Others may be retried meanwhile.
    const id = await rowOf(
      "SELECT id AS row FROM rm_webhook_deliveries.deliveries WHERE status = 'DELIVERED' ORDER BY id LIMIT 1",
    );
    const state = await rowOf(`SELECT ${rows?.stored} AS row FROM rm_webhook_deliveries.deliveries WHERE id = '${id}'`);
    const differences = await found(`UPDATE rm_webhook_deliveries.deliveries SET attempts = 99 WHERE id = '${id}'`);
    expect(differences.map(({ table }) => table)).to.deep.equal([
      'webhookDeliveries.deliveries',
      `deliveries (fold of webhookDelivery-${id})`,
    ]);
    const changed = JSON.parse(state) as unknown[];
    changed[3] = 99;
    const [, folded] = differences;
    expect(JSON.parse(folded?.live ?? '')).to.deep.equal(changed);
    expect(folded?.replayed).to.equal(state);
  });

  it('finds a changed endpoint in both the replay and the fold of its stream', async () => {
    const id = await rowOf('SELECT id AS row FROM rm_webhook_endpoints.endpoints');
    const state = await rowOf('SELECT state AS row FROM rm_webhook_endpoints.endpoints');
    const differences = await found(
      `UPDATE rm_webhook_endpoints.endpoints SET state = replace(state, '"secretVersion":1', '"secretVersion":2')`,
    );
    expect(differences.map(({ table }) => table)).to.deep.equal([
      'webhookEndpoints.endpoints',
      `endpoints (fold of webhookEndpoint-${id})`,
    ]);
    expect(differences[1]).to.deep.include({
      live: state.replace('"secretVersion":1', '"secretVersion":2'),
      replayed: state,
    });
  });

  it('finds a wrong count of waiting deliveries', async () => {
    const counted = "('a', 'test', '', 'charge.paid', 'insert', 1)";
    await backends.sql.query(`INSERT INTO operations.scheduled_counts VALUES ${counted}`);
    const { differences } = await check();
    await backends.sql.query("DELETE FROM operations.scheduled_counts WHERE account_id = 'a'");
    expect(differences).to.deep.equal([
      { table: 'operations.waiting_counts', live: 'a test  charge.paid 1', replayed: 'a test  charge.paid 0' },
    ]);
  });

  it('counts all differences and lists the first hundred', async () => {
    const values = `SELECT '2026-11-21T13:00:00Z', 0, 'x' || n, NULL, 'a', 'test', 'BRL', '{platform_fees}', '{1}' FROM generate_series(1, 130) n`;
    await backends.sql.query(`INSERT INTO rm_wallet.entries ${values}`);
    const { differences, differenceCount } = await check();
    await backends.sql.query("DELETE FROM rm_wallet.entries WHERE account_id = 'a'");
    expect([differences.length, differenceCount]).to.deep.equal([100, 130]);
    expect(differences.every(({ table, replayed }) => table === 'wallet.entries' && replayed === null)).to.equal(true);
  });

  it('rejects a second run at the same time', async () => {
    const answers = await Promise.allSettled([check(), check()]);
    expect(
      answers
        .map((answer) => (answer.status === 'fulfilled' ? answer.value.differences : (answer.reason as Error).message))
        .toSorted(),
    ).to.deep.equal([[], 'another verify is running']);
  });
});

describe('the replayed copy', () => {
  it('starts over when the live copy resumed a parked stream or went back to an earlier position', async () => {
    const scene = await Scene.open();
    const session = await scene.openSession('test');
    try {
      const ids = [await scene.appendPayment(), await scene.appendPayment()];
      const all = (await scene.positions()) as Position[];
      const copy = new ReplayedCopy(paymentsProjection, session, scene);
      const revisions = async () => {
        const text = 'SELECT id, revision FROM rm_payments_verify.payments';
        const { rows } = await session.query<{ id: string; revision: number }>(text);
        return ids.map((id) => rows.find((row) => row.id === id)?.revision);
      };
      const without = (revision: number): LeftOut => {
        const leftOut = new LeftOut();
        leftOut.park(PAYMENT.stream(ids[0] as PaymentId), revision);
        return leftOut;
      };
      await copy.reach([all[3] as Position], without(1));
      expect(await revisions()).to.deep.equal([0, 0]);
      await copy.reach([all[5] as Position], without(1));
      expect(await revisions(), 'still left out').to.deep.equal([0, 2]);
      await copy.reach([all[5] as Position], without(2));
      expect(await revisions(), 'taken up, and left out again').to.deep.equal([1, 2]);
      await copy.reach([all[5] as Position], new LeftOut());
      expect(await revisions(), 'taken up').to.deep.equal([2, 2]);
      await copy.reach([all[1] as Position], new LeftOut());
      expect(await revisions(), 'gone back').to.deep.equal([1, undefined]);
      await copy.drop();
    } finally {
      await session.close();
      await scene.close();
    }
  });
});

describe('verify with a read model that has taken no events', () => {
  it('reports no common position', async () => {
    const scene = await Scene.open();
    const session = await scene.openSession('test');
    try {
      const projections = [paymentsProjection, walletProjection];
      await scene.appendPayment();
      await prepareLiveCopies(projections, scene)(session);
      await rebuild([paymentsProjection], scene, scene.openSession);
      const report = await verify(projections, scene, scene.openSession);
      expect([report.position, report.differences]).to.deep.equal([null, []]);
      expect((await verify([paymentsProjection], scene, scene.openSession)).position).to.equal(
        await scene.store.head(),
      );
    } finally {
      await session.close();
      await scene.close();
    }
  });
});
