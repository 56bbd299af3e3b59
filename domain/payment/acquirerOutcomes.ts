// What acquirers report of methods other than Pix: the payment is processing, the method was declined.
import { hasInstrument, instrumentExpiry } from '../charge/instruments.ts';
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

/** The payer began to pay with the method. Ended, settled, or at it already: nothing. */
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

/** The method was declined; the payment with it when no other can be paid with. Declined before, ended or settled: nothing. */
export const recordRefusal =
  ({ method, reason, providerErrorCode }: Refusal, at: Timestamp): Decision<PaymentState, PaymentEvent, Recorded> =>
  (state) => {
    const payment = assertExists(state);
    if (!canBePaidWith(payment, method)) return NOTHING;
    const { terms, refusedMethods, instruments } = payment.charge;
    const { transaction } = payment;
    const inFlight = transaction.status === 'processing' ? transaction.method : null;
    const isUsable = (other: PaymentMethod) =>
      other !== method &&
      !refusedMethods.includes(other) &&
      !transaction.declined.includes(other) &&
      (other === inFlight || (instrumentExpiry(instruments, other) ?? at) >= at);
    const isFinal = !terms.methods.some(isUsable);
    return {
      events: [{ type: 'TransactionRefused', data: { method, reason, providerErrorCode, isFinal, at } }],
      reply: 'recorded',
    };
  };
