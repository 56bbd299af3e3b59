// Read model of payouts: one row per requested payout and one per Pix-out of a cash-out refund, which share one public object (rule Y2).
import { isOf, type LoggedEvent } from '../../application/ports/loggedEvent.ts';
import type { Sql } from '../../application/ports/sql.ts';
import { reading } from '../../domain/kernel/eventGroups.ts';
import { ERASED } from '../../domain/kernel/serde.ts';
import { PAYMENT } from '../../domain/payment/aggregate.ts';
import { PAYMENT_GROUPS } from '../../domain/payment/eventGroups.ts';
import type { PaymentEvent } from '../../domain/payment/payment.ts';
import { PAYOUT } from '../../domain/payout/aggregate.ts';
import type { PayoutState } from '../../domain/payout/payout.ts';
import { payoutStatus } from '../../domain/payout/presentation.ts';
import { maskedPixKey } from '../../domain/presentation/payout.ts';
import { feeOfMerchant } from '../../domain/transaction/refunds.ts';
import { aggregateTable } from '../engine/aggregateTable.ts';
import type { Projection } from '../engine/projection.ts';

const isOpen = (state: PayoutState): boolean =>
  state.status === 'ready' || state.status === 'submitted' || state.status === 'unknown';

const requested = aggregateTable({
  name: 'payouts',
  version: 7,
  aggregate: PAYOUT,
  table: 'requested',
  columns: [
    { name: 'status', type: 'text', of: (state) => (state.status === 'absent' ? null : payoutStatus(state)) },
    { name: 'created_at', type: 'timestamptz', of: (state) => (state.status === 'absent' ? null : state.requestedAt) },
    {
      name: 'awaits_since',
      type: 'timestamptz',
      of: (state) => (state.status === 'awaitingApproval' ? state.requestedAt : null),
    },
    {
      name: 'open_since',
      type: 'timestamptz',
      of: (state) => (state.status !== 'absent' && isOpen(state) ? state.requestedAt : null),
    },
  ],
  indexes: [
    { columns: 'account_id, mode, created_at DESC, id' },
    { columns: 'account_id, mode, status, created_at DESC, id' },
    { columns: 'awaits_since, id', where: 'awaits_since IS NOT NULL' },
    { columns: 'open_since, id', where: 'open_since IS NOT NULL' },
  ],
});

const movesRefund = reading(PAYMENT_GROUPS, {
  reads: ['refund', 'erasure'],
  ignores: ['demand', 'methods', 'money', 'held', 'returns', 'dispute'],
});
const IDLE: ReadonlySet<string> = new Set(movesRefund.unread);

const PIX_OUTS = (schema: string) => `
    CREATE TABLE ${schema}.pix_outs (id text COLLATE "C" PRIMARY KEY, payment_id text COLLATE "C" NOT NULL,
      account_id text COLLATE "C" NOT NULL, mode text COLLATE "C" NOT NULL, created_at timestamptz NOT NULL,
      status text COLLATE "C" NOT NULL, amount bigint NOT NULL, currency text COLLATE "C" NOT NULL,
      destination text COLLATE "C", fee bigint NOT NULL, end_to_end_id text COLLATE "C", failure_reason text COLLATE "C",
      paid_at timestamptz);
    CREATE INDEX ON ${schema}.pix_outs (account_id, mode, created_at DESC, id);
    CREATE INDEX ON ${schema}.pix_outs (account_id, mode, status, created_at DESC, id);
    CREATE INDEX ON ${schema}.pix_outs (payment_id);`;

export const payoutsProjection: Projection<'payouts'> = {
  ...requested,
  categories: ['payout', 'payment'],
  isByAccount: true,
  skips: ({ type }) => IDLE.has(type),
  tables: [...requested.tables, { name: 'pix_outs', key: ['id'] }],
  ddl: (schema) => requested.ddl(schema) + PIX_OUTS(schema),
  writer: (schema, partitions) => {
    const ofRequested = requested.writer(schema, partitions);
    return {
      reset: () => ofRequested.reset(),
      apply: async (events, tx) => {
        const payouts = events.filter((logged) => isOf(logged, PAYOUT));
        if (payouts.length > 0) await ofRequested.apply(payouts, tx);
        await writePixOuts(schema, events, tx);
      },
    };
  },
};

