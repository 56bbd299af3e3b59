// Postings in words.
import type { LedgerAccount } from '../../domain/ledger/postings.ts';
import type { PaymentEvent } from '../../domain/payment/payment.ts';

type OfType<Type extends PaymentEvent['type']> = Extract<PaymentEvent, { type: Type }>;

/** Why money moved. Events that move none are not here. */
const WHY: { readonly [Type in PaymentEvent['type']]?: (event: OfType<Type>) => string } = {
  TransactionSettled: ({ data }) => `the payer paid by ${data.method} (${data.incoming.providerPaymentId})`,
  TransactionFundsReleased: () => 'the hold on settled money ended',
  TransactionHeld: ({ data }) => `held for review (${data.incoming.providerPaymentId})`,
  TransactionHeldReleased: ({ data }) => `${data.by} let the held Pix pass`,
  TransactionPaymentRejected: ({ data }) => `must not be credited: ${data.reason} (${data.incoming.providerPaymentId})`,
  TransactionPaymentReturned: ({ data }) => `went back to the payer (${data.providerPaymentId})`,
  TransactionRefundReserved: ({ data }) => `refund rf_${data.refundId} was requested`,
  TransactionRefundCompleted: ({ data }) => `refund rf_${data.refundId} reached the payer`,
  TransactionRefundReleased: ({ data }) => `refund rf_${data.refundId} failed: ${data.reason}`,
  TransactionDisputeOpened: ({ data }) => `${data.kind.toLowerCase()} opened`,
  TransactionDisputeHoldIncreased: () => 'what a failed refund gave back is held for the dispute',
};

/** What a posting does to its account: when it is a credit, and when it is a debit. */
const WHAT: { readonly [Account in LedgerAccount]: readonly [credit: string, debit: string] } = {
  merchant_available: ['into the merchant’s available balance', 'out of the merchant’s available balance'],
  merchant_pending: ['into the merchant’s pending balance', 'out of the merchant’s pending balance'],
  merchant_retained: ['held for a dispute', 'no longer held for a dispute'],
  refunds_in_transit: ['on its way to the payer', 'no longer on its way to the payer'],
  provider_clearing: ['the provider gave it out of what it holds for us', 'the provider holds it for us'],
  provider_fees: ['the provider’s fee', 'the provider’s fee given back'],
  platform_fees: ['the platform’s fee', 'paid by the platform'],
  payer_returns: ['owed to the payer', 'no longer owed to the payer'],
};

/** null: the event moves no money. */
export const whyMoved = (event: PaymentEvent): string | null => {
  const words = WHY[event.type] as ((event: PaymentEvent) => string) | undefined;
  return words?.(event) ?? null;
};

export const whatMoved = (account: LedgerAccount, amount: number): string => WHAT[account][amount > 0 ? 0 : 1];
