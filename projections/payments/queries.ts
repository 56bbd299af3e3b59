// Reads of payments, always of one account and mode.

import type { JobRequest } from '../../application/ports/jobs.ts';
import type { Tenant } from '../../application/ports/paymentProvider.ts';
import type { Sql } from '../../application/ports/sql.ts';
import type { PaymentId } from '../../domain/kernel/ids.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import { assertExists, type ExistingPayment, type PaymentState } from '../../domain/payment/payment.ts';
import { awaited } from './awaited.ts';

const parse = (state: string): ExistingPayment => assertExists(JSON.parse(state) as PaymentState);

export const findPayment = async (db: Sql, tenant: Tenant, id: PaymentId): Promise<ExistingPayment | null> => {
  const { rows } = await db.query<{ state: string }>({
    name: 'find_payment',
    text: 'SELECT state FROM rm_payments.payments WHERE id = $1 AND account_id = $2 AND mode = $3',
    values: [id, tenant.accountId, tenant.mode],
  });
  return rows[0] ? parse(rows[0].state) : null;
};

/** For the payer's page: who holds the raw id may look (the id is a capability). */
export const findPaymentsForPayer = async (
  db: Sql,
  ids: readonly PaymentId[],
): Promise<ReadonlyMap<PaymentId, ExistingPayment>> => {
  const { rows } = await db.query<{ id: PaymentId; state: string }>({
    name: 'find_payments_for_payer',
    text: 'SELECT id, state FROM rm_payments.payments WHERE id = ANY($1::text[])',
    values: [ids],
  });
  return new Map(rows.map(({ id, state }) => [id, parse(state)]));
};

/** What should have happened to payments before `before`, as jobs. */
export const overduePayments = async (db: Sql, before: Timestamp, limit: number): Promise<readonly JobRequest[]> => {
  const { rows } = await db.query<{ state: string }>(
    'SELECT state FROM rm_payments.payments WHERE awaits_at < $1 ORDER BY awaits_at LIMIT $2',
    [before, limit],
  );
  return rows.flatMap(({ state }) => awaited(parse(state))?.job ?? []);
};
