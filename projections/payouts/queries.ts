// All SQL queries of payouts. They are limited to one account and mode, except those for operators and the watchdog.

import { pagesOf } from '../../application/ports/pagesOf.ts';
import type {
  ListedPayout,
  PayoutFilter,
  PayoutReads,
  PayoutViews,
  UnfinishedPayout,
} from '../../application/ports/readModels/payouts.ts';
import type { Sql } from '../../application/ports/sql.ts';
import { type AccountId, type Mode, type PaymentId, PREFIX, type Tenant } from '../../domain/kernel/ids.ts';
import { toMinor } from '../../domain/kernel/money.ts';
import { fromMillis, type Timestamp } from '../../domain/kernel/time.ts';
import { PAYOUT } from '../../domain/payout/aggregate.ts';
import type { Payout, PayoutId } from '../../domain/payout/payout.ts';
import { requestedPayoutView } from '../../domain/payout/presentation.ts';
import type { PayoutStatus, PayoutView } from '../../domain/presentation/payout.ts';
import { REFUND } from '../../domain/refund/refund.ts';

/** A row of either table: with its state for a requested payout, with its columns for a Pix-out. */
interface Row {
  readonly id: PayoutId;
  readonly created_ms: number;
  readonly state: string | null;
  readonly payment_id: PaymentId;
  readonly status: PayoutStatus;
  readonly amount: number;
  readonly currency: string;
  readonly destination: string | null;
  readonly fee: number;
  readonly end_to_end_id: string | null;
  readonly failure_reason: string | null;
  readonly paid_ms: number | null;
}

const REQUESTED = `SELECT id, account_id, mode, created_at, state, NULL AS payment_id, status, NULL::bigint AS amount, NULL AS currency,
    NULL AS destination, NULL::bigint AS fee, NULL AS end_to_end_id, NULL AS failure_reason, NULL::timestamptz AS paid_at
  FROM rm_payouts.requested WHERE created_at IS NOT NULL`;
const PIX_OUTS = `SELECT id, account_id, mode, created_at, NULL AS state, payment_id, status, amount, currency,
    destination, fee, end_to_end_id, failure_reason, paid_at
  FROM rm_payouts.pix_outs WHERE true`;
const millis = (column: string) => `(extract(epoch FROM ${column}) * 1000)::bigint`;
const COLUMNS = `id, ${millis('created_at')} AS created_ms, state, payment_id, status, amount, currency, destination, fee, end_to_end_id,
  failure_reason, ${millis('paid_at')} AS paid_ms`;

const viewOf = (row: Row): PayoutView =>
  row.state === null ? pixOutView(row) : requestedPayoutView(JSON.parse(row.state) as Payout);

const pixOutView = (row: Row): PayoutView => ({
  id: PAYOUT.idPrefix + row.id,
  object: 'payout',
  amount: toMinor(row.amount),
  currency: row.currency,
  status: row.status,
  method: 'pix',
  destination: row.destination,
  refund_id: REFUND.idPrefix + row.id,
  charge_id: PREFIX.charge + row.payment_id,
  fee: toMinor(row.fee),
  end_to_end_id: row.end_to_end_id,
  failure_reason: row.failure_reason,
  created_at: fromMillis(row.created_ms),
  paid_at: row.paid_ms === null ? null : fromMillis(row.paid_ms),
  description: null,
  metadata: {},
  awaiting_approval: false,
});

const find = async (db: Sql, { accountId, mode }: Tenant, id: PayoutId): Promise<Row | null> => {
  const own = 'AND id = $1 AND account_id = $2 AND mode = $3';
  const { rows } = await db.query<Row>({
    name: 'find_payout',
    text: `SELECT ${COLUMNS} FROM (${REQUESTED} ${own} UNION ALL ${PIX_OUTS} ${own}) p`,
    values: [id, accountId, mode],
  });
  return rows[0] ?? null;
};

