// Which webhook messages a payment event sends (decisions W9), and their envelopes (interface.md Events).
import type { EventId } from '../kernel/ids.ts';
import { PREFIX } from '../kernel/ids.ts';
import type { Timestamp } from '../kernel/time.ts';
import type { ExistingPayment, PaymentEvent, PaymentState } from '../payment/payment.ts';
import { exists } from '../payment/payment.ts';
import type { WebhookFamily } from '../webhookDelivery/webhookDelivery.ts';
import { chargeView } from './charge.ts';
import { type TransactionStatus, transactionStatus } from './status.ts';

/** decisions I13. */
export const API_VERSION = '2026-11-01';

export interface Message {
  readonly type: string;
  readonly family: WebhookFamily;
  readonly at: Timestamp;
  /** The exact JSON text to send, with `eventId` as its stable id. */
  readonly render: (eventId: EventId) => string;
}

/** One transition of one payment: its state before and after the event. */
interface Transition {
  readonly before: PaymentState;
  readonly after: ExistingPayment;
  readonly at: Timestamp;
}

const canonical = (type: string, { after, at }: Transition): Message => ({
  type,
  family: 'canonical',
  at,
  render: (eventId) =>
    JSON.stringify({
      id: PREFIX.event + eventId,
      object: 'event',
      api_version: API_VERSION,
      type,
      created_at: at,
      data: { object: chargeView(after) },
    }),
});

const legacy = (event: string, transition: Transition): Message => ({
  type: event,
  family: 'legacy',
  at: transition.at,
  render: () => JSON.stringify({ event, data: legacyData(transition) }),
});

const statusBefore = ({ before, after }: Transition): TransactionStatus =>
  exists(before) ? transactionStatus(before) : transactionStatus(after);

const legacyData = (transition: Transition) => {
  const { after, at } = transition;
  const { terms } = after.charge;
  const status = transactionStatus(after);
  // payment.created: the status before is the one it was created in, not the intent's (W10).
  const previousStatus = wasJustCreated(transition) ? status : statusBefore(transition);
  const settlement = after.transaction.status === 'settled' ? after.transaction.settlement : null;
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

/** The messages of one event; none when nobody is told. `after` is `before` with the event applied. */
export const messagesOf = (before: PaymentState, event: PaymentEvent, after: PaymentState): readonly Message[] => {
  if (!exists(after)) return [];
  switch (event.type) {
    case 'ChargeCreated': // told when the instrument exists, never for a failed creation (K7)
    case 'TransactionFundsReleased':
      return [];
    case 'ChargePixIssued': {
      const transition = { before, after, at: event.data.at };
      return [canonical('charge.created', transition), legacy('payment.created', transition)];
    }
    case 'ChargeExpired': {
      const transition = { before, after, at: event.data.at };
      const told = [canonical('charge.expired', transition), legacy('payment.expired', transition)];
      return withStatusChanged(transition, [...told, legacy('payment.failed', transition)]);
    }
    case 'ChargeFailed': {
      const transition = { before, after, at: event.data.at };
      return withStatusChanged(transition, [
        canonical('charge.failed', transition),
        legacy('payment.failed', transition),
      ]);
    }
    case 'TransactionSettled': {
      const transition = { before, after, at: event.data.at };
      return withStatusChanged(transition, [
        canonical('charge.paid', transition),
        legacy('payment.completed', transition),
      ]);
    }
    case 'TransactionHeld':
    case 'TransactionReceiptRejected':
      return withStatusChanged({ before, after, at: event.data.at }, []);
    case 'TransactionReceiptReturned': {
      const transition = { before, after, at: event.data.at };
      const refunded = transactionStatus(after) === 'REFUNDED' && statusBefore(transition) !== 'REFUNDED';
      return withStatusChanged(transition, refunded ? [legacy('payment.refunded', transition)] : []);
    }
    default:
      return event satisfies never;
  }
};
