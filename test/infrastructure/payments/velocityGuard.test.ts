// The guard of charges in Postgres: what it counts, compared with an in-memory list, and the cost of a decision (rule E6).
import { expect } from 'chai';
import fc from 'fast-check';
import type { VelocityGuard } from '../../../application/ports/velocityGuard.ts';
import type { AccountId, PaymentId } from '../../../domain/kernel/ids.ts';
import { addMillis, HOUR_MS, MINUTE_MS, type Timestamp } from '../../../domain/kernel/time.ts';
import { velocityGuard } from '../../../infrastructure/payments/velocityGuard.ts';
import type { PgPool } from '../../../infrastructure/postgres/session.ts';
import { buffersOf } from '../../support/buffers.ts';
import { useDatabase } from '../../world/postgres.ts';

const NOON = '2026-11-21T12:00:00.000Z' as Timestamp;

/** The rule, implemented with a list of all places. */
class Places {
  readonly #places: { readonly payment: string; readonly customer: string | null; at: number }[] = [];

  reserve(payment: string, customer: string | null, at: number, [ofCustomer, ofAccount]: readonly [number, number]) {
    const own = this.#places.find((place) => place.payment === payment);
    if (own !== undefined && own.at > at - MINUTE_MS) {
      if (own.customer !== customer) return 'running';
      own.at = at;
      return 'reserved';
    }
    // A later repeat frees the place of the earlier request, which stored nothing.
    this.free([payment]);
    const hour = this.#places.filter((place) => place.at > at - HOUR_MS);
    if (customer !== null && hour.filter((place) => place.customer === customer).length >= ofCustomer)
      return 'customer';
    if (hour.length >= ofAccount) return 'account';
    this.#places.push({ payment, customer, at });
    return 'reserved';
  }

  free(payments: readonly string[]): void {
    for (const payment of payments) {
      const index = this.#places.findIndex((place) => place.payment === payment);
      if (index >= 0) this.#places.splice(index, 1);
    }
  }
}

