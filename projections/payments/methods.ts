// Conditions on the methods of a payment's row, which are separated by commas. An index serves a list only if both have the same text.
import { PAYMENT_METHODS, type PaymentMethod } from '../../domain/charge/methods.ts';

export const OTHER_METHODS = PAYMENT_METHODS.filter((method) => method !== 'PIX');

/** No method's name is part of another's. */
export const offers = (method: PaymentMethod, prefix = ''): string => `${prefix}methods LIKE '%${method}%'`;

/** Returns the condition of rows `p` that were paid with the method or, before payment, can be. */
export const hasMethod = (method: PaymentMethod): string =>
  `${offers(method, 'p.')} AND (p.paid_with IS NULL OR p.paid_with = '${method}')`;
