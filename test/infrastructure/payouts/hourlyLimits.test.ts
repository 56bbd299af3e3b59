// The hourly limits of refunds and payouts in Postgres, compared with an in-memory list, and the cost of a decision (rule M7b).
import { expect } from 'chai';
import fc from 'fast-check';
import type { AccountId, RefundId } from '../../../domain/kernel/ids.ts';
import { toMinor } from '../../../domain/kernel/money.ts';
import { addMillis, HOUR_MS, type Timestamp } from '../../../domain/kernel/time.ts';
import type { PayoutId } from '../../../domain/payout/payout.ts';
import { payoutFunds } from '../../../infrastructure/payouts/payoutFunds.ts';
import type { PgPool } from '../../../infrastructure/postgres/session.ts';
import { refundGuard } from '../../../infrastructure/refunds/refundGuard.ts';
import { createSchema } from '../../../projections/engine/schemaVersions.ts';
import { walletProjection } from '../../../projections/wallet/projection.ts';
import { buffersOf } from '../../support/buffers.ts';
import { useDatabase } from '../../world/postgres.ts';

const NOON = '2026-11-21T12:00:00.000Z' as Timestamp;

interface Asked {
  readonly id: string;
  readonly account: string;
  readonly currency: string;
  readonly amount: number;
  readonly at: number;
  readonly count: number | null;
  readonly sum: number | null;
}
interface Place {
  readonly id: string;
  readonly currency: string;
  amount: number;
  at: number;
  requests: number;
}

/**
 * The rule, implemented with a list of all places. A repeated refund keeps its place, and a repeated payout is checked again and keeps the
 * largest amount. Both count from the repeat. Refunds are released by all of their requests.
 */
class Places {
  readonly #what: 'refunds' | 'payouts';
  #places: Place[] = [];

  constructor(what: 'refunds' | 'payouts') {
    this.#what = what;
  }

  reserve({ id, currency, amount, at, count, sum }: Asked): string {
    const hour = this.#places.filter((place) => place.at > at - HOUR_MS);
    const own = this.#places.find((place) => place.id === id);
    const counted = hour.find((place) => place.id === id);
    const requests = (counted?.requests ?? 0) + 1;
    if (this.#what === 'refunds' && counted !== undefined && counted.amount >= amount) {
      Object.assign(counted, { at, requests });
      return 'reserved';
    }
    const others = hour.filter((place) => place.id !== id);
    if (count !== null && others.length >= count) return 'count';
    const taken = others.filter((place) => place.currency === currency).reduce((all, place) => all + place.amount, 0);
    if (sum !== null && amount + taken > sum) return 'sum';
    if (own === undefined) this.#places.push({ id, currency, amount, at, requests });
    else {
      const kept = this.#what === 'payouts' ? Math.max(own.amount, amount) : amount;
      Object.assign(own, { at, amount: kept, requests });
    }
    return 'reserved';
  }