/** Returns the statement of a page. `after` is the last payout of the previous page. Each table is read by index, up to the limit. */
export const listStatement = (
  { accountId, mode }: Tenant,
  { status, from, to }: PayoutFilter,
  after: { readonly id: PayoutId; readonly createdAt: Timestamp } | null,
  limit: number,
): { readonly text: string; readonly values: readonly unknown[] } => {
  const values: unknown[] = [accountId, mode];
  const of = (value: unknown): string => `$${values.push(value)}`;
  const conditions = ['', 'account_id = $1', 'mode = $2'];
  if (status !== null) conditions.push(`status = ${of(status)}`);
  if (from !== null) conditions.push(`created_at >= ${of(from)}::timestamptz`);
  if (to !== null) conditions.push(`created_at <= ${of(to)}::timestamptz`);
  if (after !== null) {
    const [at, id] = [`${of(after.createdAt)}::timestamptz`, of(after.id)];
    // The first condition lets the index scan start there.
    conditions.push(`created_at <= ${at}`, `(created_at < ${at} OR id > ${id})`);
  }
  const end = `${conditions.join(' AND ')} ORDER BY created_at DESC, id LIMIT ${of(limit)}`;
  const text = `SELECT ${COLUMNS} FROM ((${REQUESTED}${end}) UNION ALL (${PIX_OUTS}${end})) p ORDER BY created_at DESC, id LIMIT $${values.length}`;
  return { text, values };
};

export const payoutViews = (db: Sql): PayoutViews => ({
  find: async (tenant, id) => {
    const row = await find(db, tenant, id);
    return row && viewOf(row);
  },
  list: async (tenant, filter, { after, limit }) => {
    const last = after === null ? null : await find(db, tenant, after);
    if (after !== null && last === null) return null;
    const cursor = last && { id: last.id, createdAt: fromMillis(last.created_ms) };
    // Selects one more row than requested, to know whether there are more.
    const { text, values } = listStatement(tenant, filter, cursor, limit + 1);
    const { rows } = await db.query<Row>(text, [...values]);
    return { payouts: rows.slice(0, limit).map(viewOf), hasMore: rows.length > limit };
  },
});

interface OfTenant {
  readonly id: PayoutId;
  readonly account_id: AccountId;
  readonly mode: Mode;
}
const referenceOf = ({ id: payoutId, account_id: accountId, mode }: OfTenant): UnfinishedPayout => ({
  tenant: { accountId, mode },
  payoutId,
});

export const payoutReads = (db: Sql): PayoutReads => ({
  unfinished: (before, page) => unfinished(db, before, page),
  countAwaitingApproval: async () => {
    const { rows } = await db.query<{ count: number }>(
      'SELECT count(*)::bigint AS count FROM rm_payouts.requested WHERE awaits_since IS NOT NULL',
    );
    return (rows[0] as { count: number }).count;
  },
  awaitingApproval: async (accountId, limit) => {
    const { rows } = await db.query<OfTenant & { readonly state: string; readonly total: number }>(
      `SELECT id, account_id, mode, state, count(*) OVER () AS total FROM rm_payouts.requested
       WHERE awaits_since IS NOT NULL AND ($1::text IS NULL OR account_id = $1) ORDER BY awaits_since, id LIMIT $2`,
      [accountId, limit],
    );
    const payouts = rows.map(
      (row): ListedPayout => ({
        ...referenceOf(row),
        payout: requestedPayoutView(JSON.parse(row.state) as Payout),
      }),
    );
    return { payouts, total: rows[0]?.total ?? 0 };
  },
});

/** Account time is real time plus the offset of the account's test clock. */
const unfinished = (db: Sql, before: Timestamp, page: number): AsyncIterable<readonly UnfinishedPayout[]> =>
  pagesOf(
    page,
    (last: OfTenant | null) =>
      db.query<OfTenant>(
        `SELECT t.id, t.account_id, t.mode FROM rm_payouts.requested t
         LEFT JOIN operations.test_clocks c ON c.account_id = t.account_id AND t.mode = 'test'
         WHERE t.open_since IS NOT NULL AND t.open_since < $1::timestamptz + coalesce(c.offset_seconds, 0) * interval '1 s'
           AND c.draining IS NOT TRUE AND t.id > $2
         ORDER BY t.id LIMIT $3`,
        [before, last?.id ?? '', page],
      ),
    (rows) => rows.map(referenceOf),
  );