type OfPayment = LoggedEvent & { readonly event: PaymentEvent };
type Reserved = Extract<PaymentEvent, { type: 'TransactionRefundReserved' }>;
type Ended = Extract<PaymentEvent, { type: 'TransactionRefundCompleted' | 'TransactionRefundReleased' }>;

const writePixOuts = async (schema: string, events: readonly LoggedEvent[], tx: Sql): Promise<void> => {
  const begun: [OfPayment, Reserved['data']][] = [];
  const ended: Ended[] = [];
  const erased: string[] = [];
  for (const logged of events) {
    if (!isOf(logged, PAYMENT)) continue;
    const { event } = logged;
    if (!movesRefund(event)) continue;
    if (event.type === 'PaymentPersonalDataErased') erased.push(logged.subject);
    else if (event.type !== 'TransactionRefundReserved') ended.push(event);
    else if (event.data.strategy === 'cashout') begun.push([logged, event.data]);
  }
  if (begun.length > 0) await insert(schema, begun, tx);
  if (ended.length > 0) await end(schema, ended, tx);
  // Refunds of an erased payment are rejected, so its erasure comes after them.
  if (erased.length > 0)
    await tx.query(
      `UPDATE ${schema}.pix_outs SET destination = NULL, failure_reason = CASE WHEN failure_reason IS NOT NULL THEN '${ERASED}' END
       WHERE payment_id = ANY($1::text[])`,
      [erased],
    );
};

const insert = (schema: string, rows: readonly (readonly [OfPayment, Reserved['data']])[], tx: Sql) =>
  tx.query(
    `INSERT INTO ${schema}.pix_outs (id, payment_id, account_id, mode, created_at, status, amount, currency, destination, fee)
     SELECT id, payment_id, account_id, mode, created_at, 'pending', amount, currency, destination, fee
     FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::timestamptz[], $6::bigint[], $7::text[], $8::text[], $9::bigint[])
       AS v(id, payment_id, account_id, mode, created_at, amount, currency, destination, fee)
     ON CONFLICT (id) DO NOTHING`,
    [
      rows.map(([, { refundId }]) => refundId),
      rows.map(([{ subject }]) => subject),
      rows.map(([{ account }]) => account),
      rows.map(([{ mode }]) => mode),
      rows.map(([, { at }]) => at),
      rows.map(([, { amount }]) => amount),
      rows.map(([, { currency }]) => currency),
      rows.map(([, { namedByMerchant, destination }]) =>
        namedByMerchant && destination !== null ? maskedPixKey(destination) : null,
      ),
      rows.map(([, data]) => feeOfMerchant(data)),
    ],
  );

/** Records the end of Pix-outs. Refunds that are not cash-outs have no row. */
const end = (schema: string, events: readonly Ended[], tx: Sql) =>
  tx.query(
    `UPDATE ${schema}.pix_outs p SET status = v.status, end_to_end_id = v.end_to_end_id, failure_reason = v.failure_reason, paid_at = v.paid_at
     FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::timestamptz[]) AS v(id, status, end_to_end_id, failure_reason, paid_at)
     WHERE p.id = v.id AND p.status = 'pending'`,
    [
      events.map(({ data }) => data.refundId),
      events.map(({ type }) => (type === 'TransactionRefundCompleted' ? 'paid' : 'failed')),
      events.map((event) => (event.type === 'TransactionRefundCompleted' ? event.data.endToEndId : null)),
      events.map((event) => (event.type === 'TransactionRefundReleased' ? event.data.reason : null)),
      events.map((event) => (event.type === 'TransactionRefundCompleted' ? event.data.at : null)),
    ],
  );