  release({ id }: Asked): void {
    for (const place of this.#places) if (place.id === id) place.requests--;
    this.#places = this.#places.filter(({ requests }) => requests > 0);
  }
}

describe('hourly limits', () => {
  let db: PgPool;
  useDatabase('suite', 2, (opened) => {
    db = opened;
  });
  before(() => createSchema(db, walletProjection, 'rm_wallet'));

  const limits = ({ amount, currency, at, count, sum, account }: Asked) => ({
    ...{ accountId: account as AccountId, currency, amount: toMinor(amount), at: addMillis(NOON, at) },
    ...{ countPerHour: count, sumPerHour: sum === null ? null : toMinor(sum) },
  });
  const refund = (asked: Asked) => refundGuard(db).reserve({ refundId: asked.id as RefundId, ...limits(asked) });
  const payout = (asked: Asked) =>
    payoutFunds(db).reserve({
      ...{ payoutId: asked.id as PayoutId, mode: 'live', fee: toMinor(0), after: null, ...limits(asked) },
    });

  const step = fc.record({
    n: fc.nat({ max: 8 }),
    amount: fc.integer({ min: 1, max: 9 }),
    passesMs: fc.constantFrom(0, 0, 1, 60_000, HOUR_MS / 4, HOUR_MS - 1, HOUR_MS, 3 * HOUR_MS),
    count: fc.option(fc.integer({ min: 1, max: 4 })),
    sum: fc.option(fc.integer({ min: 1, max: 20 })),
    isRejected: fc.boolean(),
  });
  for (const [what, ask] of [
    ['refunds', refund],
    ['payouts', payout],
  ] as const) {
    it(`count ${what} like a list of all of them (law)`, async () => {
      let accounts = 0;
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
          const account = `${what}-${++accounts}`;
          for (const currency of ['BRL', 'EUR'])
            await db.query(
              "INSERT INTO rm_wallet.balances (account_id, mode, currency, ledger_account, amount) VALUES ($1, 'live', $2, 'merchant_available', 1000000)",
              [account, currency],
            );
          const places = new Places(what);
          let at = 0;
          for (const { n, passesMs, isRejected, ...more } of steps) {
            at += passesMs;
            const asked = { id: `${account}-${n}`, account, currency: n % 3 === 0 ? 'EUR' : 'BRL', at, ...more };
            const outcome = await ask(asked);
            expect(outcome).to.equal(places.reserve(asked));
            if (what === 'payouts' || outcome !== 'reserved' || !isRejected) continue;
            await refundGuard(db).release({ refundId: asked.id as RefundId, accountId: account as AccountId });
            places.release(asked);
          }
        }),
        { numRuns: 40 },
      );
    });
  }

  it('don’t count an abandoned request for a payout, but count one that reserved again meanwhile', async () => {
    const account = 'abandoned';
    await db.query(
      "INSERT INTO rm_wallet.balances (account_id, mode, currency, ledger_account, amount) VALUES ($1, 'live', 'BRL', 'merchant_available', 1000)",
      [account],
    );
    const asked = { account, currency: 'BRL', at: 0, count: 2, sum: 10 };
    const funds = payoutFunds(db);
    const cutOff = async () => {
      const found = (await funds.olderThan(-1_000)).find(({ payoutId }) => payoutId === ('cut-off' as PayoutId));
      if (found === undefined) throw new Error('nothing is reserved');
      return found;
    };
    expect(await payout({ ...asked, id: 'cut-off', amount: 6 })).to.equal('reserved');
    expect(await payout({ ...asked, id: 'kept', amount: 1 })).to.equal('reserved');
    const former = await cutOff();
    expect(await payout({ ...asked, id: 'cut-off', amount: 6 })).to.equal('reserved');
    await funds.release(former);
    expect(await payout({ ...asked, id: 'other', amount: 1, at: 1 })).to.equal('count');
    const reservation = await cutOff();
    for (let n = 0; n < 2; n++) await funds.release(reservation);
    expect(await payout({ ...asked, id: 'other', amount: 10, at: 1 })).to.equal('sum');
    expect(await payout({ ...asked, id: 'other', amount: 9, at: 1 })).to.equal('reserved');
    expect(await payout({ ...asked, id: 'one more', amount: 1, at: 1 })).to.equal('count');
  });
  it('cost the same with 20,000 refunds and payouts in the hour as with 20, and with 20 beside another account’s 20,000', async () => {
    const costs: number[][] = [];
    for (const [round, count] of [20, 20_000, 20].entries()) {
      const account = `cost-${round}-${count}`;
      for (const [table, id] of [
        ['refund_reservations', 'refund_id'],
        ['payouts_of_hour', 'payout_id'],
      ])
        await db.query(
          `INSERT INTO operations.${table} (${id}, account_id, currency, amount, reserved_at)
           SELECT $1 || n, $1, 'BRL', 1, timestamptz '${NOON}' + n * interval '1 hour' / $2::integer FROM generate_series(1, $2::integer) n`,
          [account, count],
        );
      await db.query('ANALYZE operations.refund_reservations, operations.payouts_of_hour');
      const cost = async (id: string) => {
        const values = [id, account, addMillis(NOON, HOUR_MS)];
        return [
          await buffersOf(db, "SELECT operations.reserve_refund($1, $2, 'BRL', 1, $3, 1000000, 99999999)", values),
          await buffersOf(
            db,
            "SELECT operations.reserve_payout($1, $2, 'live', 'BRL', 1, 0, $3, 1000000, 99999999, NULL)",
            values,
          ),
        ];
      };
      await db.query(
        "INSERT INTO rm_wallet.balances (account_id, mode, currency, ledger_account, amount) VALUES ($1, 'live', 'BRL', 'merchant_available', 1000000)",
        [account],
      );
      let last: number[] = [];
      // The first creates the totals, and the next ones are planned again.
      for (let n = 0; n < 8; n++) last = await cost(`${account} decision ${n}`);
      costs.push(last);
    }
    const [few, many, beside] = costs as [number[], number[], number[]];
    for (const n of [0, 1]) {
      expect(many[n]).to.be.at.most((few[n] as number) + 15); // higher indexes
      expect(beside[n]).to.be.at.most((few[n] as number) + 15);
    }
  });
});