describe('the guard of charges', () => {
  let db: PgPool;
  let guard: VelocityGuard;
  const ended = new Set<string>();
  let asked: (readonly string[])[] = [];
  useDatabase('suite', 2, (opened) => {
    db = opened;
  });
  before(() => {
    const payments = {
      endedAmong: async (ids: readonly PaymentId[]) => {
        asked.push(ids);
        return { ended: ids.filter((id) => ended.has(id)), unknown: [] };
      },
    };
    guard = velocityGuard({ db, payments });
  });
  beforeEach(async () => {
    await db.query('TRUNCATE operations.velocity_reservations, operations.velocity_totals');
    ended.clear();
    asked = [];
  });

  const ask = (
    payment: string,
    afterMs: number,
    customer: string | null,
    [customerPerHour, accountPerHour]: readonly [number, number],
    accountId = 'a' as AccountId,
  ) =>
    guard.reserve({
      ...{ paymentId: payment as PaymentId, accountId, customer, at: addMillis(NOON, afterMs) },
      ...{ customerPerHour, accountPerHour },
    });

  it('counts like a list of all places (law)', async () => {
    const step = fc.record({
      payment: fc.nat({ max: 12 }),
      customer: fc.constantFrom(null, 'ana', 'bruno'),
      // Many at the same time, and some an hour apart.
      passesMs: fc.constantFrom(0, 0, 1, 60_000, HOUR_MS / 4, HOUR_MS - 1, HOUR_MS, 3 * HOUR_MS),
      limits: fc.tuple(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 5 })),
      ends: fc.option(fc.nat({ max: 12 })),
    });
    let account = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        const places = new Places();
        const accountId = `law-${++account}` as AccountId;
        let now = 0;
        for (const { payment, customer, passesMs, limits, ends } of steps) {
          now += passesMs;
          const id = `${account}-${payment}`;
          expect(await ask(id, now, customer, limits, accountId)).to.equal(places.reserve(id, customer, now, limits));
          if (ends === null) continue;
          const end = `${account}-${ends}`;
          await db.query('SELECT operations.release_velocity($1, $2, $3)', [accountId, [end], '-infinity']);
          places.free([end]);
        }
      }),
      { numRuns: 40 },
    );
  });

  it('counts a repeat for its new customer once the earlier request can’t be running any more', async () => {
    const limits = [1, 3] as const;
    expect(await ask('1', 0, null, limits)).to.equal('reserved');
    expect(await ask('2', 0, 'ana', limits)).to.equal('reserved');
    expect(await ask('1', MINUTE_MS, 'ana', limits)).to.equal('customer');
    expect(await ask('1', MINUTE_MS, 'bruno', limits)).to.equal('reserved');
    expect(await ask('3', MINUTE_MS, 'bruno', limits)).to.equal('customer');
    expect(await ask('3', MINUTE_MS, null, limits)).to.equal('reserved');
    expect(await ask('4', MINUTE_MS, null, limits)).to.equal('account');
  });

  it('keeps the place of a request that may still be running', async () => {
    expect(await ask('1', 0, 'ana', [1, 3])).to.equal('reserved');
    expect(await ask('1', MINUTE_MS - 1, 'bruno', [1, 3])).to.equal('running');
    expect(await ask('1', MINUTE_MS - 1, null, [1, 3])).to.equal('running');
    expect(await ask('2', MINUTE_MS - 1, 'ana', [1, 3])).to.equal('customer');
  });

  it('sees the place of a request that reserves at the same time', async () => {
    const customers = Array.from({ length: 8 }, (_, n) => `customer ${n}`);
    const outcomes = await Promise.all(customers.map((customer) => ask('1', 0, customer, [1, 20])));
    expect(outcomes.toSorted()).to.deep.equal(['reserved', ...Array(7).fill('running')]);
  });

  it('counts a repeat from its own time', async () => {
    expect(await ask('1', 0, 'ana', [1, 1])).to.equal('reserved');
    expect(await ask('1', HOUR_MS - 1, 'ana', [1, 1])).to.equal('reserved');
    expect(await ask('2', HOUR_MS, 'ana', [1, 2])).to.equal('customer');
    expect(await ask('2', HOUR_MS, null, [1, 1])).to.equal('account');
    expect(await ask('2', 2 * HOUR_MS - 1, 'ana', [1, 1])).to.equal('reserved');
  });

  it('frees the places of ended charges when a limit of the customer or the account is reached', async () => {
    for (const [payment, customer] of [
      ['1', 'ana'],
      ['2', 'ana'],
      ['3', null],
    ] as const)
      expect(await ask(payment, 0, customer, [2, 3])).to.equal('reserved');
    for (const id of ['1', '3']) ended.add(id);
    expect(await ask('4', 1, 'ana', [2, 3])).to.equal('reserved'); // both limits were reached
    expect(asked).to.deep.equal([['1', '2']]); // the place of 1 was enough
    expect(await ask('5', 2, 'ana', [2, 3])).to.equal('customer');
    expect(await ask('6', 2, null, [2, 3])).to.equal('reserved'); // uses the place of 3
    expect(await ask('7', 2, null, [2, 3])).to.equal('account');
  });

  for (const [of, customer, limits] of [
    ['the account', null, [1, 5_000]],
    ['a customer', 'ana', [5_000, 1_000_000]],
  ] as const)
    it(`checks 2,000 places of ${of} at a time for ended charges, and continues with the next ones`, async () => {
      await db.query(
        `INSERT INTO operations.velocity_reservations
         SELECT 'p' || lpad(n::text, 5, '0'), 'a', $1, timestamptz '${NOON}' + n * interval '1 ms' FROM generate_series(1, 5000) n`,
        [customer],
      );
      ended.add('p04500');
      const full = customer === null ? 'account' : 'customer';
      expect(await ask('x', 6_000, customer, limits)).to.equal(full);
      expect(await ask('x', 6_000, customer, limits)).to.equal(full);
      expect(await ask('x', 6_000, customer, limits)).to.equal('reserved');
      expect(asked.map((ids) => [ids[0], ids.at(-1)])).to.deep.equal([
        ['p00001', 'p02000'],
        ['p02001', 'p04000'],
        ['p04001', 'p05000'],
      ]);
      ended.add('p00001');
      expect(await ask('y', 6_000, customer, limits)).to.equal('reserved'); // starts from the first place again
    });

  it('checks 20,000 places of a customer at the cost of 2,000', async () => {
    const costs: number[] = [];
    const measuring = velocityGuard({
      db: {
        transaction: (work) => db.transaction(work),
        query: async (statement, values) => {
          if (typeof statement !== 'string' && statement.name === 'velocity_of_customer')
            costs.push(await buffersOf(db, statement.text, statement.values ?? []));
          return db.query(statement, values);
        },
      },
      payments: { endedAmong: async () => ({ ended: [], unknown: [] }) },
    });
    for (const count of [2_000, 20_000]) {
      await db.query('TRUNCATE operations.velocity_reservations');
      await db.query(
        `INSERT INTO operations.velocity_reservations
         SELECT $2 || n, 'a', 'ana', timestamptz '${NOON}' + n * interval '1 ms' FROM generate_series(1, $1::integer) n`,
        [count, `of ${count} `],
      );
      await db.query('ANALYZE operations.velocity_reservations');
      const asked = { paymentId: 'x' as PaymentId, accountId: 'a' as AccountId, customer: 'ana' };
      const limits = { customerPerHour: count, accountPerHour: 1_000_000 };
      expect(await measuring.reserve({ ...asked, at: addMillis(NOON, 60_000), ...limits })).to.equal('customer');
    }
    const [few, many] = costs as [number, number];
    expect(many).to.be.at.most(few + 5); // a higher index and one page more
  });

  it('continues through the account’s places while customers free theirs', async () => {
    await db.query(
      `INSERT INTO operations.velocity_reservations
       SELECT 'p' || lpad(n::text, 5, '0'), 'a', NULL, timestamptz '${NOON}' + n * interval '1 ms' FROM generate_series(1, 5000) n`,
    );
    expect(await ask('of ana', 6_000, 'ana', [1, 5_001])).to.equal('reserved');
    const limits = [1, 5_001] as const;
    expect(await ask('x', 6_000, null, limits)).to.equal('account');
    ended.add('of ana');
    expect(await ask('y', 6_000, 'ana', limits)).to.equal('reserved');
    expect(await ask('x', 6_000, null, limits)).to.equal('account');
    expect(asked.map((ids) => ids[0])).to.deep.equal(['p00001', 'of ana', 'p02001']);
  });

  it('starts from the first places again if the last ones hold no ended charge', async () => {
    await db.query(
      `INSERT INTO operations.velocity_reservations SELECT 'p' || lpad(n::text, 5, '0'), 'a', NULL, timestamptz '${NOON}' + n * interval '1 ms'
       FROM generate_series(1, 3000) n`,
    );
    const limits = [1, 3_000] as const;
    for (let n = 0; n < 2; n++) expect(await ask('x', 6_000, null, limits)).to.equal('account');
    ended.add('p00001');
    expect(await ask('x', 6_000, null, limits)).to.equal('reserved');
    expect(asked.map((ids) => [ids[0], ids.at(-1)])).to.deep.equal([
      ['p00001', 'p02000'],
      ['p02001', 'p03000'],
      ['p00001', 'p02000'],
    ]);
  });

  it('starts from zero after an hour without charges, whatever its total says', async () => {
    expect(await ask('1', 0, null, [1, 2])).to.equal('reserved');
    await db.query("UPDATE operations.velocity_totals SET charges = 7 WHERE account_id = 'a'");
    expect(await ask('2', 1, null, [1, 2])).to.equal('account');
    expect(await ask('2', HOUR_MS, null, [1, 2])).to.equal('reserved');
    expect(await ask('3', HOUR_MS, null, [1, 2])).to.equal('reserved');
    expect(await ask('4', HOUR_MS, null, [1, 2])).to.equal('account');
  });

  it('costs the same with 20,000 places as with 20, and with 20 beside another account’s 20,000; after a pause, frees at most 100', async () => {
    const fill = (count: number, account = 'a') =>
      db.query(
        `INSERT INTO operations.velocity_reservations SELECT $2 || n, $3, NULL, timestamptz '${NOON}' + n * interval '1 hour' / $1::integer
         FROM generate_series(1, $1::integer) n`,
        [count, `of ${account} ${count} `, account],
      );
    const costAt = (payment: string, afterMs: number, account = 'a') =>
      buffersOf(db, "SELECT operations.reserve_charge($1, $2, NULL, $3, 20, 1000000, interval '60 s')", [
        payment,
        account,
        addMillis(NOON, afterMs),
      ]);
    const costs: number[][] = [];
    // The first round fills the caches of the connection.
    for (const count of [20, 20, 20_000]) {
      await db.query('TRUNCATE operations.velocity_reservations, operations.velocity_totals');
      await fill(count);
      await db.query('ANALYZE operations.velocity_reservations');
      await costAt('first', HOUR_MS); // creates the total
      costs.push([await costAt('second', HOUR_MS + 1), await costAt('paused', 2.5 * HOUR_MS)]);
    }
    const [, few, many] = costs as [number[], number[], number[]];
    expect(many[0]).to.be.at.most((few[0] as number) + 15); // four higher indexes
    // After the pause, the hour of 10,000 places has passed and 10,000 others are older than two hours.
    const { rows } = await db.query('SELECT count(*) AS left FROM operations.velocity_reservations');
    const totals = await db.query('SELECT charges FROM operations.velocity_totals');
    expect([rows, totals.rows]).to.deep.equal([[{ left: 20_003 - 100 }], [{ charges: 20_003 - 1_000 }]]);
    expect(many[1]).to.be.at.most(600);
    await fill(20, 'beside');
    await db.query('ANALYZE operations.velocity_reservations');
    await costAt('first beside', HOUR_MS, 'beside');
    expect(await costAt('second beside', HOUR_MS + 1, 'beside')).to.be.at.most((few[0] as number) + 15);
  });
});
