// Restricts payments to their own tenant. Payments of other tenants are reported as not found.
import type { Tenant } from '../../domain/kernel/ids.ts';
import { type Rejection, reject } from '../../domain/kernel/rejection.ts';
import { type ExistingPayment, exists, type PaymentState } from '../../domain/payment/payment.ts';

export const isOwn = (state: PaymentState, tenant: Tenant): state is ExistingPayment =>
  exists(state) && state.charge.terms.accountId === tenant.accountId && state.charge.terms.mode === tenant.mode;

export const NO_PAYMENT: Rejection = reject('not_found', 'There is no such payment.');
