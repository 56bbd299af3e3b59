// Request and response schemas of the refund routes (contract.md Refund).
import { REFUND_STATUSES } from '../../../domain/presentation/refund.ts';
import * as s from '../../kernel/jsonSchema.ts';
import type { Tag } from '../../kernel/route.ts';

/** The chapter of the API reference that contains these routes. */
export const REFUNDS: Tag = { name: 'Refunds', description: 'Full and partial refunds of settled payments.' };

export const refundBody = s.accepting({
  idempotencyKey: s.idempotencyKey,
  amount: s.optional(
    s.integer(1, Number.MAX_SAFE_INTEGER, 'The amount in the smallest unit. Default: the remaining refundable amount.'),
  ),
  reason: s.optional(s.described('Your own reason, for your records.', s.string(500))),
  strategy: s.optional(
    s.described(
      'PIX only. `devolution` returns the Pix to its source account. `cashout` sends a new Pix. Default: cashout.',
      s.oneOfTexts(['devolution', 'cashout']),
    ),
  ),
  passFeeToTenant: s.optional(
    s.described('Whether the fee of a cashout is charged to your wallet. Default: false.', s.boolean),
  ),
  destinationKey: s.optional(
    s.described('PIX by cashout only: the Pix key to pay to, instead of the payer’s document.', s.string(77)),
  ),
});

export const refundSchema = s.exactly({
  id: s.described('`rf_` and the raw id.', s.id('rf_')),
  transactionId: s.described('The refunded payment.', s.id('tx_')),
  amount: s.described('The amount in the smallest unit.', s.anyInteger),
  currency: s.described('The currency of the payment.', s.string(8)),
  status: s.described('The status of the refund, updated when the bank decides.', s.oneOfTexts(REFUND_STATUSES)),
  reason: s.orNull(s.described('Your own reason, as submitted.', s.string())),
  failureReason: s.orNull(s.described('Why the refund failed; null unless the status is FAILED.', s.string())),
  createdAt: s.timestamp,
});
export const refundsSchema = s.exactly({ data: s.listOf(refundSchema) });
