// Request and response schemas of the charge routes (contract.md Charge).
import { METADATA_BOUNDS } from '../../../domain/charge/request.ts';
import { AMOUNT_MAX, AMOUNT_MIN } from '../../../domain/kernel/money.ts';
import { PUBLIC_STATUSES } from '../../../domain/presentation/status.ts';
import * as s from '../../kernel/jsonSchema.ts';
import type { Tag } from '../../kernel/route.ts';

/** The chapters of the API reference that contain these routes. */
export const CHARGES: Tag = {
  name: 'Charges',
  description: 'Pix charges. The response contains the copy-and-paste code and its QR image.',
};

export const PAYMENTS: Tag = {
  name: 'Payments',
  description: 'Payments in the transaction format: several methods, cancellation, receipts and statistics.',
};

/** The common properties of routes about payments. */
export const ON_PAYMENTS = { tag: PAYMENTS, principal: 'apiKey' } as const;

const amount = s.integer(AMOUNT_MIN, AMOUNT_MAX, 'The amount in centavos.');
const currency = s.optional(
  s.described('BRL, which is the default and the only currency of Pix charges.', s.oneOfTexts(['BRL'])),
);
const rest = {
  description: s.optional(
    s.described('A description for the payer. Responses contain it as `metadata.description`.', s.string(500)),
  ),
  expires_in: s.optional(
    s.described(
      'Seconds until the charge expires. Values above 86400 are capped. Default: `chargeWindowSeconds` of the account.',
      s.integerFrom(60),
    ),
  ),
  customer: s.optional(
    s.described(
      'The customer who is to pay.',
      s.accepting({
        name: s.optional(
          s.described('The name of the customer. Required if `expected_payer_tax_id` is set.', s.string(200)),
        ),
        document: s.optional(s.described('CPF or CNPJ, formatted or not.', s.string(32))),
        email: s.optional(s.described('Email address.', s.string(254))),
        phone: s.optional(s.described('Phone number.', s.string(32))),
      }),
    ),
  ),
  expected_payer_tax_id: s.optional(
    s.described(
      'Payer lock: the unformatted CPF or CNPJ of the only payer whose payment is accepted. Must equal `customer.document` if both are sent.',
      s.string(32),
    ),
  ),
  metadata: s.optional(
    s.described(
      `Your own data. Reserved keys and keys that start with \`_\` are dropped. ${METADATA_BOUNDS}`,
      s.anyObject,
    ),
  ),
};

export const createChargeBody = s.accepting({
  amount,
  currency,
  payment_method: s.described('`pix` is the only supported method.', s.oneOfTexts(['pix'])),
  ...rest,
});
/** The body without payment_method, which the route sets. */
export const createPixChargeBody = s.accepting({ amount, currency, ...rest });

const maybeText = (description: string) => s.orNull(s.described(description, s.string()));

export const chargeSchema = s.exactly({
  id: s.described('`ch_` and the raw id. The payment routes accept the raw id, too.', s.id('ch_')),
  object: s.constant('charge'),
  amount: s.described('The amount in centavos.', s.anyInteger),
  amount_refunded: s.described('The amount refunded to the payer, in centavos.', s.anyInteger),
  currency: s.described('ISO 4217 currency code.', s.string(8)),
  status: s.described('The status of the charge.', s.oneOfTexts(PUBLIC_STATUSES)),
  payment_method: s.described('`pix` for charges created by the charge routes.', s.string()),
  customer: s.described(
    'The customer, as submitted.',
    s.exactly({
      name: maybeText('Name.'),
      document: maybeText('CPF or CNPJ.'),
      email: maybeText('Email address.'),
      phone: maybeText('Phone number.'),
    }),
  ),
  pix: s.optional(
    s.described(
      'How to pay the charge. Absent until the provider has issued the Pix code.',
      s.exactly({
        br_code: s.described('The copy-and-paste code.', s.string(512)),
        qr_code_url: s.described('URL of a PNG image of the QR code.', s.string()),
        expires_at: s.described('When the Pix code expires.', s.timestamp),
        txid: s.described('The provider’s id of the Pix. It differs from the id of the charge.', s.string(35)),
      }),
    ),
  ),
  checkout_url: s.described('URL of the checkout page for the payer.', s.string()),
  settlement: s.described(
    'Empty until the charge is paid.',
    s.exactly({ end_to_end_id: s.optional(s.described('The end-to-end id of the Pix.', s.string(32))) }),
  ),
  metadata: s.described('Your own data, as submitted, plus `description`.', s.anyObject),
  created_at: s.timestamp,
  expected_payer_tax_id: s.optional(s.described('The payer lock, as submitted.', s.string(14))),
});

export const chargeListSchema = s.exactly({
  object: s.constant('list'),
  data: s.listOf(chargeSchema),
  has_more: s.described('Whether there are more charges after this page.', s.boolean),
  next_cursor: s.orNull(
    s.described('Pass it as `starting_after` to get the next page; null on the last page.', s.string()),
  ),
});
