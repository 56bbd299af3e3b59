// Request and response of the charge routes (contract.md Charge).
import { AMOUNT_MAX, AMOUNT_MIN } from '../../../domain/kernel/money.ts';
import {
  accepting,
  anyInteger,
  anyObject,
  exactly,
  id,
  integer,
  type JsonSchema,
  orNull,
  string,
  timestamp,
} from '../../kernel/jsonSchema.ts';

/** Far above every lifetime: larger ones are capped, not refused, but they must be whole numbers that JSON can hold. */
const EXPIRES_IN_ACCEPTED_MAX = Number.MAX_SAFE_INTEGER;

const amount = integer(AMOUNT_MIN, AMOUNT_MAX, 'Centavos.');
const currency: JsonSchema = { type: 'string', enum: ['BRL'] };
const rest = {
  description: string(500),
  expires_in: integer(60, EXPIRES_IN_ACCEPTED_MAX, 'Seconds until expiry. Values above 86400 are capped.'),
  customer: accepting({ name: string(200), document: string(32), email: string(254), phone: string(32) }),
  expected_payer_tax_id: string(32),
  metadata: anyObject,
};
export const createChargeBody = accepting(
  { amount, currency, payment_method: { type: 'string', enum: ['pix'] }, ...rest },
  ['amount', 'payment_method'],
);
export const createPixChargeBody = accepting({ amount, currency, ...rest }, ['amount']);

export const chargeSchema = exactly(
  {
    id: id('ch_'),
    object: { type: 'string', const: 'charge' },
    amount: anyInteger,
    currency: string(8),
    status: {
      type: 'string',
      enum: ['pending', 'processing', 'paid', 'failed', 'expired', 'cancelled', 'refunded', 'disputed'],
    },
    payment_method: string(),
    customer: exactly({
      name: orNull(string()),
      document: orNull(string()),
      email: orNull(string()),
      phone: orNull(string()),
    }),
    pix: exactly({ br_code: string(512), qr_code_url: string(), expires_at: timestamp, txid: string(35) }),
    checkout_url: string(),
    settlement: exactly({ end_to_end_id: string(32) }, ['end_to_end_id']),
    metadata: anyObject,
    created_at: timestamp,
    expected_payer_tax_id: string(14),
  },
  ['pix', 'expected_payer_tax_id'],
);
