// Request and response of the refund routes (contract.md Refund).
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
  amount: optional(integer(1, Number.MAX_SAFE_INTEGER, 'Smallest unit. Left out: all that is left of the payment.')),
  reason: optional(described('Your own, for your records.', string(500))),
  strategy: optional(
    described(
      'PIX only. `devolution` goes back where the Pix came from, `cashout` is a Pix of its own. Default cashout.',
      oneOfTexts(['devolution', 'cashout']),
    ),
  ),
  passFeeToTenant: optional(described('Cashout: the fee is taken from your wallet. Default false.', boolean)),
  destinationKey: optional(described('PIX by cashout only: a Pix key, instead of the payer’s document.', string(77))),
});

export const refundSchema = exactly({
  id: described('`rf_` and the raw id.', id('rf_')),
  transactionId: described('The payment.', id('tx_')),
  amount: described('Smallest unit.', anyInteger),
  currency: described('That of the payment.', string(8)),
  status: described('Advances as the bank confirms.', oneOfTexts(REFUND_STATUSES)),
  reason: orNull(described('The merchant’s own.', string())),
  failureReason: orNull(described('Why it could not be paid back; null until FAILED.', string())),
  createdAt: timestamp,
});
export const refundsSchema = exactly({ data: listOf(refundSchema) });
