// The rows that a payment writes to the statistics of times to pay.
import { expect } from 'chai';
import type { Sql } from '../../../application/ports/sql.ts';
import { addMillis, type Timestamp } from '../../../domain/kernel/time.ts';
import type { PaymentEvent, PaymentState } from '../../../domain/payment/payment.ts';
import type { AggregateChange } from '../../../projections/engine/aggregateTable.ts';
import { dayCounts } from '../../../projections/stats/dayCounts.ts';
import { timeToPay } from '../../../projections/stats/timeToPay.ts';
import { ACCOUNT_ID, created, paymentAfter, settled } from '../../support/samples.ts';
import { PaymentTables } from '../payments/paymentTables.ts';

const BYTES_MAX = 1_000;
/** Of payments after the day. */
const LATER_SECONDS = [7, 7, 4_000, 4_000, 70_000, 70_000];
const CREATED = paymentAfter(created());

/** Returns the change of a payment that was paid so many seconds after its creation. */
const paidAfter = (seconds: number): AggregateChange<PaymentState, PaymentEvent> => {
  const event = settled();
  if (event.type !== 'TransactionSettled') throw new Error('not settled');
  const paidAt = addMillis(CREATED.charge.terms.createdAt as Timestamp, 1_000 * seconds);
  const paid: PaymentEvent = { ...event, data: { ...event.data, incoming: { ...event.data.incoming, paidAt } } };
  const after = {
    id: 'p',
    account: ACCOUNT_ID,
    mode: 'test',
    state: CREATED,
    revision: 1,
    status: 'PAID',
    statusSince: null,
  };
  return { event: paid, before: null, after } as unknown as AggregateChange<PaymentState, PaymentEvent>;
};

describe('times to pay', () => {
  let tables: PaymentTables;
  before(async () => {
    tables = await PaymentTables.open();
    await tables.fresh();
  });
  after(() => tables.close());

  it('write at most 1,000 bytes per payment, also on a day with 80,000 different times', async () => {
    const writer = timeToPay.writer('rm_payments');
    const day = Array.from({ length: 80_000 }, (_, seconds) => paidAfter(seconds));
    await writer.apply(day, tables.db);
    const written: { bytes: number; images: number }[] = [];
    const counting: Sql = {
      query: async (statement) => {
        if (typeof statement === 'string') throw new Error('not expected');
        const { rows } = await tables.db.query<{ 'QUERY PLAN': { Plan: Record<string, number> }[] }>(
          `EXPLAIN (ANALYZE, WAL, FORMAT JSON) ${statement.text}`,
          statement.values,
        );
        const { 'WAL Bytes': bytes = 0, 'WAL FPI': images = -1 } = rows[0]?.['QUERY PLAN'][0]?.Plan ?? {};
        written.push({ bytes, images });
        return { rows: [], rowCount: 0 };
      },
    };
    for (const seconds of LATER_SECONDS) await writer.apply([paidAfter(seconds)], counting);
    expect(written).to.have.length(LATER_SECONDS.length);
    // The first change of a page after a checkpoint also writes an image of the page.
    const changes = written.filter(({ images }) => images === 0);
    expect(changes).to.have.length.at.least(LATER_SECONDS.length / 2);
    for (const { bytes } of changes) expect(bytes).to.be.within(1, BYTES_MAX);
  });

  it('count each payment in its day and its month, in at most 1,400 buckets each', async () => {
    const text =
      'SELECT period, count(*)::int AS buckets, sum(payments)::int AS payments FROM rm_payments.time_to_pay GROUP BY 1 ORDER BY 1';
    const { rows } = await tables.db.query<{ period: string; buckets: number; payments: number }>(text);
    const paid = (length: number) =>
      rows.filter(({ period }) => period.length === length).reduce((sum, { payments }) => sum + payments, 0);
    const all = 80_000 + LATER_SECONDS.length;
    expect([paid(7), paid(10)]).to.deep.equal([all, all]);
    expect(Math.max(...rows.map(({ buckets }) => buckets))).to.be.at.most(1_400);
  });

  it('are counted within 5 minutes, an hour and a day, to the second', async () => {
    const paid = [300, 3_600, 86_400].flatMap((seconds) => [paidAfter(seconds), paidAfter(seconds + 1)]);
    await dayCounts.writer('rm_payments').apply(paid, tables.db);
    const { rows } = await tables.db.query(
      'SELECT sum(paid_in_5_minutes)::int AS minutes, sum(paid_in_an_hour)::int AS hour, sum(paid_in_a_day)::int AS day FROM rm_payments.day_counts',
    );
    expect(rows).to.deep.equal([{ minutes: 1, hour: 3, day: 5 }]);
  });
});
