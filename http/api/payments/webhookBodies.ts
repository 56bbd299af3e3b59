// The bodies of payment webhooks of the older family (contract.md Events).
import { PAYMENT_METHODS } from '../../../domain/charge/methods.ts';
import { PUBLIC_STATUS_OF } from '../../../domain/presentation/status.ts';
import type { JsonSchema } from '../../kernel/jsonSchema.ts';
import * as s from '../../kernel/jsonSchema.ts';
import { legacyBody } from '../webhooks/webhookBodies.ts';

const status: JsonSchema = { type: 'string', enum: Object.keys(PUBLIC_STATUS_OF) };

/** Properties of webhooks about a payment, and about payouts of its refunds. */
export const paymentChange = {
  amount: s.anyInteger,
  status,
  previousStatus: status,
  paidWith: s.optional(s.oneOfTexts(PAYMENT_METHODS)),
  providerFee: s.optional(s.anyInteger),
  platformFee: s.optional(s.anyInteger),
  netAmount: s.optional(s.described('`amount` less both fees.', s.anyInteger)),
};
export const paymentOrigin = { occurredAt: s.timestamp, customerId: s.optional(s.string(128)) };

const refundFacts = {
  refundId: { ...s.orNull(s.id('rf_')), description: 'The refund; null if a payer lock returned the money.' },
  refundedAmount: { ...s.anyInteger, description: 'The amount of this refund.' },
  refundedTotal: { ...s.anyInteger, description: 'The sum of all refunds of the payment so far.' },
} satisfies Record<string, JsonSchema>;

export const paymentBody = (event: string): JsonSchema =>
  legacyBody(
    s.exactly({
      transactionId: s.id('tx_'),
      ...paymentChange,
      ...(event === 'payment.refunded' && refundFacts),
      ...paymentOrigin,
    }),
  )(event);
