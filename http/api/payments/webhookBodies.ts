// The bodies of payment webhooks of the older family (contract.md Events).
import { PAYMENT_METHODS } from '../../../domain/charge/methods.ts';
import { PUBLIC_STATUS_OF } from '../../../domain/presentation/status.ts';
import {
  anyInteger,
  described,
  exactly,
  id,
  type JsonSchema,
  oneOfTexts,
  optional,
  orNull,
  string,
  timestamp,
} from '../../kernel/jsonSchema.ts';
import { legacyBody } from '../webhooks/webhookBodies.ts';

const status: JsonSchema = { type: 'string', enum: Object.keys(PUBLIC_STATUS_OF) };

/** Properties of webhooks about a payment, and about payouts of its refunds. */
export const paymentChange = {
  amount: anyInteger,
  status,
  previousStatus: status,
  paidWith: optional(oneOfTexts(PAYMENT_METHODS)),
  providerFee: optional(anyInteger),
  platformFee: optional(anyInteger),
  netAmount: optional(described('`amount` less both fees.', anyInteger)),
};
export const paymentOrigin = { occurredAt: timestamp, customerId: optional(string(128)) };

const refundFacts = {
  refundId: { ...orNull(id('rf_')), description: 'The refund; null if a payer lock returned the money.' },
  refundedAmount: { ...anyInteger, description: 'The amount of this refund.' },
  refundedTotal: { ...anyInteger, description: 'The sum of all refunds of the payment so far.' },
} satisfies Record<string, JsonSchema>;

export const paymentBody = (event: string): JsonSchema =>
  legacyBody(
    exactly({
      transactionId: id('tx_'),
      ...paymentChange,
      ...(event === 'payment.refunded' && refundFacts),
      ...paymentOrigin,
    }),
  )(event);
