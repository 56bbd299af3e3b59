// Request and response of the payout routes (rules Y1, Y2).
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

/** As long as the directory's longest key. */
const PIX_KEY_MAX = 77;
const DESCRIPTION_MAX = 140;
export const REASON_MAX = 500;

export const payoutBody = accepting({
  amount: integer(AMOUNT_MIN, AMOUNT_MAX, 'Centavos. The fee comes on top of it.'),
  currency: optional(described('BRL is the default and the only currency.', oneOfTexts(['BRL']))),
  destination: described(
    'Where the money goes.',
    accepting({
      pix_key: described('A bare CPF or CNPJ, a +55 phone, a lower-case email or UUID.', string(PIX_KEY_MAX)),
    }),
  ),
  description: optional(described('For the receiver.', string(DESCRIPTION_MAX))),
  metadata: optional(described('Your own data. Reserved keys and keys that begin with `_` are left out.', anyObject)),
});

export const rejectPayoutBody = accepting({
  reason: optional(described('Your own, for your records.', string(REASON_MAX))),
});
const maybeText = (description: string) => orNull(described(description, string()));

export const payoutSchema = exactly({
  id: id('po_'),
  object: constant('payout'),
  amount: described('What arrives, in centavos.', anyInteger),
  currency: described('ISO 4217.', string(8)),
  status: described('Where the payout stands.', oneOfTexts(PAYOUT_STATUSES)),
  method: constant('pix'),
  destination: maybeText('The Pix key, masked; null if a refund went to the payer’s own document.'),
  refund_id: orNull(described('The cash-out refund that it pays; null if the payout was requested.', id('rf_'))),
  charge_id: orNull(described('The charge of that refund.', id('ch_'))),
  fee: described('What you pay on top of the amount, in centavos.', anyInteger),
  end_to_end_id: maybeText('Of the Pix; null until it is paid.'),
  failure_reason: maybeText('Why it failed; `rejected` if an approval was refused.'),
  created_at: timestamp,
  paid_at: orNull(timestamp),
  description: maybeText('As submitted.'),
  metadata: described('As submitted.', anyObject),
  awaiting_approval: described('Whether an OWNER or ADMIN must approve it first.', boolean),
});

export const payoutListSchema = exactly({
  object: constant('list'),
  data: listOf(payoutSchema),
  has_more: described('Whether there are more after these.', boolean),
  next_cursor: orNull(described('For `starting_after` of the next page.', string())),
});
