// What should have happened to payments by itself and has not: the watchdog's view (architecture §7).
import type { OverduePayment } from '../../application/ports/readModels/overdueWork.ts';
import type { Sql } from '../../application/ports/sql.ts';
import { addSeconds, type Timestamp } from '../../domain/kernel/time.ts';
import { pendingWork } from '../../domain/payment/pendingWork.ts';
import { paymentOf } from './row.ts';

interface Row {
  readonly awaits_at: string;
  readonly id: string;
  readonly state: string;
  readonly offset_seconds: number;
}

// In account time: what an account whose test clock is ahead waits for is due by its own clock. While that is drained, the drain does it.
const PAGE = {
  name: 'overdue_payments',
  text: `SELECT awaits_at::text AS awaits_at, id, state, offset_seconds FROM (
      SELECT p.awaits_at, p.id, p.state, 0::bigint AS offset_seconds FROM rm_payments.payments p
      WHERE p.awaits_at < $1 AND NOT (p.mode = 'test' AND EXISTS (SELECT FROM operations.test_clocks c WHERE c.account_id = p.account_id))
      UNION ALL
      SELECT p.awaits_at, p.id, p.state, c.offset_seconds FROM operations.test_clocks c
      JOIN rm_payments.payments p ON p.account_id = c.account_id AND p.mode = 'test' AND p.awaits_at < $1 + c.offset_seconds * interval '1 s'
      WHERE NOT c.draining) AS overdue
    WHERE (awaits_at, id) > ($2::timestamptz, $3) ORDER BY awaits_at, id LIMIT $4`,
};

/** Yields what was due before `before`, by the clock of the account; all of it, in pages. */
export async function* overduePayments(
  db: Sql,
  before: Timestamp,
  page: number,
): AsyncGenerator<readonly OverduePayment[]> {
  for (let after = { awaits_at: '-infinity', id: '' }; ; ) {
    const { rows } = await db.query<Row>({ ...PAGE, values: [before, after.awaits_at, after.id, page] });
    yield rows.flatMap(({ state, offset_seconds }) => {
      const payment = paymentOf(state);
      const { accountId, mode, paymentId } = payment.charge.terms;
      return pendingWork(payment)
        .filter(({ at }) => at < addSeconds(before, offset_seconds))
        .map((work) => ({ tenant: { accountId, mode }, paymentId, work }));
    });
    const last = rows.at(-1);
    if (last === undefined || rows.length < page) return;
    after = last;
  }
}
