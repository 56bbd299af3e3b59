// The error codes of charge and payment requests.
import { codes } from '../kernel/rejection.ts';

export const CHARGE_ERRORS = codes(400, {
  invalid_amount: '`amount` must be an integer within its bounds.',
  invalid_currency: 'The currency is malformed, or the method doesn’t support it.',
  invalid_payment_method: 'The payment method is missing or not accepted here.',
  invalid_expires_in: '`expires_in` must be an integer of at least 60.',
  invalid_description: '`description` must be a string of at most 500 characters.',
  invalid_customer: 'The customer’s data is malformed.',
  invalid_metadata: '`metadata` is not an object, is too large, or lacks a field that the method requires.',
  invalid_payer_tax_id:
    '`expected_payer_tax_id` must be a CPF or CNPJ without punctuation and with valid check digits.',
  payer_tax_id_mismatch: '`expected_payer_tax_id` must equal `customer.document`.',
  customer_name_required: '`expected_payer_tax_id` needs `customer.name`.',
});

declare module '../kernel/rejection.ts' {
  interface ErrorCodes {
    readonly charge: keyof typeof CHARGE_ERRORS;
  }
}
