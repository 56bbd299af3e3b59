// Daily counts for statistics and metrics, by civil day of São Paulo and currency (rules T1–T3). Updated with the payments, whose fold
// knows the effect of each event.

import { saoPauloDay } from '../../domain/kernel/civilDay.ts';
import { reading } from '../../domain/kernel/eventGroups.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import { PAYMENT } from '../../domain/payment/aggregate.ts';
import { type ExistingPayment, exists, type PaymentEvent, type PaymentState } from '../../domain/payment/payment.ts';
import { takenByDispute } from '../../domain/payment/postings.ts';
import { stageOf } from '../../domain/presentation/dayCounts.ts';
import type { TransactionStatus } from '../../domain/presentation/status.ts';
import type { AggregateChange, AggregateRow } from '../engine/aggregateTable.ts';
import { Additions, type CounterTable, counterTable } from '../engine/counterTable.ts';

const STAGE_COLUMN = {
  awaitingPayment: 'awaiting_payment',
  processing: 'processing',
  failed: 'failed',
  expired: 'expired',
  cancelled: 'cancelled',
  refunded: 'refunded',
  disputed: 'disputed',
} as const;
type StageColumn = (typeof STAGE_COLUMN)[keyof typeof STAGE_COLUMN];
type Count =
  | 'created'
  | 'created_amount'
  | 'created_paid'
  | 'paid'
  | 'paid_amount'
  | 'fees'
  | 'refunded_amount'
  | 'lost_amount'
  | StageColumn;

/** `method` is empty in the row of all methods. */
const TABLE: CounterTable<Count> = {
  name: 'day_counts',
  key: ['account_id', 'mode', 'day', 'currency', 'method'],
  counts: [
    'created',
    'created_amount',
    'created_paid',
    'paid',
    'paid_amount',
    'fees',
    'refunded_amount',
    'lost_amount',
    ...Object.values(STAGE_COLUMN),
  ],
};

type Change = AggregateChange<PaymentState, PaymentEvent>;
type Add = (at: Timestamp, method: string, additions: { readonly [C in Count]?: number }) => void;

/**
 * Narrows to creations, payments, refunds and losses in disputes. Stages are counted from statuses instead; the remaining events change
 * none of these sums (rules T1, T2).
 */
const isCounted = reading(PAYMENT.groups, {
  reads: ['creation', 'settlement', 'outcome', 'verdict'],
  nothing: ['TransactionRefundReleased'],
  ignores: [
    'cancellation',
    'end',
    'resend',
    'routing',
    'methods',
    'release',
    'held',
    'returns',
    'reservation',
    'case',
    'erasure',
  ],
});

const countEvent = (event: PaymentEvent, { charge: { terms } }: ExistingPayment, add: Add): void => {
  if (!isCounted(event)) return;
  switch (event.type) {
    case 'ChargeCreated': {
      add(terms.createdAt, '', { created: 1, created_amount: terms.amount });
      for (const method of new Set(terms.methods)) add(terms.createdAt, method, { created: 1 });
      return;
    }
    case 'TransactionSettled': {
      const { method, incoming, providerFee, platformFee } = event.data;
      const paid = { paid: 1, paid_amount: incoming.amount };
      add(incoming.paidAt, '', { ...paid, fees: providerFee + platformFee });
      add(incoming.paidAt, method, paid);
      for (const one of ['', method]) add(terms.createdAt, one, { created_paid: 1 });
      return;
    }
    case 'TransactionRefundCompleted': {
      const { amount, fee, feePaidBy, at } = event.data;
      add(at, '', { refunded_amount: amount, fees: feePaidBy === 'merchant' ? fee : 0 });
      return;
    }
    case 'TransactionDisputeSettled':
    case 'TransactionDisputeResolved': {
      const lost = takenByDispute(event);
      if (lost > 0) add(event.data.at, '', { lost_amount: lost });
      return;
    }
    default:
      event satisfies never;
  }
};

const countStage = ({ status, statusSince }: AggregateRow<PaymentState>, by: 1 | -1, add: Add): void => {
  const stage = status === null ? null : stageOf(status as TransactionStatus);
  if (stage !== null && statusSince !== null) add(statusSince, '', { [STAGE_COLUMN[stage]]: by });
};

const additionsOf = (changes: readonly Change[]): Additions<Count> => {
  const additions = new Additions<Count>();
  for (const { event, before, after } of changes) {
    const { account, mode, state } = after;
    if (!exists(state)) continue;
    const { currency } = state.charge.terms;
    const add: Add = (at, method, counts) => additions.add([account, mode, saoPauloDay(at), currency, method], counts);
    countEvent(event, state, add);
    if (before?.status === after.status) continue;
    if (before) countStage(before, -1, add);
    countStage(after, 1, add);
  }
  return additions;
};

export const dayCounts = counterTable(TABLE, additionsOf);
