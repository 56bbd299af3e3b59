// What the events of a payment post to the ledger.
import { reading } from '../kernel/eventGroups.ts';
import type { PaymentId } from '../kernel/ids.ts';
import { entry, type JournalEntry, type LedgerAccount, type Postings, type TrancheChange } from '../kernel/journal.ts';
import { add, type Minor, negate, subtract, ZERO } from '../kernel/money.ts';
import type { Timestamp } from '../kernel/time.ts';
import type {
  TransactionDisputeResolved,
  TransactionDisputeReturned,
  TransactionDisputeSettled,
} from '../transaction/disputes.ts';
import { feeOfMerchant } from '../transaction/refunds.ts';
import { PAYMENT_GROUPS } from './eventGroups.ts';
import type { PaymentEvent } from './payment.ts';

/** Narrows to the events that move money. The ignored ones say how far a charge, a refund or a dispute is, and move none themselves. */
export const movesMoney = reading(PAYMENT_GROUPS, {
  reads: ['money', 'held', 'back', 'gone', 'late', 'refund', 'dispute'],
  nothing: ['TransactionHeldRejected', 'TransactionDisputeUpdated'],
  ignores: ['demand', 'methods', 'order', 'payout'],
});

interface Move {
  readonly amount: Minor;
  readonly currency: string;
  readonly at: Timestamp;
}
const moved = ({ amount, currency, at }: Move, from: LedgerAccount, to: LedgerAccount): JournalEntry =>
  entry(at, currency, [
    [from, negate(amount)],
    [to, amount],
  ]);

/** The postings of an event, summing to zero per currency; null when it moves no money. */
export const journalEntry = (event: PaymentEvent): JournalEntry | null => {
  if (!movesMoney(event)) return null;
  switch (event.type) {
    case 'TransactionSettled': {
      const { incoming, netAmount, providerFee, platformFee, currency, availableAt, at } = event.data;
      const merchant = availableAt === null ? 'merchant_available' : 'merchant_pending';
      return entry(at, currency, [
        ['provider_clearing', negate(incoming.amount)],
        [merchant, netAmount],
        ['provider_fees', providerFee],
        ['platform_fees', platformFee],
      ]);
    }
    case 'TransactionFundsReleased':
      return moved(event.data, 'merchant_pending', 'merchant_available');
    // Money that is not the merchant's: owed to the payer until it has gone back.
    case 'TransactionHeld':
    case 'TransactionPaymentRejected':
      return moved({ ...event.data, amount: event.data.incoming.amount }, 'provider_clearing', 'payer_returns');
    // A held one that an operator let pass is credited in the same append, as if it had just arrived.
    case 'TransactionHeldReleased':
    case 'TransactionPaymentReturned':
      return moved(event.data, 'payer_returns', 'provider_clearing');
    // It leaves the wallet when it is requested, with the fee of its Pix-out when the merchant bears it (M1, M6).
    case 'TransactionRefundReserved':
      return moved(withFee(event.data), 'merchant_available', 'refunds_in_transit');
    case 'TransactionRefundReleased':
      return moved(withFee(event.data), 'refunds_in_transit', 'merchant_available');
    case 'TransactionRefundCompleted': {
      const { amount, currency, fee, at } = event.data;
      const ofMerchant = feeOfMerchant(event.data);
      return entry(at, currency, [
        ['refunds_in_transit', negate(add(amount, ofMerchant))],
        ['provider_clearing', amount],
        ['provider_fees', fee],
        ['platform_fees', negate(subtract(fee, ofMerchant))],
      ]);
    }
    // Paid out to the payer in place of a refused return, or confirmed after the refusal. The platform bears the fee (M10).
    case 'TransactionHeldPayoutPaid':
    case 'TransactionReturnConfirmedLate':
    case 'TransactionRefundConfirmedLate': {
      const { amount, currency, fee, at } = event.data;
      return entry(at, currency, [
        ['payer_returns', negate(amount)],
        ['provider_clearing', amount],
        ['provider_fees', fee],
        ['platform_fees', negate(fee)],
      ]);
    }
    case 'TransactionHeldWrittenOff':
      return moved(event.data, 'payer_returns', 'platform_fees');
    case 'TransactionLateConfirmationWrittenOff': {
      const { amount, currency, at } = event.data;
      return entry(at, currency, [
        ['payer_returns', amount],
        ['platform_fees', negate(amount)],
      ]);
    }
    case 'TransactionDisputeOpened':
      return moved(event.data, 'merchant_available', 'merchant_retained');
    case 'TransactionDisputeSettled':
    case 'TransactionDisputeResolved':
    case 'TransactionDisputeReturned':
      return disputeEntry(event);
    default:
      return event satisfies never;
  }
};

/** The amount that a refund takes from the merchant, the fee of a Pix-out that it bears included. */
const withFee = (refund: Move & Parameters<typeof feeOfMerchant>[0]): Move => ({
  ...refund,
  amount: add(refund.amount, feeOfMerchant(refund)),
});

