// Request and response schemas of the payout routes (rules Y1, Y2).
import { METADATA_BOUNDS } from '../../../domain/charge/request.ts';
import { AMOUNT_MAX, AMOUNT_MIN } from '../../../domain/kernel/money.ts';
import { PAYOUT_STATUSES } from '../../../domain/presentation/payout.ts';
import * as s from '../../kernel/jsonSchema.ts';
import type { Tag } from '../../kernel/route.ts';

/** The chapter of the API reference that contains these routes. */
export const PAYOUTS: Tag = { name: 'Payouts', description: 'Transfers from the wallet to a Pix key.' };

/** The length of the longest Pix key. */
const PIX_KEY_MAX = 77;
export const DESCRIPTION_MAX = 140;
export const REASON_MAX = 500;

export const payoutBody = s.accepting({
  amount: s.integer(AMOUNT_MIN, AMOUNT_MAX, 'The amount in centavos. The fee is charged in addition.'),
  currency: s.optional(s.described('BRL, which is the default and the only currency.', s.oneOfTexts(['BRL']))),
  destination: s.described(
    'The recipient of the payout.',
    s.accepting({
      pix_key: s.described(
        'An unformatted CPF or CNPJ, a phone number with +55, a lower-case email address, or a lower-case UUID.',
        s.string(PIX_KEY_MAX),
      ),
    }),
  ),
  description: s.optional(s.described('A description for the recipient.', s.string(DESCRIPTION_MAX))),
  metadata: s.optional(
    s.described(
      `Your own data. Reserved keys and keys that start with \`_\` are dropped. ${METADATA_BOUNDS}`,
      s.anyObject,
    ),
  ),
});

export const rejectPayoutBody = s.accepting({
  reason: s.optional(s.described('Your own reason, for your records.', s.string(REASON_MAX))),
});
const maybeText = (description: string) => s.orNull(s.described(description, s.string()));

export const payoutSchema = s.exactly({
  id: s.id('po_'),
  object: s.constant('payout'),
  amount: s.described('The amount that the recipient receives, in centavos.', s.anyInteger),
  currency: s.described('ISO 4217 currency code.', s.string(8)),
  status: s.described('The status of the payout.', s.oneOfTexts(PAYOUT_STATUSES)),
  method: s.constant('pix'),
  destination: maybeText('The Pix key, masked; null if a refund went to the payer’s own document.'),
  refund_id: s.orNull(
    s.described('The cash-out refund that this transfer pays; null for a requested payout.', s.id('rf_')),
  ),
  charge_id: s.orNull(s.described('The charge of the refund; null for a requested payout.', s.id('ch_'))),
  fee: s.described('The fee charged in addition to the amount, in centavos.', s.anyInteger),
  end_to_end_id: maybeText('The end-to-end id of the Pix; null until the payout is paid.'),
  failure_reason: maybeText('Why the payout failed; `rejected` if it was not approved.'),
  created_at: s.timestamp,
  paid_at: s.orNull(s.timestamp),
  description: maybeText('The description for the recipient, as submitted.'),
  metadata: s.described('Your own data, as submitted.', s.anyObject),
  awaiting_approval: s.described('Whether the payout waits for approval by an OWNER or ADMIN.', s.boolean),
});

export const payoutListSchema = s.exactly({
  object: s.constant('list'),
  data: s.listOf(payoutSchema),
  has_more: s.described('Whether there are more payouts after this page.', s.boolean),
  next_cursor: s.orNull(
    s.described('Pass it as `starting_after` to get the next page; null on the last page.', s.string()),
  ),
});
