// Acquirer reports about methods other than Pix: a payment is in progress, or the method was declined.
import { hasInstrument } from '../charge/instruments.ts';
import type { PaymentMethod } from '../charge/methods.ts';
import type { Decision } from '../kernel/decider.ts';
import type { Timestamp } from '../kernel/time.ts';
import { assertExists, type ExistingPayment, type PaymentEvent, type PaymentState } from './payment.ts';

type Recorded = 'recorded' | 'nothing';
const NOTHING = { events: [], reply: 'nothing' } as const;

const canBePaidWith = ({ charge, transaction }: ExistingPayment, method: PaymentMethod): boolean =>
  charge.status === 'open' &&
  (transaction.status === 'none' || transaction.status === 'processing') &&
  hasInstrument(charge.instruments, method) &&
  !transaction.declined.includes(method);

/** Records that the payer started to pay with the method. No-op if the payment has ended, is settled, or is already in progress. */
export const recordProcessing =
  (method: PaymentMethod, at: Timestamp): Decision<PaymentState, PaymentEvent, Recorded> =>
  (state) => {
    const payment = assertExists(state);
    if (!canBePaidWith(payment, method) || payment.transaction.status === 'processing') return NOTHING;
    return { events: [{ type: 'TransactionProcessing', data: { method, at } }], reply: 'recorded' };
  };

export interface Refusal {
  readonly method: PaymentMethod;
  readonly reason: string;
  readonly providerErrorCode: string;
}

/** Records a declined method, and fails the payment if every method is declined or refused. No-op if already declined, ended or settled. */
export const recordRefusal =
  ({ method, reason, providerErrorCode }: Refusal, at: Timestamp): Decision<PaymentState, PaymentEvent, Recorded> =>
  (state) => {
    const payment = assertExists(state);
    if (!canBePaidWith(payment, method)) return NOTHING;
    const { terms, refusedMethods } = payment.charge;
    // A method that has expired may have been paid in time. Expiry asks the provider before it ends the payment (M4).
    const gone = [method, ...refusedMethods, ...payment.transaction.declined];
    const isFinal = terms.methods.every((one) => gone.includes(one));
    return {
      events: [{ type: 'TransactionRefused', data: { method, reason, providerErrorCode, isFinal, at } }],
      reply: 'recorded',
    };
  };
