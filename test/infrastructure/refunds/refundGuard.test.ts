// The guard of refunds in Postgres: what a reservation counts for, and how long (rule M7b).
import { expect } from 'chai';
import type { RefundGuard, RefundReservation } from '../../../application/ports/refundGuard.ts';
import type { AccountId, RefundId } from '../../../domain/kernel/ids.ts';
import { toMinor } from '../../../domain/kernel/money.ts';
import { addMillis, HOUR_MS, type Timestamp } from '../../../domain/kernel/time.ts';
import type { PgPool } from '../../../infrastructure/postgres/session.ts';
import { refundGuard } from '../../../infrastructure/refunds/refundGuard.ts';
import { useDatabase } from '../../world/postgres.ts';

const NOON = '2026-11-21T12:00:00.000Z' as Timestamp;

describe('the guard of refunds', () => {
  const accountId = 'a'.repeat(26) as AccountId;
  let db: PgPool;
  let guard: RefundGuard;
  useDatabase('suite', 2, (opened) => {
    db = opened;
  });
  before(async () => {
    guard = refundGuard(db);
  });
  beforeEach(() => db.query('DELETE FROM operations.refund_reservations'));

  interface Wish extends Partial<Omit<RefundReservation, 'refundId' | 'amount' | 'at' | 'sumPerHour'>> {
    readonly amount?: number;
    readonly sumPerHour?: number;
  }
  const ask = (refund: string, afterMs: number, { amount = 10, sumPerHour, ...wish }: Wish) =>
    guard.reserve({
      refundId: refund as RefundId,
      accountId,
      currency: 'BRL',
      countPerHour: null,
      sumPerHour: sumPerHour === undefined ? null : toMinor(sumPerHour),
      amount: toMinor(amount),
      at: addMillis(NOON, afterMs),
      ...wish,
    });

  for (const [of, limits] of [
    ['count', { countPerHour: 2 }],
    ['sum', { sumPerHour: 20 }],
  ] as const)
    it(`counts a refund for exactly one hour: by ${of}`, async () => {
      expect(await ask('one', 0, limits)).to.equal('reserved');
      expect(await ask('two', HOUR_MS / 2, limits)).to.equal('reserved');
      expect(await ask('three', HOUR_MS - 1, limits)).to.equal(of);
      expect(await ask('three', HOUR_MS, limits)).to.equal('reserved');
      expect(await ask('four', 1.5 * HOUR_MS - 1, limits)).to.equal(of);
      expect(await ask('four', 1.5 * HOUR_MS, limits)).to.equal('reserved');
    });
  it('keeps one place per refund, even if the limit was lowered since', async () => {
    expect(await ask('one', 0, { countPerHour: 2 })).to.equal('reserved');
    expect(await ask('two', 0, { countPerHour: 2 })).to.equal('reserved');
    expect(await ask('one', HOUR_MS / 2, { countPerHour: 1, sumPerHour: 1 })).to.equal('reserved');
    expect(await ask('one', HOUR_MS / 2, { countPerHour: 1, amount: 9 })).to.equal('reserved');
    // A larger amount is checked again.
    expect(await ask('one', HOUR_MS / 2, { countPerHour: 1, amount: 11 })).to.equal('count');
    expect(await ask('three', HOUR_MS, { countPerHour: 1, sumPerHour: 10 })).to.equal('count');
    expect(await ask('three', HOUR_MS, { countPerHour: 2, sumPerHour: 20 })).to.equal('reserved');
  });
  it('counts a refund from its latest request, because the earlier ones may have been cut off', async () => {
    const limits = { countPerHour: 1 };
    expect(await ask('one', 0, limits)).to.equal('reserved');
    expect(await ask('one', HOUR_MS - 1, limits)).to.equal('reserved');
    // The clock of another process is late.
    expect(await ask('one', HOUR_MS - 5, limits)).to.equal('reserved');
    expect(await ask('two', 2 * HOUR_MS - 2, limits)).to.equal('count');
    expect(await ask('two', 2 * HOUR_MS - 1, limits)).to.equal('reserved');
  });
  it('counts a repeat once, although its place was subtracted by a process whose clock is ahead', async () => {
    const limits = { countPerHour: 2 };
    expect(await ask('one', 0, limits)).to.equal('reserved');
    expect(await ask('two', HOUR_MS + 5, limits)).to.equal('reserved');
    expect(await ask('one', HOUR_MS - 1, limits)).to.equal('reserved');
    expect(await ask('three', HOUR_MS + 6, limits)).to.equal('count');
  });
  it('keeps no place for a refund after its hour', async () => {
    expect(await ask('one', 0, { countPerHour: 1 })).to.equal('reserved');
    expect(await ask('two', HOUR_MS, { countPerHour: 1 })).to.equal('reserved');
    expect(await ask('one', HOUR_MS, { countPerHour: 1 })).to.equal('count');
  });
  it('adds up each account and currency separately, and a repeated refund once, with its largest amount', async () => {
    expect(await ask('one', 0, { sumPerHour: 30, amount: 10 })).to.equal('reserved');
    expect(await ask('one', 0, { sumPerHour: 30, amount: 25 })).to.equal('reserved');
    expect(await ask('two', 0, { sumPerHour: 30, amount: 6 })).to.equal('sum');
    expect(await ask('two', 0, { sumPerHour: 30, amount: 5 })).to.equal('reserved');
    expect(await ask('euros', 0, { sumPerHour: 30, amount: 30, currency: 'EUR' })).to.equal('reserved');
    const theirs = 'b'.repeat(26) as AccountId;
    expect(await ask('theirs', 0, { sumPerHour: 30, amount: 30, accountId: theirs })).to.equal('reserved');
    expect(await ask('three', 0, { sumPerHour: 30, amount: 1 })).to.equal('sum');
  });

  const release = (refund: string) => guard.release({ refundId: refund as RefundId, accountId });

  for (const [of, limits] of [
    ['count', { countPerHour: 2 }],
    ['sum', { sumPerHour: 20 }],
  ] as const)
    it(`does not count a released refund: by ${of}`, async () => {
      for (const refund of ['one', 'two']) expect(await ask(refund, 0, limits)).to.equal('reserved');
      expect(await ask('three', 0, limits)).to.equal(of);
      await release('one');
      expect(await ask('three', 1, limits)).to.equal('reserved');
      expect(await ask('one', 1, limits)).to.equal(of);
    });
  it('counts a refund until all requests that share its place released it', async () => {
    const limits = { countPerHour: 1 };
    for (const amount of [10, 10, 11]) expect(await ask('one', 0, { ...limits, amount })).to.equal('reserved');
    for (let n = 0; n < 2; n++) {
      await release('one');
      expect(await ask('two', 0, limits)).to.equal('count');
    }
    await release('one');
    expect(await ask('two', 0, limits)).to.equal('reserved');
  });
  it('frees the place of a refund whose requests of an earlier hour were cut off', async () => {
    const limits = { countPerHour: 1 };
    for (const afterMs of [0, 0, HOUR_MS]) expect(await ask('one', afterMs, limits)).to.equal('reserved');
    await release('one');
    expect(await ask('two', HOUR_MS, limits)).to.equal('reserved');
  });
  it('ignores the release of a refund without a place, or whose hour has passed', async () => {
    expect(await ask('one', 0, { countPerHour: 1 })).to.equal('reserved');
    expect(await ask('two', HOUR_MS, { countPerHour: 1 })).to.equal('reserved');
    for (const refund of ['one', 'unknown']) await release(refund);
    expect(await ask('three', HOUR_MS, { countPerHour: 1 })).to.equal('count');
  });
});
