// The stream that charge and transaction share. As one consistency boundary, it ensures that expiry and settlement can't both win.

import { type ChargeEvent, type ChargeState, charge, chargeSerde } from '../charge/charge.ts';
import type { Decider } from '../kernel/decider.ts';
import { type TransactionEvent, type TransactionState, transaction } from '../transaction/transaction.ts';
import { erasedCharge, erasedTransaction, type PaymentPersonalDataErased } from './erasure.ts';

export type PaymentEvent = ChargeEvent | TransactionEvent | PaymentPersonalDataErased;

export interface PaymentState {
  readonly charge: ChargeState;
  readonly transaction: TransactionState;
}

const isChargeEvent = (event: PaymentEvent): event is ChargeEvent => Object.hasOwn(chargeSerde, event.type);

export const payment: Decider<PaymentState, PaymentEvent> = {
  initial: { charge: charge.initial, transaction: transaction.initial },
  evolve: (state, event) => {
    if (isChargeEvent(event)) return { ...state, charge: charge.evolve(state.charge, event) };
    if (event.type === 'PaymentPersonalDataErased')
      return {
        charge: erasedCharge(state.charge, event.data.at),
        transaction: erasedTransaction(state.transaction),
      };
    return { ...state, transaction: transaction.evolve(state.transaction, event) };
  },
};

/** A payment that was created. */
export type ExistingPayment = PaymentState & { readonly charge: Exclude<ChargeState, { status: 'absent' }> };
export const exists = (state: PaymentState): state is ExistingPayment => state.charge.status !== 'absent';

/** Throws if the payment was never created. Callers have checked that it exists, so this is a broken invariant. */
export const assertExists = (state: PaymentState): ExistingPayment => {
  if (!exists(state)) throw new Error('the payment was never created');
  return state;
};

/** Returns whether the payment can still be paid: its charge has not ended, and it is neither paid, held nor declined. */
export const isAwaitingMoney = ({ charge, transaction }: PaymentState): boolean =>
  (charge.status === 'requested' || charge.status === 'open') &&
  (transaction.status === 'none' || transaction.status === 'processing');
