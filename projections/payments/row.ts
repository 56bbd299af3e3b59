// The payment that a row of the read model holds.
import { assertExists, type ExistingPayment, type PaymentState } from '../../domain/payment/payment.ts';

export const paymentOf = (state: string): ExistingPayment => assertExists(JSON.parse(state) as PaymentState);
