// Request and response schemas of the payout routes (rules Y1, Y2).
import { AMOUNT_MAX, AMOUNT_MIN } from '../../../domain/kernel/money.ts';
import { PAYOUT_STATUSES } from '../../../domain/presentation/payout.ts';
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

/** The length of the longest Pix key. */
const PIX_KEY_MAX = 77;
const DESCRIPTION_MAX = 140;
export const REASON_MAX = 500;

export const payoutBody = accepting({
  amount: integer(AMOUNT_MIN, AMOUNT_MAX, 'The amount in centavos. The fee is charged in addition.'),
  currency: optional(described('BRL, which is the default and the only currency.', oneOfTexts(['BRL']))),
  destination: described(
    'The recipient of the payout.',
    accepting({
      pix_key: described(
        'An unformatted CPF or CNPJ, a phone number with +55, a lower-case email address, or a lower-case UUID.',
        string(PIX_KEY_MAX),
      ),
    }),
  ),
  description: optional(described('A description for the recipient.', string(DESCRIPTION_MAX))),
  metadata: optional(described('Your own data. Reserved keys and keys that start with `_` are dropped.', anyObject)),
});

export const rejectPayoutBody = accepting({
  reason: optional(described('Your own reason, for your records.', string(REASON_MAX))),
});
const maybeText = (description: string) => orNull(described(description, string()));

export const payoutSchema = exactly({
  id: id('po_'),
  object: constant('payout'),
  amount: described('The amount that the recipient receives, in centavos.', anyInteger),
  currency: described('ISO 4217 currency code.', string(8)),
  status: described('The status of the payout.', oneOfTexts(PAYOUT_STATUSES)),
  method: constant('pix'),
  destination: maybeText('The Pix key, masked; null if a refund went to the payer’s own document.'),
  refund_id: orNull(described('The cash-out refund that this transfer pays; null for a requested payout.', id('rf_'))),
  charge_id: orNull(described('The charge of the refund; null for a requested payout.', id('ch_'))),
  fee: described('The fee charged in addition to the amount, in centavos.', anyInteger),
  end_to_end_id: maybeText('The end-to-end id of the Pix; null until the payout is paid.'),
  failure_reason: maybeText('Why the payout failed; `rejected` if it was not approved.'),
  created_at: timestamp,
  paid_at: orNull(timestamp),
  description: maybeText('The description for the recipient, as submitted.'),
  metadata: described('Your own data, as submitted.', anyObject),
  awaiting_approval: described('Whether the payout waits for approval by an OWNER or ADMIN.', boolean),
});

export const payoutListSchema = exactly({
  object: constant('list'),
  data: listOf(payoutSchema),
  has_more: described('Whether there are more payouts after this page.', boolean),
  next_cursor: orNull(described('Pass it as `starting_after` to get the next page; null on the last page.', string())),
});