/** What a dispute took stays on its own account until the bank has given it to the payer. A rest is the platform's gain or loss (Q11). */
const disputeEntry = (
  event: TransactionDisputeSettled | TransactionDisputeResolved | TransactionDisputeReturned,
): JournalEntry => {
  const { data } = event;
  if (event.type === 'TransactionDisputeReturned') return moved(data, 'disputes', 'provider_clearing');
  if (event.type === 'TransactionDisputeSettled')
    return moved(data, 'merchant_available', event.data.verdict === 'held' ? 'merchant_retained' : 'disputes');
  const isBack = event.data.moneyOutcome === 'refunded_to_merchant';
  return moved(data, 'merchant_retained', isBack ? 'merchant_available' : 'disputes');
};

type MoneyEvent = Extract<PaymentEvent, { readonly type: (typeof movesMoney.types)[number] }>;

/** Why money moved. */
const WHY: { readonly [Type in MoneyEvent['type']]: (event: Extract<MoneyEvent, { type: Type }>) => string } = {
  TransactionSettled: ({ data }) => `the payer paid by ${data.method} (${data.incoming.providerPaymentId})`,
  TransactionFundsReleased: () => 'the hold on settled money ended',
  TransactionHeld: ({ data }) => `held for review (${data.incoming.providerPaymentId})`,
  TransactionHeldReleased: ({ data }) => `${data.by} let the held Pix pass`,
  TransactionPaymentRejected: ({ data }) => `must not be credited: ${data.reason} (${data.incoming.providerPaymentId})`,
  TransactionPaymentReturned: ({ data }) => `went back to the payer (${data.providerPaymentId})`,
  TransactionHeldPayoutPaid: ({ data }) => `paid out in place of a refused return (${data.providerPaymentId})`,
  TransactionHeldWrittenOff: ({ data }) => `${data.by} wrote off a refused return (${data.providerPaymentId})`,
  TransactionReturnConfirmedLate: ({ data }) => `the provider confirmed it after refusing it (${data.id})`,
  TransactionRefundConfirmedLate: ({ data }) => `refund rf_${data.refundId} was confirmed after it had failed`,
  TransactionLateConfirmationWrittenOff: ({ data }) => `${data.by} wrote off a late confirmation (${data.id})`,
  TransactionRefundReserved: ({ data }) => `refund rf_${data.refundId} was requested`,
  TransactionRefundCompleted: ({ data }) => `refund rf_${data.refundId} reached the payer`,
  TransactionRefundReleased: ({ data }) => `refund rf_${data.refundId} failed: ${data.reason}`,
  TransactionDisputeOpened: ({ data }) => `${data.kind.toLowerCase()} opened`,
  TransactionDisputeSettled: ({ data }) => `${data.by} settled the dispute: ${data.verdict}`,
  TransactionDisputeReturned: () => 'the bank gave it to the payer of the dispute',
  TransactionDisputeResolved: ({ data }) => `dispute ended: ${data.moneyOutcome.replaceAll('_', ' ')}`,
};

/** Returns why the event moved money, in words; null when it moves none. */
export const whyMoved = (event: PaymentEvent): string | null =>
  movesMoney(event) ? (WHY[event.type] as (event: MoneyEvent) => string)(event) : null;

/** What disputes took from the merchant with the event: 0 for most (T3). */
export const takenByDispute = (event: TransactionDisputeSettled | TransactionDisputeResolved): Minor => {
  if (event.type === 'TransactionDisputeSettled') return event.data.verdict === 'lost' ? event.data.amount : ZERO;
  return event.data.moneyOutcome === 'refunded_to_merchant' ? ZERO : event.data.amount;
};

const isOfTranche = reading(PAYMENT_GROUPS, {
  reads: ['money'],
  ignores: ['demand', 'methods', 'held', 'returns', 'refund', 'dispute'],
});

/** Returns null when the event holds and releases nothing. */
export const trancheChange = (event: PaymentEvent): TrancheChange | null => {
  if (!isOfTranche(event)) return null;
  switch (event.type) {
    case 'TransactionSettled': {
      const { availableAt: releaseAt, currency, netAmount: amount } = event.data;
      return releaseAt === null ? null : { kind: 'held', currency, amount, releaseAt };
    }
    case 'TransactionFundsReleased':
      return { kind: 'released' };
    default:
      return event satisfies never;
  }
};

const ACCOUNTS = {
  merchant_available: ['into the merchant’s available balance', 'out of the merchant’s available balance'],
  merchant_pending: ['into the merchant’s pending balance', 'out of the merchant’s pending balance'],
  merchant_retained: ['held for a dispute', 'no longer held for a dispute'],
  refunds_in_transit: ['on its way to the payer', 'no longer on its way to the payer'],
} as const;
declare module '../kernel/journal.ts' {
  interface LedgerAccounts {
    readonly payment: keyof typeof ACCOUNTS;
  }
}

export const paymentPostings: Postings<PaymentEvent> = {
  accounts: ACCOUNTS,
  entryOf: journalEntry,
  trancheOf: trancheChange,
  paymentOf: (subject) => subject as PaymentId,
};
