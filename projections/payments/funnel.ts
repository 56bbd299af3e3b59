// The funnel of each day's payments, for analysts: what became of the payments created on a civil day of São Paulo, by currency and offered
// methods. Updated with the payments, whose fold knows the effect of each event. In every row, `created` is the sum of the stages.
import { saoPauloDay } from '../../domain/kernel/civilDay.ts';
import { reading } from '../../domain/kernel/eventGroups.ts';
import { secondsBetween } from '../../domain/kernel/time.ts';
import { PAYMENT } from '../../domain/payment/aggregate.ts';
import { type ExistingPayment, exists, type PaymentEvent, type PaymentState } from '../../domain/payment/payment.ts';
import { takenByDispute } from '../../domain/payment/postings.ts';
import type { TransactionStatus } from '../../domain/presentation/status.ts';
import type { AggregateChange } from '../engine/aggregateTable.ts';
import { Additions, type CounterTable, counterTable } from '../engine/counterTable.ts';

const STAGE_OF = {
  PENDING: 'waiting',
  WAITING_PAYMENT: 'waiting',
  PROCESSING: 'processing',
  PAID: 'kept',
  APPROVED: 'kept',
  REFUSED: 'failed',
  CANCELLED: 'cancelled',
  EXPIRED: 'expired',
  REFUNDED: 'refunded',
  CHARGEBACK: 'disputed',
  DISPUTE: 'disputed',
} as const satisfies { readonly [S in TransactionStatus]: string };
type Stage = (typeof STAGE_OF)[TransactionStatus];
export const FUNNEL_STAGES = [...new Set<Stage>(Object.values(STAGE_OF))];

const SUMS = [
  'created',
  'created_amount',
  'paid',
  'paid_amount',
  'paid_in_5_minutes',
  'paid_in_an_hour',
  'paid_in_a_day',
  'refunded_amount',
  'lost_amount',
] as const;
type Count = (typeof SUMS)[number] | Stage;

const TABLE: CounterTable<Count> = {
  name: 'funnel',
  key: ['account_id', 'mode', 'day', 'currency', 'methods'],
  counts: [...SUMS, ...FUNNEL_STAGES],
};

/** Narrows to creations, settlements, refunds and verdicts. The stages are counted from statuses. */
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

type Counts = { readonly [C in Count]?: number };

const countsOf = (event: PaymentEvent, { charge: { terms } }: ExistingPayment): Counts => {
  if (!isCounted(event)) return {};
  switch (event.type) {
    case 'ChargeCreated':
      return { created: 1, created_amount: terms.amount };
    case 'TransactionSettled': {
      const { amount, paidAt } = event.data.incoming;
      const seconds = secondsBetween(terms.createdAt, paidAt);
      return {
        paid: 1,
        paid_amount: amount,
        paid_in_5_minutes: seconds <= 300 ? 1 : 0,
        paid_in_an_hour: seconds <= 3_600 ? 1 : 0,
        paid_in_a_day: seconds <= 86_400 ? 1 : 0,
      };
    }
    case 'TransactionRefundCompleted':
      return { refunded_amount: event.data.amount };
    case 'TransactionDisputeSettled':
    case 'TransactionDisputeResolved':
      return { lost_amount: takenByDispute(event) };
    default:
      return event satisfies never;
  }
};

const stageOf = (status: string | null): Stage | null =>
  status === null ? null : STAGE_OF[status as TransactionStatus];

const additionsOf = (changes: readonly AggregateChange<PaymentState, PaymentEvent>[]): Additions<Count> => {
  const additions = new Additions<Count>();
  for (const { event, before, after } of changes) {
    const { account, mode, state } = after;
    if (!exists(state)) continue;
    const { createdAt, currency, methods } = state.charge.terms;
    const [from, to] = [stageOf(before?.status ?? null), stageOf(after.status)];
    const counts = countsOf(event, state);
    if (from === to && !isCounted(event)) continue;
    additions.add([account, mode, saoPauloDay(createdAt), currency, methods.join()], {
      ...counts,
      ...(from !== to && { ...(from && { [from]: -1 }), ...(to && { [to]: 1 }) }),
    });
  }
  return additions;
};

export const funnel = counterTable(TABLE, additionsOf);
