// Which webhook messages a payment event sends (rule W9), and their envelopes (contract.md Events).
import { PREFIX } from '../kernel/ids.ts';
import { type Minor, ZERO } from '../kernel/money.ts';
import type { Timestamp } from '../kernel/time.ts';
import type { ExistingPayment, PaymentEvent, PaymentState } from '../payment/payment.ts';
import { exists } from '../payment/payment.ts';
import { refundedAmount } from '../transaction/refunds.ts';
import { chargeView } from './charge.ts';
import { canonicalMessage, legacyMessage, type Message } from './envelope.ts';
import { payoutMessages } from './payoutMessages.ts';
import { type TransactionStatus, transactionStatus } from './status.ts';

/** One transition of one payment: its state before and after the event. */
export interface Transition {
  readonly before: PaymentState;
  readonly after: ExistingPayment;
  readonly at: Timestamp;
}

const canonical = (type: string, { after, at }: Transition): Message =>
  canonicalMessage(type, at, () => chargeView(after));
const legacy = (event: string, transition: Transition): Message =>
  legacyMessage(event, transition.at, () => legacyData(transition));
/** `payment.refunded`: `amount` is the payment's as in all the others, so it tells what went back beside it (W9b). */
const refundedMessage = (transition: Transition, back: Refunded): Message =>
  legacyMessage('payment.refunded', transition.at, () => legacyData(transition, back));

interface Refunded {
  /** null: a payer-lock return, which nobody asked for as a refund. */
  readonly refundId: string | null;
  readonly refundedAmount: Minor;
  /** With all that went back before. */
  readonly refundedTotal: Minor;
}

const statusBefore = ({ before, after }: Transition): TransactionStatus =>
  exists(before) ? transactionStatus(before) : transactionStatus(after);

const legacyData = (transition: Transition, back: Refunded | null = null) => {
  const { after, at } = transition;
  const { terms } = after.charge;
  const status = transactionStatus(after);
  // payment.created: the status before is the one it was created in, not the intent's (W10).
  const previousStatus = wasJustCreated(transition) ? status : statusBefore(transition);
  const isPaid = status === 'PAID' || status === 'APPROVED';
  const settlement = isPaid && after.transaction.status === 'settled' ? after.transaction.settlement : null;
  return {
    transactionId: PREFIX.transaction + terms.paymentId,
    amount: terms.amount,
    status,
    previousStatus,
    ...(settlement && {
      paidWith: settlement.method,
      providerFee: settlement.providerFee,
      platformFee: settlement.platformFee,
      netAmount: settlement.netAmount,
    }),
    ...back,
    occurredAt: at,
    ...(terms.customerId !== null && { customerId: terms.customerId }),
  };
};

const wasJustCreated = ({ before, after }: Transition): boolean =>
  (!exists(before) || before.charge.status === 'requested') && after.charge.status === 'open';

/** `payment.status_changed` goes with every change of status but the creation (W9, W9a). */
const withStatusChanged = (transition: Transition, messages: readonly Message[]): readonly Message[] =>
  statusBefore(transition) === transactionStatus(transition.after)
    ? messages
    : [...messages, legacy('payment.status_changed', transition)];

const UNTOLD = [
  'ChargeCreated', // told when the instrument exists, never for a failed creation (K7)
  'ChargeInstrumentRefused',
  'ChargeCancelRequested',
  'ChargeWebhookResendRequested', // it has another event told again
  'TransactionHeldReleased',
  'TransactionReturnRefused', // the operators are told: it is theirs to decide
  'TransactionReturnRetried',
  'TransactionFundsReleased',
  'TransactionDisputeHoldIncreased',
] as const satisfies readonly PaymentEvent['type'][];
const UNTOLD_TYPES: ReadonlySet<string> = new Set(UNTOLD);

/** An event that nobody is ever told of. */
export const isUntold = (event: PaymentEvent): event is Extract<PaymentEvent, { type: (typeof UNTOLD)[number] }> =>
  UNTOLD_TYPES.has(event.type);

