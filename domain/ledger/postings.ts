// Money events as double-entry postings. A wallet is the sum of its postings; every event's postings sum to zero.
import { ignoringTypes } from '../kernel/event.ts';
import { add, type Minor, negate, subtract, ZERO } from '../kernel/money.ts';
import type { Timestamp } from '../kernel/time.ts';
import type { PaymentEvent } from '../payment/payment.ts';

/**
 * Credit is positive: a merchant's balance, fees earned and what is owed to a payer grow with positive amounts, and the clearing
 * account goes down by what the provider holds for us.
 */
export const LEDGER_ACCOUNTS = [
  'merchant_available',
  'merchant_pending',
  'merchant_retained',
  'refunds_in_transit',
  'provider_clearing',
  'provider_fees',
  'platform_fees',
  'payer_returns',
] as const;
export type LedgerAccount = (typeof LEDGER_ACCOUNTS)[number];

export interface Posting {
  readonly account: LedgerAccount;
  readonly currency: string;
  /** Signed minor units, never 0. */
  readonly amount: Minor;
}
export interface JournalEntry {
  readonly at: Timestamp;
  readonly postings: readonly Posting[];
}

/** Narrows to the events that move money. The ignored ones say how far a charge, a refund or a dispute is, and move none themselves. */
export const movesMoney = ignoringTypes<PaymentEvent>()(
  'ChargeCreated',
  'ChargePixIssued',
  'ChargeInstrumentIssued',
  'ChargeInstrumentRefused',
  'ChargeExpired',
  'ChargeFailed',
  'ChargeCancelRequested',
  'ChargeCancelled',
  'ChargeWebhookResendRequested',
  'TransactionProcessing',
  'TransactionRefused',
  'TransactionHeldRejected',
  'TransactionReturnRefused',
  'TransactionReturnRetried',
  'TransactionDisputeUpdated',
);

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
    case 'TransactionFundsReleased': {
      const { amount, currency, at } = event.data;
      return entry(at, currency, [
        ['merchant_pending', negate(amount)],
        ['merchant_available', amount],
      ]);
    }
    // Money that is not the merchant's: owed to the payer until it has gone back.
    case 'TransactionHeld':
    case 'TransactionPaymentRejected': {
      const { incoming, currency, at } = event.data;
      return entry(at, currency, [
        ['provider_clearing', negate(incoming.amount)],
        ['payer_returns', incoming.amount],
      ]);
    }
    // A held one that an operator let pass is credited in the same append, as if it had just arrived.
    case 'TransactionHeldReleased':
    case 'TransactionPaymentReturned': {
      const { amount, currency, at } = event.data;
      return entry(at, currency, [
        ['payer_returns', negate(amount)],
        ['provider_clearing', amount],
      ]);
    }
    // It leaves the wallet when it is requested, with the fee of its Pix-out when the merchant bears it (M1, M6).
    case 'TransactionRefundReserved': {
      const { amount, currency, at } = event.data;
      const taken = add(amount, merchantsFee(event.data));
      return entry(at, currency, [
        ['merchant_available', negate(taken)],
        ['refunds_in_transit', taken],
      ]);
    }
    case 'TransactionRefundReleased': {
      const { amount, currency, at } = event.data;
      const taken = add(amount, merchantsFee(event.data));
      return entry(at, currency, [
        ['refunds_in_transit', negate(taken)],
        ['merchant_available', taken],
      ]);
    }
    case 'TransactionRefundCompleted': {
      const { amount, currency, fee, at } = event.data;
      const ofMerchant = merchantsFee(event.data);
      return entry(at, currency, [
        ['refunds_in_transit', negate(add(amount, ofMerchant))],
        ['provider_clearing', amount],
        ['provider_fees', fee],
        ['platform_fees', negate(subtract(fee, ofMerchant))],
      ]);
    }
    case 'TransactionDisputeOpened': {
      const { amount, currency, at } = event.data;
      return entry(at, currency, [
        ['merchant_available', negate(amount)],
        ['merchant_retained', amount],
      ]);
    }
    // What is not returned to the merchant the provider gives to the payer.
    case 'TransactionDisputeResolved': {
      const { amount, currency, moneyOutcome, at } = event.data;
      return entry(at, currency, [
        ['merchant_retained', negate(amount)],
        [moneyOutcome === 'refunded_to_merchant' ? 'merchant_available' : 'provider_clearing', amount],
      ]);
    }
    default:
      return event satisfies never;
  }
};

/** What of a settlement waits for its release, from its event on; or the end of that wait. */
export type TrancheChange =
  | { readonly kind: 'held'; readonly currency: string; readonly amount: Minor; readonly releaseAt: Timestamp }
  | { readonly kind: 'released' };

/** Returns null when the event holds and releases nothing. */
export const trancheChange = (event: PaymentEvent): TrancheChange | null => {
  if (!movesMoney(event)) return null;
  switch (event.type) {
    case 'TransactionSettled': {
      const { availableAt: releaseAt, currency, netAmount: amount } = event.data;
      return releaseAt === null ? null : { kind: 'held', currency, amount, releaseAt };
    }
    case 'TransactionFundsReleased':
      return { kind: 'released' };
    case 'TransactionHeld':
    case 'TransactionHeldReleased':
    case 'TransactionPaymentRejected':
    case 'TransactionPaymentReturned':
    case 'TransactionRefundReserved':
    case 'TransactionRefundReleased':
    case 'TransactionRefundCompleted':
    case 'TransactionDisputeOpened':
    case 'TransactionDisputeResolved':
      return null;
    default:
      return event satisfies never;
  }
};

const merchantsFee = ({
  fee,
  feePaidBy,
}: {
  readonly fee: Minor;
  readonly feePaidBy: 'merchant' | 'platform';
}): Minor => (feePaidBy === 'merchant' ? fee : ZERO);

const entry = (at: Timestamp, currency: string, lines: readonly (readonly [LedgerAccount, Minor])[]): JournalEntry => ({
  at,
  postings: lines.filter(([, amount]) => amount !== 0).map(([account, amount]) => ({ account, currency, amount })),
});
