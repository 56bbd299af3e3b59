// The webhooks of the OpenAPI document: one for every event of the catalogue, in the envelope of its family (contract.md Events).

import { PAYMENT_METHODS } from '../../domain/charge/methods.ts';
import { MONEY_OUTCOMES } from '../../domain/dispute/medCase.ts';
import { PUBLIC_STATUS_OF } from '../../domain/presentation/status.ts';
import { medCaseSchema } from '../api/disputes/caseSchema.ts';
import { chargeSchema } from '../api/payments/chargeSchema.ts';
import {
  anyInteger,
  described,
  exactly,
  id,
  integer,
  type JsonSchema,
  oneOfTexts,
  optional,
  orNull,
  string,
  timestamp,
} from '../kernel/jsonSchema.ts';

const maybeText = orNull(string());
const maybeTime = orNull(timestamp);

export const payoutSchema = exactly({
  id: id('po_'),
  object: { type: 'string', const: 'payout' },
  amount: integer(1, Number.MAX_SAFE_INTEGER, 'Centavos.'),
  currency: string(8),
  status: { type: 'string', enum: ['pending', 'paid', 'failed'] },
  method: { type: 'string', const: 'pix' },
  destination: { ...maybeText, description: 'The Pix key that the merchant named; null for the payer’s own.' },
  refund_id: id('rf_'),
  charge_id: id('ch_'),
  fee: anyInteger,
  end_to_end_id: maybeText,
  failure_reason: maybeText,
  created_at: timestamp,
  paid_at: maybeTime,
});

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
  transactionId: { ...id('tx_'), description: 'The payment that is given back.' },
  withdrawalId: id('po_'),
  refundId: id('rf_'),
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