/** The messages of one event; none when nobody is told. `after` is `before` with the event applied. */
export const messagesOf = (before: PaymentState, event: PaymentEvent, after: PaymentState): readonly Message[] => {
  if (!exists(after) || isUntold(event)) return [];
  const transition = (at: Timestamp): Transition => ({ before, after, at });
  switch (event.type) {
    case 'ChargePixIssued':
    case 'ChargeInstrumentIssued':
      return createdMessages(transition(event.data.at));
    case 'ChargeExpired':
      return endMessages(transition(event.data.at), 'charge.expired', 'payment.expired', 'payment.failed');
    case 'ChargeFailed':
      return endMessages(transition(event.data.at), 'charge.failed', 'payment.failed');
    case 'ChargeCancelled':
    case 'TransactionHeldRejected':
      return cancelledMessages(transition(event.data.at));
    case 'TransactionRefused':
      return event.data.isFinal
        ? endMessages(transition(event.data.at), 'charge.failed', 'payment.failed')
        : withStatusChanged(transition(event.data.at), []);
    case 'TransactionSettled':
      return endMessages(transition(event.data.at), 'charge.paid', 'payment.completed');
    case 'TransactionProcessing':
    case 'TransactionHeld':
    case 'TransactionPaymentRejected':
      return withStatusChanged(transition(event.data.at), []);
    case 'TransactionPaymentReturned': {
      const told = transition(event.data.at);
      const refunded = transactionStatus(after) === 'REFUNDED' && statusBefore(told) !== 'REFUNDED';
      const { amount } = event.data;
      const back = { refundId: null, refundedAmount: amount, refundedTotal: amount };
      return withStatusChanged(told, refunded ? [refundedMessage(told, back)] : []);
    }
    case 'TransactionDisputeOpened': {
      const told = transition(event.data.at);
      return withStatusChanged(told, [legacy('payment.failed', told)]);
    }
    case 'TransactionRefundReserved':
      return payoutMessages(transition(event.data.at), event.data.refundId, 'created');
    case 'TransactionRefundCompleted': {
      const told = transition(event.data.at);
      const { refundId, amount } = event.data;
      const refundedTotal = after.transaction.status === 'settled' ? refundedAmount(after.transaction.refunds) : ZERO;
      const back = { refundId: PREFIX.refund + refundId, refundedAmount: amount, refundedTotal };
      return [...withStatusChanged(told, [refundedMessage(told, back)]), ...payoutMessages(told, refundId, 'paid')];
    }
    case 'TransactionRefundReleased':
      return payoutMessages(transition(event.data.at), event.data.refundId, 'failed');
    default:
      return event satisfies never;
  }
};

/** Those that tell of the payment's new status, without the alias that goes with every change: what is sent again (W8). */
export const resentMessagesOf = (before: PaymentState, event: PaymentEvent, after: PaymentState): readonly Message[] =>
  messagesOf(before, event, after).filter(({ type }) => RESENT.test(type) && type !== 'payment.status_changed');
/** Payouts have a status of their own. */
const RESENT = /^(charge|payment)\./;

/** With the first instrument; those of other methods that come later are told to nobody. */
const createdMessages = (told: Transition): readonly Message[] =>
  wasJustCreated(told) ? [canonical('charge.created', told), legacy('payment.created', told)] : [];

/** Of a cancelled payment with a held Pix, only once that is on its way back: until then it reads as being processed (M5). */
const cancelledMessages = (told: Transition): readonly Message[] =>
  transactionStatus(told.after) === 'CANCELLED' ? endMessages(told, 'charge.failed', 'payment.failed') : [];

const endMessages = (told: Transition, current: string, ...legacies: readonly string[]): readonly Message[] =>
  withStatusChanged(told, [canonical(current, told), ...legacies.map((event) => legacy(event, told))]);
