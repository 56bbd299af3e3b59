// Request and response of the charge routes (contract.md Charge).
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

/** Far above every lifetime: larger ones are capped, not refused, but they must be whole numbers that JSON can hold. */
const EXPIRES_IN_ACCEPTED_MAX = Number.MAX_SAFE_INTEGER;

const amount = integer(AMOUNT_MIN, AMOUNT_MAX, 'Centavos.');
const currency = optional(described('Pix charges are in BRL, which is the default.', oneOfTexts(['BRL'])));
const rest = {
  description: optional(described('For the payer; comes back as `metadata.description`.', string(500))),
  expires_in: optional(
    integer(
      60,
      EXPIRES_IN_ACCEPTED_MAX,
      'Seconds until expiry. Values above 86400 are capped. Default: the window of the account.',
    ),
  ),
  customer: optional(
    described(
      'Who is to pay.',
      accepting({
        name: optional(described('Required when `expected_payer_tax_id` is set.', string(200))),
        document: optional(described('CPF or CNPJ, masked or not.', string(32))),
        email: optional(described('E-mail address.', string(254))),
        phone: optional(described('Phone number.', string(32))),
      }),
    ),
  ),
  expected_payer_tax_id: optional(
    described(
      'Payer lock: the bare CPF or CNPJ of the only payer whose money is taken. Equals `customer.document` when both are sent.',
      string(32),
    ),
  ),
  metadata: optional(described('What you like. Reserved keys and keys that begin with `_` are left out.', anyObject)),
};

export const createChargeBody = accepting({
  amount,
  currency,
  payment_method: described('`pix` is the only one.', oneOfTexts(['pix'])),
  ...rest,
});
/** The route fills payment_method in itself. */
export const createPixChargeBody = accepting({ amount, currency, ...rest });

const maybeText = (description: string) => orNull(described(description, string()));

export const chargeSchema = exactly({
  id: described('`ch_` and the raw id, which the routes of payments take.', id('ch_')),
  object: constant('charge'),
  amount: described('Centavos.', anyInteger),
  amount_refunded: described('What has gone back to the payer, in centavos.', anyInteger),
  currency: described('ISO 4217.', string(8)),
  status: described('Where the charge stands.', oneOfTexts(PUBLIC_STATUSES)),
  payment_method: described('`pix`, of a charge created here.', string()),
  customer: described(
    'As submitted.',
    exactly({
      name: maybeText('Name.'),
      document: maybeText('CPF or CNPJ.'),
      email: maybeText('E-mail address.'),
      phone: maybeText('Phone number.'),
    }),
  ),
  pix: optional(
    described(
      'How to pay; there once the provider has issued it.',
      exactly({
        br_code: described('The code to copy and paste.', string(512)),
        qr_code_url: described('A PNG of it.', string()),
        expires_at: described('Until when it can be paid.', timestamp),
        txid: described('The id of the Pix at its provider. Never the id of the charge.', string(35)),
      }),
    ),
  ),
  checkout_url: described('The page for the payer.', string()),
  settlement: described(
    'Empty until the charge is paid.',
    exactly({ end_to_end_id: optional(described('The end-to-end id of the Pix.', string(32))) }),
  ),
  metadata: described('As submitted, with `description`.', anyObject),
  created_at: timestamp,
  expected_payer_tax_id: optional(described('As submitted.', string(14))),
});

export const chargeListSchema = exactly({
  object: constant('list'),
  data: listOf(chargeSchema),
  has_more: described('Whether there are more after these.', boolean),
  next_cursor: orNull(described('For `starting_after` of the next page.', string())),
});
