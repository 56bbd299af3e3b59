// Searches payments of all accounts for a person (rule L1), and lists old ones for their erasure (rule L3). A search reads every payment
// once, about 15 s per million, in short statements. It follows the order of creation, in which rows are stored, and which never changes.

import type { Person, PersonalPayments, Place, TenantPlace } from '../../application/ports/personalData.ts';
import { asTimestamp, type Sql } from '../../application/ports/sql.ts';
import type { PaymentId, Tenant } from '../../domain/kernel/ids.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import type { ExistingPayment } from '../../domain/payment/payment.ts';
import type { ColumnValues } from '../engine/aggregateTable.ts';
import { mentions } from '../engine/mentions.ts';
import { allTenants, tenantsAfter } from '../engine/tenants.ts';
import { paymentOf, selectPayment } from './row.ts';

/** Payments per statement. */
const PAGE = 20_000;

const TABLE = 'rm_payments.payments';
const PAGE_OF_TENANT = `SELECT p.id, p.created_at, p.customer_key, p.customer_email, p.customer_name, p.metadata_start FROM ${TABLE} p
  WHERE p.account_id = $1 AND p.mode = $2 AND p.created_at >= $3 AND (p.created_at > $3 OR p.id < $4)
  ORDER BY p.created_at, p.id DESC`;
/** Before the first place. */
export const FIRST: Place<string> = { createdAt: '0001-01-01T00:00:00.000Z' as Timestamp, id: '' };

interface Found {
  readonly ids: readonly PaymentId[];
  /** Id of the page's last payment; null if the page is empty. */
  readonly id: string | null;
  readonly createdAt: Timestamp | null;
}

const statesOf = async (db: Sql, ids: readonly PaymentId[]): Promise<readonly ExistingPayment[]> => {
  const { rows } = await db.query<ColumnValues>(
    `SELECT ${selectPayment('p')} FROM rm_payments.payments p WHERE p.id = ANY($1::text[]) ORDER BY p.created_at, p.id DESC`,
    [ids],
  );
  return rows.map(paymentOf);
};

async function* mentioning(
  db: Sql,
  person: Person,
  last: TenantPlace<PaymentId> | null,
): AsyncGenerator<readonly ExistingPayment[], void> {
  const { condition, value } = mentions(person, '$6', [
    'p.customer_key',
    'p.customer_name',
    'p.customer_email',
    'a.rest',
  ]);
  // Reasons and names of files are in the cases, which are a part of the payment here.
  const ofCase = `EXISTS (SELECT FROM rm_disputes.cases c WHERE c.account_id = $1 AND c.mode = $2 AND c.payment_id = p.id
    AND ${mentions(person, '$6', ['c.state']).condition})`;
  const text = `WITH page AS MATERIALIZED (${PAGE_OF_TENANT} LIMIT $5)
    SELECT array(SELECT p.id FROM page p LEFT JOIN rm_payments.payments_apart a ON a.id = p.id WHERE ${condition} OR ${ofCase}) AS ids,
      last.id, ${asTimestamp('last.created_at')} AS "createdAt"
    FROM (SELECT 1) one LEFT JOIN LATERAL (SELECT id, created_at FROM page ORDER BY created_at DESC, id LIMIT 1) last ON true`;
  async function* ofTenant({ accountId, mode }: Tenant, from: Place<string>) {
    for (let after = from; ; ) {
      const { rows } = await db.query<Found>(text, [accountId, mode, after.createdAt, after.id, PAGE, value]);
      const { ids, id, createdAt } = rows[0] as Found;
      if (ids.length > 0) yield await statesOf(db, ids);
      if (id === null || createdAt === null) return;
      after = { id, createdAt };
    }
  }
  if (last !== null) yield* ofTenant(last, last);
  for await (const tenant of allTenants(db, TABLE, last)) yield* ofTenant(tenant, FIRST);
}

export const personalPayments = (db: Sql): PersonalPayments => ({
  mentioning: (person, after) => mentioning(db, person, after),
  tenantsAfter: (after, limit) => tenantsAfter(db, TABLE, after, limit),
  createdBefore: async ({ accountId, mode }, before, after, limit) => {
    const { id, createdAt } = after ?? FIRST;
    const { rows } = await db.query<Place<PaymentId>>(
      `SELECT id, ${asTimestamp('created_at')} AS "createdAt" FROM (${PAGE_OF_TENANT}) p WHERE created_at < $5 LIMIT $6`,
      [accountId, mode, createdAt, id, before, limit],
    );
    return rows;
  },
});
