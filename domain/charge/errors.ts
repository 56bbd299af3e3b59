// The error codes of what is asked for.
import { codes } from '../kernel/rejection.ts';

export const CHARGE_ERRORS = codes(400, {
  invalid_amount: '`amount` is not an integer within its bounds.',
  invalid_currency: 'The currency is malformed, or not one that the method takes.',
  invalid_payment_method: 'The payment method is missing or not accepted here.',
  invalid_expires_in: '`expires_in` is not an integer of at least 60.',
  invalid_description: '`description` is not a string of at most 500 characters.',
  invalid_customer: 'What is said of the customer is malformed.',
  invalid_metadata: '`metadata` is not an object, too large, or lacks what the method needs.',
  invalid_payer_tax_id: '`expected_payer_tax_id` is not a bare CPF or CNPJ with valid check digits.',
  payer_tax_id_mismatch: '`expected_payer_tax_id` differs from `customer.document`.',
  customer_name_required: '`expected_payer_tax_id` needs `customer.name`.',
});

declare module '../kernel/rejection.ts' {
  interface ErrorCodes {
    readonly charge: keyof typeof CHARGE_ERRORS;
  }
}
