// The webhook messages of payment events (rule W9), and their envelopes (contract.md Events).
import { reading } from '../kernel/eventGroups.ts';
import { type PaymentId, PREFIX } from '../kernel/ids.ts';
import { type Minor, ZERO } from '../kernel/money.ts';
import type { Message, Publisher } from '../kernel/publisher.ts';
import type { Timestamp } from '../kernel/time.ts';
import { PAYMENT_GROUPS } from '../payment/eventGroups.ts';
import { type ExistingPayment, exists, type PaymentEvent, type PaymentState } from '../payment/payment.ts';
import { REFUND } from '../refund/refund.ts';
import { refundedAmount } from '../transaction/refunds.ts';
import { chargeView } from './charge.ts';
import { canonicalEvents, canonicalMessage, legacyEvents, legacyMessage } from './envelope.ts';
import { CASE_EVENTS, caseMessages, resolutionMessages } from './medCase.ts';
import { PAYOUT_EVENTS } from './payout.ts';
import { payoutMessages } from './payoutMessages.ts';
import { amountRefunded, type TransactionStatus, transactionStatus } from './status.ts';

/** One transition of one payment: its state before and after the event. */
interface Transition {
  readonly before: PaymentState;
  readonly after: ExistingPayment;
  readonly at: Timestamp;
}

const canonical = (type: string, { after, at }: Transition): Message =>
  canonicalMessage(type, at, () => chargeView(after));
const legacy = (event: string, transition: Transition): Message =>
  legacyMessage(event, transition.at, () => legacyData(transition));
/** `payment.refunded`: `amount` is the payment's, as in all messages; the refunded amount is a separate field (W9b). */
const refundedMessage = (transition: Transition, back: Refunded): Message =>
  legacyMessage('payment.refunded', transition.at, () => legacyData(transition, back));

interface Refunded {
  /** null for a payer-lock return, which is not a requested refund. */
  readonly refundId: string | null;
  readonly refundedAmount: Minor;
  /** Includes all earlier refunds. */
  readonly refundedTotal: Minor;
}

const statusBefore = ({ before, after }: Transition): TransactionStatus =>
  exists(before) ? transactionStatus(before) : transactionStatus(after);

