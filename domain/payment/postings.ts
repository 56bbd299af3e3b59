// The ledger postings of payment events.

import { reading } from '../kernel/eventGroups.ts';
import type { PaymentId } from '../kernel/ids.ts';
import { entry, type JournalEntry, type LedgerAccount, type Postings, type TrancheChange } from '../kernel/journal.ts';
import { add, type Minor, most, negate, subtract, ZERO } from '../kernel/money.ts';
import type { Timestamp } from '../kernel/time.ts';
import { REFUND } from '../refund/refund.ts';
import type {
  TransactionDisputeResolved,
  TransactionDisputeReturnCounted,
  TransactionDisputeReturned,
  TransactionDisputeSettled,
} from '../transaction/disputes.ts';
import { feeOfMerchant } from '../transaction/refunds.ts';
import type { TransactionReturnedOutside } from '../transaction/returnedOutside.ts';
import { PAYMENT_GROUPS } from './eventGroups.ts';
import type { PaymentEvent } from './payment.ts';

/** Narrows to events that move money. The ignored events only report the progress of a charge, refund or dispute. */
export const movesMoney = reading(PAYMENT_GROUPS, {
  reads: ['money', 'held', 'back', 'outside', 'gone', 'late', 'refund', 'dispute'],
  nothing: ['TransactionHeldRejected', 'TransactionDisputeUpdated'],
  ignores: ['demand', 'methods', 'order', 'payout', 'erasure'],
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

/** Returns the event's entry, which sums to zero, or null if it moves no money. */
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
    // The money is owed to the payer until it is returned.
    case 'TransactionHeld':
    case 'TransactionPaymentRejected':
      return moved({ ...event.data, amount: event.data.incoming.amount }, 'provider_clearing', 'payer_returns');
    // A held payment that an operator released is credited in the same append, as if it had just arrived.
    case 'TransactionHeldReleased':
    case 'TransactionPaymentReturned':
      return moved(event.data, 'payer_returns', 'provider_clearing');
    // The amount leaves the wallet when requested, with the fee of its Pix-out if the merchant bears it (M1, M6).
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
    // Paid to the payer instead of a refused return, or confirmed after a refusal. The platform bears the fee (M10).
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
    case 'TransactionReturnedOutside':
      return outsideEntry(event);
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
    case 'TransactionDisputeReturnCounted':
      return disputeEntry(event);
    default:
      return event satisfies never;
  }
};

/** Returns the amount that a refund takes from the merchant, including a Pix-out fee that the merchant bears. */
const withFee = (refund: Move & Parameters<typeof feeOfMerchant>[0]): Move => ({
  ...refund,
  amount: add(refund.amount, feeOfMerchant(refund)),
});

/** The money left the provider: it was the payer's, or the merchant's in the balance or in the hold of a dispute. */
const outsideEntry = ({ data }: TransactionReturnedOutside): JournalEntry => {
  if (data.owner === 'payer') return moved(data, 'payer_returns', 'provider_clearing');
  const { amount, fromHold, currency, at } = data;
  return entry(at, currency, [
    ['merchant_available', negate(subtract(amount, fromHold))],
    ['merchant_retained', negate(fromHold)],
    ['provider_clearing', amount],
  ]);
};

/** Disputed money stays on its own account until the bank has paid the payer. The platform gains or loses any difference (Q11). */
const disputeEntry = (
  event:
    | TransactionDisputeSettled
    | TransactionDisputeResolved
    | TransactionDisputeReturned
    | TransactionDisputeReturnCounted,
): JournalEntry => {
  const { data } = event;
  if (event.type === 'TransactionDisputeReturnCounted') {
    const { amount, posted, currency, at } = event.data;
    // Two moves, not their sum: equal amounts would leave no trace of the dispute, like a payment without fees (M12).
    return entry(at, currency, [
      ['merchant_available', amount],
      ['disputes', negate(amount)],
      ['disputes', posted],
      ['provider_clearing', negate(posted)],
    ]);
  }
  if (event.type === 'TransactionDisputeReturned') return moved(data, 'disputes', 'provider_clearing');
  if (event.type === 'TransactionDisputeSettled')
    return moved(data, 'merchant_available', event.data.verdict === 'held' ? 'merchant_retained' : 'disputes');
  const isBack = event.data.moneyOutcome === 'refunded_to_merchant';
  return moved(data, 'merchant_retained', isBack ? 'merchant_available' : 'disputes');
};

