// The counters kept as payments change equal a count of whole payments, for any history and any batches (rules T1–T3).

import { expect } from 'chai';
import fc from 'fast-check';
import { lastBusinessDays } from '../../../domain/kernel/civilDay.ts';
import type { Tenant } from '../../../domain/kernel/ids.ts';
import type { Timestamp } from '../../../domain/kernel/time.ts';
import { metricsView } from '../../../domain/presentation/metrics.ts';
import { statsView } from '../../../domain/presentation/stats.ts';
import { TRANSACTION_STATUSES, transactionStatus } from '../../../domain/presentation/status.ts';
import { countPayments } from '../../../projections/payments/lists.ts';
import { statsViews } from '../../../projections/stats/queries.ts';
import { ACCOUNT_ID, created, issued, PAYMENT_ID, settled } from '../../support/samples.ts';
import { parseTimestamp } from '../../support/timestamp.ts';
import { type Mixture, mixtures } from './mixedPayments.ts';
import { logged, PaymentTables } from './paymentTables.ts';
import { daysUpTo, recomputedMetrics, recomputedStats } from './recomputed.ts';

const TENANT: Tenant = { accountId: ACCOUNT_ID, mode: 'test' };
const TODAY = '2026-11-24';
const RUNS = 12;

describe('counters of payments', function suite() {
  let tables: PaymentTables;
  before(async () => {
    tables = await PaymentTables.open();
  });
  after(() => tables.close());

  /** Clears the writer’s cache after every second batch. */
  const write = async ({ batches }: Mixture): Promise<void> => {
    const writer = await tables.fresh();
    for (const [n, batch] of batches.entries()) {
      await writer.apply(logged(TENANT, batch), tables.db);
      if (n % 2 === 1) writer.reset();
    }
  };
  const forAll = (property: (mixture: Mixture) => Promise<void>) =>
    fc.assert(
      fc.asyncProperty(mixtures, async (mixture) => {
        await write(mixture);
        await property(mixture);
      }),
      { numRuns: RUNS },
    );

  it('give the same statistics as a recomputation', () =>
    forAll(async ({ payments }) => {
      for (const count of [1, 7, 33, 400]) {
        const days = lastBusinessDays(TODAY, count);
        expect(days).to.deep.equal(daysUpTo(TODAY, count));
        const rows = await statsViews(tables.db).dayRows(TENANT, { days, currency: null });
        expect(statsView(days, rows)).to.deep.equal(recomputedStats(payments, days));
      }
    }));

  it('give the same metrics as a recomputation, for all currencies and for one', () =>
    forAll(async ({ payments }) => {
      for (const count of [1, 5, 45, 100])
        for (const currency of [null, 'BRL', 'EUR', 'USD']) {
          const window = { days: daysUpTo(TODAY, count), currency };
          const view = metricsView(
            window,
            await statsViews(tables.db).dayRows(TENANT, window),
            await statsViews(tables.db).timeToPay(TENANT, window),
          );
          expect(view).to.deep.equal(recomputedMetrics(payments, window.days, currency));
        }
    }));

  it('give the same totals as a count, for every status and between any two instants', () =>
    forAll(async ({ payments }) => {
      const instants = payments.slice(0, 3).map(({ state }) => state.charge.terms.createdAt);
      // Midnight in São Paulo is at 3:00 UTC.
      const midnights = instants.map((at) => parseTimestamp(`${at.slice(0, 10)}T03:00:00.000Z`));
      const lastOnes = instants.map((at) => parseTimestamp(`${at.slice(0, 10)}T02:59:59.999Z`));
      const never = ['0001-01-01T00:00:00.000Z', '9999-12-30T23:59:59.999Z'].map(parseTimestamp);
      const bounds: readonly (Timestamp | null)[] = [null, ...instants, ...midnights, ...lastOnes, ...never];
      for (const statuses of [null, ['PAID', 'APPROVED'] as const, ...TRANSACTION_STATUSES.map((one) => [one])])
        for (const [n, from] of bounds.entries()) {
          const to = bounds[(n * 3 + 1) % bounds.length] ?? null;
          const expected = payments.filter(({ state }) => {
            const { createdAt } = state.charge.terms;
            const isOfStatus = statuses === null || statuses.includes(transactionStatus(state) as never);
            return isOfStatus && (from === null || createdAt >= from) && (to === null || createdAt <= to);
          });
          expect(await countPayments(tables.db, TENANT, { statuses, from, to })).to.equal(expected.length);
        }
    }));

  it('are the same for batches of any size, with and without the writer’s cache', () =>
    forAll(async (mixture) => {
      const inPieces = await tables.rows();
      const writer = await tables.fresh();
      await writer.apply(logged(TENANT, mixture.batches.flat()), tables.db);
      expect(await tables.rows()).to.deep.equal(inPieces);
      expect(inPieces['payments']).to.have.length(mixture.payments.length);
    }));

  it('use one row for a charge with one method, also when it is paid', async () => {
    const writer = await tables.fresh();
    const events = [created(), issued(), settled()].map((event, revision) => ({
      paymentId: PAYMENT_ID,
      revision,
      event,
    }));
    await writer.apply(logged(TENANT, events), tables.db);
    const { rows } = await tables.db.query(
      `SELECT day, methods, method, created, created_paid, paid, now_pending, now_waiting_payment, now_paid,
         reached_awaiting_payment FROM rm_payments.day_counts`,
    );
    expect(rows).to.deep.equal([
      {
        day: '2026-11-21',
        methods: 'PIX',
        method: '',
        created: 1,
        created_paid: 1,
        paid: 1,
        now_pending: 0,
        now_waiting_payment: 0,
        now_paid: 1,
        reached_awaiting_payment: 0,
      },
    ]);
  });

  it('count nothing for another account or mode', async () => {
    await fc.assert(
      fc.asyncProperty(mixtures, async (mixture) => {
        await write(mixture);
        for (const other of [
          { ...TENANT, mode: 'live' as const },
          { ...TENANT, accountId: 'x' as never },
        ]) {
          const days = daysUpTo(TODAY, 100);
          expect(await statsViews(tables.db).dayRows(other, { days, currency: null })).to.deep.equal([]);
          expect(await statsViews(tables.db).timeToPay(other, { days, currency: null })).to.deep.equal({
            p50Seconds: null,
            p90Seconds: null,
          });
          expect(await countPayments(tables.db, other, { statuses: null, from: null, to: null })).to.equal(0);
        }
      }),
      { numRuns: 3 },
    );
  });
});
