// Request and response schemas of the refund routes (contract.md Refund).
import { REFUND_STATUSES } from '../../../domain/presentation/refund.ts';
import {
  accepting,
  anyInteger,
  boolean,
  described,
  exactly,
  id,
  idempotencyKey,
  integer,
  listOf,
  oneOfTexts,
  optional,
  orNull,
  string,
  timestamp,
} from '../../kernel/jsonSchema.ts';

export const refundBody = accepting({
  idempotencyKey,
  amount: optional(
    integer(1, Number.MAX_SAFE_INTEGER, 'The amount in the smallest unit. Default: the remaining refundable amount.'),
  ),
  reason: optional(described('Your own reason, for your records.', string(500))),
  strategy: optional(
    described(
      'PIX only. `devolution` returns the Pix to its source account. `cashout` sends a new Pix. Default: cashout.',
      oneOfTexts(['devolution', 'cashout']),
    ),
  ),
  passFeeToTenant: optional(
    described('Whether the fee of a cashout is charged to your wallet. Default: false.', boolean),
  ),
  destinationKey: optional(
    described('PIX by cashout only: the Pix key to pay to, instead of the payer’s document.', string(77)),
  ),
});

export const refundSchema = exactly({
  id: described('`rf_` and the raw id.', id('rf_')),
  transactionId: described('The refunded payment.', id('tx_')),
  amount: described('The amount in the smallest unit.', anyInteger),
  currency: described('The currency of the payment.', string(8)),
  status: described('The status of the refund, updated when the bank decides.', oneOfTexts(REFUND_STATUSES)),
  reason: orNull(described('Your own reason, as submitted.', string())),
  failureReason: orNull(described('Why the refund failed; null unless the status is FAILED.', string())),
  createdAt: timestamp,
});
export const refundsSchema = exactly({ data: listOf(refundSchema) });
