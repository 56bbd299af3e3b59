// Counts of payments by civil day of São Paulo, currency and methods: of statistics and metrics (rules T1–T3), totals of lists, and
// analysts' views by day. Updated with the payments, whose fold knows the effect of each event. They share a table, so that a charge
// changes one row: with many accounts, each row more costs PostgreSQL a tenth of a charge.

import { saoPauloDay } from '../../domain/kernel/civilDay.ts';
import { reading } from '../../domain/kernel/eventGroups.ts';
import { secondsBetween, type Timestamp } from '../../domain/kernel/time.ts';
import { PAYMENT } from '../../domain/payment/aggregate.ts';
import { type ExistingPayment, exists, type PaymentEvent, type PaymentState } from '../../domain/payment/payment.ts';
import { takenByDispute } from '../../domain/payment/postings.ts';
import { type FunnelStage, stageOf } from '../../domain/presentation/dayCounts.ts';
import { TRANSACTION_STATUSES, type TransactionStatus } from '../../domain/presentation/status.ts';
import type { AggregateChange, AggregateRow } from '../engine/aggregateTable.ts';
import { Additions, type CounterTable, counterTable } from '../engine/counterTable.ts';

/** Counts of payments created on the day, whenever their later events happened. */
const OF_CREATED = [
  'created',
  'created_amount',
  'created_paid',
  'created_paid_amount',
  'paid_in_5_minutes',
  'paid_in_an_hour',
  'paid_in_a_day',
  'created_refunded_amount',
  'created_lost_amount',
] as const;
/** Counts of events on the day, whenever the payments were created. */
const OF_EVENTS = [
  'paid',
  'paid_amount',
  'sold_amount',
  'provider_fee',
  'platform_fee',
  'refund_fee',
  'refunded_amount',
  'lost_amount',
] as const;
type StatusCount = `now_${Lowercase<TransactionStatus>}`;
/** Payments created on the day that have the status now. */
export const statusCount = (status: TransactionStatus): StatusCount => `now_${status.toLowerCase()}` as StatusCount;

/** Payments that have reached their present stage on the day. */
export const STAGE_COUNT = {
  awaitingPayment: 'reached_awaiting_payment',
  processing: 'reached_processing',
  failed: 'reached_failed',
  expired: 'reached_expired',
  cancelled: 'reached_cancelled',
  refunded: 'reached_refunded',
  disputed: 'reached_disputed',
} as const satisfies { readonly [S in FunnelStage]: string };
export type DayCount =
  | (typeof OF_CREATED)[number]
  | (typeof OF_EVENTS)[number]
  | StatusCount
  | (typeof STAGE_COUNT)[FunnelStage];

export const DAY_COUNTS: readonly DayCount[] = [
  ...OF_CREATED,
  ...OF_EVENTS,
  ...TRANSACTION_STATUSES.map(statusCount),
  ...Object.values(STAGE_COUNT),
];

/**
 * `methods`: those offered, separated by commas. `method`: the one that paid, if several were offered; otherwise empty, as for events
 * without a method.
 */
const TABLE: CounterTable<DayCount> = {
  name: 'day_counts',
  key: ['account_id', 'mode', 'day', 'currency', 'methods', 'method'],
  counts: DAY_COUNTS,
};

type Change = AggregateChange<PaymentState, PaymentEvent>;
/** An addition to the counts of a day. `method`: the one that paid; default: none. */
type Addition = readonly [at: Timestamp, counts: { readonly [C in DayCount]?: number }, method?: string];

/** Narrows to creations, payments, refunds and losses in disputes. The remaining events change no sum (rules T1, T2). */
const isCounted = reading(PAYMENT.groups, {
  reads: ['creation', 'settlement', 'outcome', 'verdict', 'given'],
  nothing: ['TransactionRefundReleased', 'TransactionDisputeReturned'],
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

const ofEvent = (event: PaymentEvent, { charge: { terms } }: ExistingPayment): readonly Addition[] => {
  if (!isCounted(event)) return [];
  const { createdAt } = terms;
  switch (event.type) {
    case 'ChargeCreated':
      return [[createdAt, { created: 1, created_amount: terms.amount }]];
    case 'TransactionSettled': {
      const { method, incoming, providerFee, platformFee } = event.data;
      const { amount, paidAt } = incoming;
      const seconds = secondsBetween(createdAt, paidAt);
      const within = {
        paid_in_5_minutes: seconds <= 300 ? 1 : 0,
        paid_in_an_hour: seconds <= 3_600 ? 1 : 0,
        paid_in_a_day: seconds <= 86_400 ? 1 : 0,
      };
      const paid = { paid: 1, paid_amount: amount, sold_amount: terms.amount };
      return [
        [createdAt, { created_paid: 1, created_paid_amount: amount, ...within }, method],
        [paidAt, { ...paid, provider_fee: providerFee, platform_fee: platformFee }, method],
      ];
    }
    case 'TransactionRefundCompleted': {
      const { amount, fee, feePaidBy, at } = event.data;
      return [
        [createdAt, { created_refunded_amount: amount }],
        [at, { refunded_amount: amount, refund_fee: feePaidBy === 'merchant' ? fee : 0 }],
      ];
    }
    case 'TransactionDisputeSettled':
    case 'TransactionDisputeResolved':
    case 'TransactionDisputeReturnCounted': {
      const lost = takenByDispute(event);
      if (lost === 0) return [];
      return [
        [createdAt, { created_lost_amount: lost }],
        [event.data.at, { lost_amount: lost }],
      ];
    }
    default:
      return event satisfies never;
  }
};

const ofStatus = (
  { status: of, statusSince }: AggregateRow<PaymentState>,
  by: 1 | -1,
  createdAt: Timestamp,
): readonly Addition[] => {
  if (of === null) return [];
  const status = of as TransactionStatus;
  const now: Addition = [createdAt, { [statusCount(status)]: by }];
  const stage = stageOf(status);
  return stage === null || statusSince === null ? [now] : [now, [statusSince, { [STAGE_COUNT[stage]]: by }]];
};

const additionsOf = (changes: readonly Change[]): Additions<DayCount> => {
  const additions = new Additions<DayCount>();
  for (const { event, before, after } of changes) {
    const { account, mode, state } = after;
    if (!exists(state)) continue;
    const { createdAt, currency, methods } = state.charge.terms;
    const offered = [...new Set(methods)].join();
    const moves = before?.status !== after.status;
    for (const [at, counts, method = offered] of [
      ...ofEvent(event, state),
      ...(moves && before ? ofStatus(before, -1, createdAt) : []),
      ...(moves ? ofStatus(after, 1, createdAt) : []),
    ])
      additions.add([account, mode, saoPauloDay(at), currency, offered, method === offered ? '' : method], counts);
  }
  return additions;
};

export const dayCounts = counterTable(TABLE, additionsOf);

/** Returns SQL for the array of the methods that a row counts: the one that paid, or those offered. */
export const METHODS_OF_ROW = `CASE WHEN method = '' THEN string_to_array(methods, ',') ELSE ARRAY[method] END`;
/** The sum of counts as SQL, as an integer again. */
export const sumOf = (...counts: readonly DayCount[]): string => `sum(${counts.join(' + ')})::bigint`;
