// The webhooks of the OpenAPI document: one for every event of the catalogue, in the envelope of its family (contract.md Events).

import { PAYMENT_METHODS } from '../../domain/charge/methods.ts';
import { MONEY_OUTCOMES } from '../../domain/dispute/medCase.ts';
import { PUBLIC_STATUS_OF } from '../../domain/presentation/status.ts';
import { medCaseSchema } from '../api/disputes/caseSchema.ts';
import { chargeSchema } from '../api/payments/chargeSchema.ts';
import { payoutSchema } from '../api/payouts/payoutSchema.ts';
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
} from '../kernel/jsonSchema.ts';

/** Where the disputed money went (rule Q5). */
const resolutionSchema = exactly({
  object: { type: 'string', const: 'med_resolution' },
  case_id: id('med_'),
  charge_id: id('ch_'),
  amount: { ...anyInteger, description: 'Disputed amount as it was reported, in the smallest unit.' },
  currency: string(8),
  money_outcome: { type: 'string', enum: [...MONEY_OUTCOMES] },
  resolved_at: timestamp,
});

const status: JsonSchema = { type: 'string', enum: Object.keys(PUBLIC_STATUS_OF) };

const canonicalEnvelope = (event: string, object: JsonSchema): JsonSchema =>
  exactly({
    id: { ...id('evt_'), description: 'The same in every repeat of this event: deduplicate on it.' },
    object: { type: 'string', const: 'event' },
    api_version: string(10, { description: 'The version of this contract, a date.' }),
    type: { type: 'string', const: event },
    created_at: timestamp,
    data: exactly({ object }),
  });

const settled = {
  paidWith: optional(oneOfTexts(PAYMENT_METHODS)),
  providerFee: optional(anyInteger),
  platformFee: optional(anyInteger),
  netAmount: optional(described('`amount` less both fees.', anyInteger)),
};

const paymentData = (refund: { readonly [name: string]: JsonSchema } = {}): JsonSchema =>
  exactly({
    transactionId: id('tx_'),
    amount: anyInteger,
    status,
    previousStatus: status,
    ...settled,
    ...refund,
    occurredAt: timestamp,
    customerId: optional(string(128)),
  });

const refundFacts = {
  refundId: { ...orNull(id('rf_')), description: 'Null for money that a payer lock sent back.' },
  refundedAmount: { ...anyInteger, description: 'Of this refund.' },
  refundedTotal: { ...anyInteger, description: 'Of all refunds of the payment so far.' },
} satisfies Record<string, JsonSchema>;

const withdrawalData = exactly({
  transactionId: { ...id('tx_'), description: 'The refunded payment. A requested payout has its own raw id here.' },
  withdrawalId: id('po_'),
  refundId: optional({ ...id('rf_'), description: 'The cash-out refund. Omitted for a requested payout.' }),
  amount: anyInteger,
  status,
  previousStatus: status,
  ...settled,
  occurredAt: timestamp,
  customerId: optional(string(128)),
});

const legacyEnvelope = (event: string, data: JsonSchema): JsonSchema =>
  exactly({ event: { type: 'string', const: event }, data });

/** Returns the schema of the body that is delivered for an event of the catalogue. */
export const webhookSchema = (event: string): JsonSchema => {
  const [family = ''] = event.split('.');
  if (family === 'charge') return canonicalEnvelope(event, chargeSchema);
  if (family === 'payout') return canonicalEnvelope(event, payoutSchema);
  if (family === 'med_case') return canonicalEnvelope(event, medCaseSchema);
  if (family === 'med') return canonicalEnvelope(event, resolutionSchema);
  if (family === 'withdrawal') return legacyEnvelope(event, withdrawalData);
  return legacyEnvelope(event, paymentData(event === 'payment.refunded' ? refundFacts : {}));
};