type MoneyEvent = Extract<PaymentEvent, { readonly type: (typeof movesMoney.types)[number] }>;

/** Reasons for money movements. */
const WHY: { readonly [Type in MoneyEvent['type']]: (event: Extract<MoneyEvent, { type: Type }>) => string } = {
  TransactionSettled: ({ data }) => `the payer paid by ${data.method} (${data.incoming.providerPaymentId})`,
  TransactionFundsReleased: () => 'the hold on settled money ended',
  TransactionHeld: ({ data }) => `held for review (${data.incoming.providerPaymentId})`,
  TransactionHeldReleased: ({ data }) => `${data.by} released the held Pix`,
  TransactionPaymentRejected: ({ data }) => `not creditable: ${data.reason} (${data.incoming.providerPaymentId})`,
  TransactionPaymentReturned: ({ data }) => `returned to the payer (${data.providerPaymentId})`,
  TransactionReturnedOutside: ({ data }) => `returned outside Quita (${data.returnId ?? data.id})`,
  TransactionHeldPayoutPaid: ({ data }) => `paid out instead of a refused return (${data.providerPaymentId})`,
  TransactionHeldWrittenOff: ({ data }) => `${data.by} wrote off a refused return (${data.providerPaymentId})`,
  TransactionReturnConfirmedLate: ({ data }) => `the provider confirmed it after refusing it (${data.id})`,
  TransactionRefundConfirmedLate: ({ data }) =>
    `refund ${REFUND.idPrefix}${data.refundId} was confirmed after it had failed`,
  TransactionLateConfirmationWrittenOff: ({ data }) => `${data.by} wrote off a late confirmation (${data.id})`,
  TransactionRefundReserved: ({ data }) => `refund ${REFUND.idPrefix}${data.refundId} was requested`,
  TransactionRefundCompleted: ({ data }) => `refund ${REFUND.idPrefix}${data.refundId} reached the payer`,
  TransactionRefundReleased: ({ data }) => `refund ${REFUND.idPrefix}${data.refundId} failed: ${data.reason}`,
  TransactionDisputeOpened: ({ data }) => `${data.kind.toLowerCase()} opened`,
  TransactionDisputeSettled: ({ data }) => `${data.by} settled the dispute: ${data.verdict}`,
  TransactionDisputeReturned: () => 'the bank gave it to the payer of the dispute',
  TransactionDisputeReturnCounted: ({ data }) =>
    data.amount >= 0
      ? 'the return outside Quita counts as that of the dispute'
      : 'the banks returned more than the lost dispute took',
  TransactionDisputeResolved: ({ data }) => `dispute ended: ${data.moneyOutcome.replaceAll('_', ' ')}`,
};

/** Returns the reason why the event moved money, or null if it moved none. */
const whyMoved = (event: PaymentEvent): string | null =>
  movesMoney(event) ? (WHY[event.type] as (event: MoneyEvent) => string)(event) : null;

/**
 * Returns the amount that disputes took from the merchant with the event; usually 0 (T3). A return outside Quita that counts for a lost
 * dispute gives nothing back here: the merchant pays that return instead of the dispute, and these sums don't contain it.
 */
export const takenByDispute = (
  event: TransactionDisputeSettled | TransactionDisputeResolved | TransactionDisputeReturnCounted,
): Minor => {
  if (event.type === 'TransactionDisputeReturnCounted') return most(negate(event.data.amount), ZERO);
  if (event.type === 'TransactionDisputeSettled') return event.data.verdict === 'lost' ? event.data.amount : ZERO;
  return event.data.moneyOutcome === 'refunded_to_merchant' ? ZERO : event.data.amount;
};

const isOfTranche = reading(PAYMENT_GROUPS, {
  reads: ['money'],
  ignores: ['demand', 'methods', 'held', 'returns', 'refund', 'dispute', 'erasure'],
});

/** Returns the event's change to the tranche, or null if it changes none. */
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
  merchant_retained: ['held for a dispute', 'released from a dispute'],
  refunds_in_transit: ['on its way to the payer', 'arrived at the payer, or returned'],
} as const;
declare module '../kernel/journal.ts' {
  interface LedgerAccounts {
    readonly payment: keyof typeof ACCOUNTS;
  }
}

export const paymentPostings: Postings<PaymentEvent> = {
  accounts: ACCOUNTS,
  idleTypes: movesMoney.unread,
  entryOf: journalEntry,
  whyOf: whyMoved,
  trancheOf: trancheChange,
  paymentOf: (subject) => subject as PaymentId,
};
