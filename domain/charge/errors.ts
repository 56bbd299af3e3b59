// The error codes of requests for charges and payments.
import { codes } from '../kernel/rejection.ts';

export const CHARGE_ERRORS = codes(400, {
  invalid_amount: '`amount` is not an integer within its bounds.',
  invalid_currency: 'The currency is malformed, or the payment method does not support it.',
  invalid_payment_method: 'The payment method is missing or not accepted here.',
  invalid_expires_in: '`expires_in` is not an integer of at least 60.',
  invalid_description: '`description` is not a string of at most 500 characters.',
  invalid_customer: 'A field of the customer is malformed.',
  invalid_metadata: '`metadata` is not an object, is too large, or lacks a field that the payment method requires.',
  invalid_payer_tax_id: '`expected_payer_tax_id` is not an unformatted CPF or CNPJ with valid check digits.',
  payer_tax_id_mismatch: '`expected_payer_tax_id` differs from `customer.document`.',
  customer_name_required: '`expected_payer_tax_id` requires `customer.name`.',
});

declare module '../kernel/rejection.ts' {
  interface ErrorCodes {
    readonly charge: keyof typeof CHARGE_ERRORS;
  }
}