const legacyData = (transition: Transition, back: Refunded | null = null) => {
  const { after, at } = transition;
  const { terms } = after.charge;
  const status = transactionStatus(after);
  // For payment.created, the previous status is the one at creation, not the status before the event (W10).
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

/** Adds `payment.status_changed`, which accompanies every change of status except the creation (W9, W9a). */
const withStatusChanged = (transition: Transition, messages: readonly Message[]): readonly Message[] =>
  statusBefore(transition) === transactionStatus(transition.after)
    ? messages
    : [...messages, legacy('payment.status_changed', transition)];

/** Narrows to events that may publish messages; the others are internal. */
export const isPublished = reading(PAYMENT_GROUPS, {
  reads: [
    'cancellation',
    'end',
    'issued',
    'attempts',
    'settlement',
    'hold',
    'rejection',
    'back',
    'outside',
    'gone',
    'refund',
    'case',
    'verdict',
  ],
  nothing: ['ChargeCancelRequested', 'ChargeInstrumentRefused'],
  ignores: [
    'creation', // published when the instrument exists, never for a failed creation (K7)
    'resend',
    'routing', // it resends the messages of another event
    'release',
    'approval',
    'order', // only operators are notified, because they decide
    'payout', // the Pix-out of an operator, which is not the merchant's payout
    'late',
    'given',
    'erasure',
  ],
});

/** Returns the messages of an event; none if the event is internal. `after` is `before` with the event applied. */
export const messagesOf = (before: PaymentState, event: PaymentEvent, after: PaymentState): readonly Message[] => {
  if (!exists(after) || !isPublished(event)) return [];
  const changed = (at: Timestamp): Transition => ({ before, after, at });
  switch (event.type) {
    case 'ChargePixIssued':
    case 'ChargeInstrumentIssued':
      return createdMessages(changed(event.data.at));
    case 'ChargeExpired':
      return endMessages(changed(event.data.at), 'charge.expired', 'payment.expired', 'payment.failed');
    case 'ChargeFailed':
      return endMessages(changed(event.data.at), 'charge.failed', 'payment.failed');
    case 'ChargeCancelled':
    case 'TransactionHeldRejected':
      return cancelledMessages(changed(event.data.at));
    case 'TransactionRefused':
      return event.data.isFinal
        ? endMessages(changed(event.data.at), 'charge.failed', 'payment.failed')
        : withStatusChanged(changed(event.data.at), []);
    case 'TransactionSettled':
      return endMessages(changed(event.data.at), 'charge.paid', 'payment.completed');
    case 'TransactionProcessing':
    case 'TransactionHeld':
    case 'TransactionPaymentRejected':
      return withStatusChanged(changed(event.data.at), []);
    case 'TransactionPaymentReturned':
    case 'TransactionReturnedOutside':
    case 'TransactionHeldPayoutPaid':
    case 'TransactionHeldWrittenOff': {
      const transition = changed(event.data.at);
      const refunded = transactionStatus(after) === 'REFUNDED' && statusBefore(transition) !== 'REFUNDED';
      // The payer has the full amount, in one part or several.
      const amount = amountRefunded(after);
      const back = { refundId: null, refundedAmount: amount, refundedTotal: amount };
      return withStatusChanged(transition, refunded ? [refundedMessage(transition, back)] : []);
    }
    case 'TransactionDisputeOpened':
    case 'TransactionDisputeSettled': {
      const transition = changed(event.data.at);
      // A mismatch changes nothing until it is settled (Q1).
      const hasChanged = statusBefore(transition) !== transactionStatus(after);
      return withStatusChanged(transition, hasChanged ? [legacy('payment.failed', transition)] : []);
    }
    case 'TransactionDisputeUpdated':
      return caseMessages(event.data, after.charge.terms.paymentId);
    case 'TransactionDisputeResolved':
      return withStatusChanged(changed(event.data.at), resolutionMessages(event.data, after.charge.terms.paymentId));
    case 'TransactionRefundReserved':
      return payoutMessages(changed(event.data.at), event.data.refundId, 'created');
    case 'TransactionRefundCompleted': {
      const transition = changed(event.data.at);
      const { refundId, amount } = event.data;
      const refundedTotal = after.transaction.status === 'settled' ? refundedAmount(after.transaction.refunds) : ZERO;
      const back = { refundId: REFUND.idPrefix + refundId, refundedAmount: amount, refundedTotal };
      return [
        ...withStatusChanged(transition, [refundedMessage(transition, back)]),
        ...payoutMessages(transition, refundId, 'paid'),
      ];
    }
    case 'TransactionRefundReleased':
      return payoutMessages(changed(event.data.at), event.data.refundId, 'failed');
    default:
      return event satisfies never;
  }
};

/** Returns whether a resend includes the message (W8): those of the payment's new status, except `payment.status_changed`. */
const isResent = ({ type }: Pick<Message, 'type'>): boolean => RESENT.test(type) && type !== 'payment.status_changed';
/** Payouts have their own status. */
const RESENT = /^(charge|payment)\./;

/** Returns the messages of an event that a resend includes. */
export const resentMessagesOf = (before: PaymentState, event: PaymentEvent, after: PaymentState): readonly Message[] =>
  messagesOf(before, event, after).filter(isResent);

/** The first instrument publishes the creation; later instruments of other methods publish nothing. */
const createdMessages = (transition: Transition): readonly Message[] =>
  wasJustCreated(transition) ? [canonical('charge.created', transition), legacy('payment.created', transition)] : [];

/** A cancelled payment with a held Pix publishes this only when the Pix is being returned; until then it shows as processing (M5). */
const cancelledMessages = (transition: Transition): readonly Message[] =>
  transactionStatus(transition.after) === 'CANCELLED' ? endMessages(transition, 'charge.failed', 'payment.failed') : [];

const endMessages = (transition: Transition, current: string, ...legacies: readonly string[]): readonly Message[] =>
  withStatusChanged(transition, [
    canonical(current, transition),
    ...legacies.map((event) => legacy(event, transition)),
  ]);

const CREATED = ['charge.created', 'payment.created'];
/** Nearly all events of payments are of these types. */
const NAMES_OF_FREQUENT: { readonly [Type in PaymentEvent['type']]?: readonly string[] } = {
  ChargePixIssued: CREATED,
  ChargeInstrumentIssued: CREATED,
  ChargeExpired: ['charge.expired', 'payment.expired', 'payment.failed', 'payment.status_changed'],
  TransactionSettled: ['charge.paid', 'payment.completed', 'payment.status_changed'],
};

export const paymentPublisher: Publisher<PaymentState, PaymentEvent> = {
  catalogue: [
    ...canonicalEvents({
      'charge.created': 'Charge created, Pix data generated, awaiting payment.',
      'charge.paid': 'Charge paid and confirmed.',
      'charge.failed': 'Charge failed or was cancelled.',
      'charge.expired': 'Charge expired without payment.',
    }),
    ...legacyEvents({
      'payment.created': 'Payment created.',
      'payment.completed': 'Payment settled (PAID or APPROVED).',
      'payment.failed': 'Payment refused, cancelled, expired, charged back or disputed.',
      'payment.expired': 'Payment expired without being paid.',
      'payment.refunded': 'A refund was confirmed.',
      'payment.status_changed': 'The status of a payment changed.',
    }),
    ...PAYOUT_EVENTS, // of cash-out refunds
    ...CASE_EVENTS,
  ],
  isPublished: (event) => (event.type === 'ChargeWebhookResendRequested' ? event.data.isWanted : isPublished(event)),
  namesOf: ({ type }) => NAMES_OF_FREQUENT[type] ?? null,
  messagesOf,
  againOf: (event) => {
    if (event.type !== 'ChargeWebhookResendRequested') return null;
    const { ofRevision, number, at } = event.data;
    return { ofRevision, number, at, includes: isResent };
  },
  urlOf: (state) => (exists(state) ? state.charge.terms.webhookUrl : null),
  paymentOf: (subject) => subject as PaymentId,
};
