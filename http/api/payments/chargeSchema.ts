// Request and response schemas of the charge routes (contract.md Charge).
import { AMOUNT_MAX, AMOUNT_MIN } from '../../../domain/kernel/money.ts';
import { PUBLIC_STATUSES } from '../../../domain/presentation/status.ts';
import {
  accepting,
  anyInteger,
  anyObject,
  boolean,
  constant,
  described,
  exactly,
  id,
  integer,
  listOf,
  oneOfTexts,
  optional,
  orNull,
  string,
  timestamp,
} from '../../kernel/jsonSchema.ts';

/** Long lifetimes are capped, not rejected, but they must be integers that JSON represents exactly. */
const EXPIRES_IN_ACCEPTED_MAX = Number.MAX_SAFE_INTEGER;

const amount = integer(AMOUNT_MIN, AMOUNT_MAX, 'The amount in centavos.');
const currency = optional(
  described('BRL, which is the default and the only currency of Pix charges.', oneOfTexts(['BRL'])),
);
const rest = {
  description: optional(
    described('A description for the payer. Responses contain it as `metadata.description`.', string(500)),
  ),
  expires_in: optional(
    integer(
      60,
      EXPIRES_IN_ACCEPTED_MAX,
      'Seconds until the charge expires. Values above 86400 are capped. Default: `chargeWindowSeconds` of the account.',
    ),
  ),
  customer: optional(
    described(
      'The customer who is to pay.',
      accepting({
        name: optional(described('The name of the customer. Required if `expected_payer_tax_id` is set.', string(200))),
        document: optional(described('CPF or CNPJ, formatted or not.', string(32))),
        email: optional(described('Email address.', string(254))),
        phone: optional(described('Phone number.', string(32))),
      }),
    ),
  ),
  expected_payer_tax_id: optional(
    described(
      'Payer lock: the unformatted CPF or CNPJ of the only payer whose payment is accepted. Must equal `customer.document` if both are sent.',
      string(32),
    ),
  ),
  metadata: optional(described('Your own data. Reserved keys and keys that start with `_` are dropped.', anyObject)),
};

export const createChargeBody = accepting({
  amount,
  currency,
  payment_method: described('`pix` is the only supported method.', oneOfTexts(['pix'])),
  ...rest,
});
/** The body without payment_method, which the route sets. */
export const createPixChargeBody = accepting({ amount, currency, ...rest });

const maybeText = (description: string) => orNull(described(description, string()));

export const chargeSchema = exactly({
  id: described('`ch_` and the raw id. The payment routes accept the raw id, too.', id('ch_')),
  object: constant('charge'),
  amount: described('The amount in centavos.', anyInteger),
  amount_refunded: described('The amount refunded to the payer, in centavos.', anyInteger),
  currency: described('ISO 4217 currency code.', string(8)),
  status: described('The status of the charge.', oneOfTexts(PUBLIC_STATUSES)),
  payment_method: described('`pix` for charges created by the charge routes.', string()),
  customer: described(
    'The customer, as submitted.',
    exactly({
      name: maybeText('Name.'),
      document: maybeText('CPF or CNPJ.'),
      email: maybeText('Email address.'),
      phone: maybeText('Phone number.'),
    }),
  ),
  pix: optional(
    described(
      'How to pay the charge. Absent until the provider has issued the Pix code.',
      exactly({
        br_code: described('The copy-and-paste code.', string(512)),
        qr_code_url: described('URL of a PNG image of the QR code.', string()),
        expires_at: described('When the Pix code expires.', timestamp),
        txid: described('The provider’s id of the Pix. It differs from the id of the charge.', string(35)),
      }),
    ),
  ),
  checkout_url: described('URL of the checkout page for the payer.', string()),
  settlement: described(
    'Empty until the charge is paid.',
    exactly({ end_to_end_id: optional(described('The end-to-end id of the Pix.', string(32))) }),
  ),
  metadata: described('Your own data, as submitted, plus `description`.', anyObject),
  created_at: timestamp,
  expected_payer_tax_id: optional(described('The payer lock, as submitted.', string(14))),
});

export const chargeListSchema = exactly({
  object: constant('list'),
  data: listOf(chargeSchema),
  has_more: described('Whether there are more charges after this page.', boolean),
  next_cursor: orNull(described('Pass it as `starting_after` to get the next page; null on the last page.', string())),
});
