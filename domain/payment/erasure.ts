// The erasure of a payment's personal data: its event, and the state without that data (rule L2). Money, times and ids stay.
import type { ChargeState } from '../charge/charge.ts';
import { erasedInstrument } from '../charge/instruments.ts';
import type { Fact } from '../kernel/decider.ts';
import { type Erasure, erasureShape } from '../kernel/erasure.ts';
import { ERASED, type SerdeTable } from '../kernel/serde.ts';
import type { Timestamp } from '../kernel/time.ts';
import type { DisputeRecord } from '../transaction/disputes.ts';
import type { IncomingPayment, IncomingPaymentRecord, Payer } from '../transaction/incomingPayment.ts';
import type { RefundRecord } from '../transaction/refunds.ts';
import type { TransactionState } from '../transaction/transaction.ts';

/** The personal data of the payment was erased. Any such data in its events is unreadable, or will be. */
export type PaymentPersonalDataErased = Fact<'PaymentPersonalDataErased', Erasure>;

export const paymentErasureSerde: SerdeTable<PaymentPersonalDataErased> = {
  PaymentPersonalDataErased: { version: 1, shape: erasureShape, personal: [] },
};

/** Returns the charge without personal data. */
export const erasedCharge = (state: ChargeState, erasedAt: Timestamp): ChargeState => {
  if (state.status === 'absent') return state;
  const { terms, instruments } = state;
  const customer = { name: null, document: null, email: null, phone: null };
  const erased = {
    terms: { ...terms, customer, customerId: null, metadata: {}, expectedPayerTaxId: null },
    instruments: { ...instruments, acquirerInstruments: instruments.acquirerInstruments.map(erasedInstrument) },
    erasedAt: state.erasedAt ?? erasedAt,
  };
  // The reasons of expired and cancelled charges are Quita's own.
  return state.status === 'failed'
    ? { ...state, ...erased, failure: { ...state.failure, reason: ERASED } }
    : { ...state, ...erased };
};

export const NO_PAYER: Payer = { name: null, document: null };
const withoutPayer = (incoming: IncomingPayment): IncomingPayment => ({ ...incoming, payer: NO_PAYER });

const erasedRecord = ({ payer: _, ...record }: IncomingPaymentRecord): IncomingPaymentRecord => {
  const { refusal, payouts } = record;
  return {
    ...record,
    ...(refusal && { refusal: { ...refusal, reason: ERASED } }),
    ...(payouts && { payouts: payouts.map((one) => ({ ...one, destination: ERASED })) }),
  };
};

const erasedDispute = ({ earlierPayers: _, ...dispute }: DisputeRecord): DisputeRecord => ({
  ...dispute,
  reason: null,
  payer: NO_PAYER,
});

const erasedRefund = (refund: RefundRecord): RefundRecord => {
  const { outcome } = refund;
  return {
    ...refund,
    reason: null,
    destination: null,
    outcome: outcome.status === 'failed' ? { ...outcome, reason: ERASED } : outcome,
  };
};

/** Returns the transaction without personal data. */
export const erasedTransaction = (state: TransactionState): TransactionState => {
  const seen = { incomingPayments: state.incomingPayments.map(erasedRecord) };
  switch (state.status) {
    case 'none':
    case 'processing':
      return { ...state, ...seen };
    case 'refused':
      return { ...state, ...seen, failure: { ...state.failure, reason: ERASED } };
    case 'held':
    case 'returning':
    case 'returned':
      return { ...state, ...seen, incoming: withoutPayer(state.incoming) };
    case 'settled': {
      const { settlement, refunds, dispute } = state;
      return {
        ...state,
        ...seen,
        settlement: { ...settlement, incoming: withoutPayer(settlement.incoming) },
        refunds: refunds.map(erasedRefund),
        dispute: dispute && erasedDispute(dispute),
      };
    }
    default:
      return state satisfies never;
  }
};
