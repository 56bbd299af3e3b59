// What the document names: its tags, and the schemas that stand in it once and are referred to.
import { medCaseSchema } from '../api/disputes/caseSchema.ts';
import { chargeSchema } from '../api/payments/chargeSchema.ts';
import { createdPaymentSchema, transactionSchema } from '../api/payments/transactionSchema.ts';
import { payoutSchema } from '../api/payouts/payoutSchema.ts';
import { refundSchema } from '../api/refunds/refundSchema.ts';
import type { JsonSchema } from '../kernel/jsonSchema.ts';
import type { Tag } from '../kernel/route.ts';

/** The tag of what Quita sends: no route has it. */
export const WEBHOOK_EVENTS = 'Webhook events';

const TAGS: Readonly<Record<Tag | typeof WEBHOOK_EVENTS, string>> = {
  Charges: 'Pix charges: the code to copy and its QR image come with the answer.',
  Payments: 'The transaction format: several methods, cancellation, receipts, statistics.',
  Refunds: 'Giving a settled payment back, in full or in part.',
  Payouts: 'Money out of the wallet to a Pix key.',
  Disputes: 'Cases that payers’ banks open about payments: answers, evidence, outcomes.',
  Wallets: 'What a merchant may dispose of, and what is still held.',
  Webhooks: 'Where events are sent, and what was sent.',
  Sandbox: 'What payers, banks and time do. For test keys only.',
  Dashboard: 'Logging in, for the people of an account. What is asked for with its token is not for API keys.',
  Platform:
    'What operators of the platform do with accounts, users, keys, work and the log. For the token of an OPERATOR, who belongs to no account.',
  Checkout: 'The payer’s page and what belongs to it. The raw id in the path is the credential.',
  Operations: 'Health and metrics, for whoever runs this server.',
  [WEBHOOK_EVENTS]: 'What Quita sends to the endpoints of a merchant.',
};

/** Returns the tags of these operations: one without any would be shown as an empty chapter. */
export const tagObjects = (
  used: ReadonlySet<string>,
): readonly { readonly name: string; readonly description: string }[] =>
  Object.entries(TAGS)
    .filter(([name]) => used.has(name))
    .map(([name, description]) => ({ name, description }));

const NAMED: { readonly [name: string]: JsonSchema } = {
  Charge: chargeSchema,
  Payment: transactionSchema,
  CreatedPayment: createdPaymentSchema,
  Refund: refundSchema,
  Payout: payoutSchema,
  DisputeCase: medCaseSchema,
};
const NAMES = new Map<object, string>(Object.entries(NAMED).map(([name, schema]) => [schema, name]));

export type Refer = (schema: JsonSchema) => unknown;

const inside = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(refer);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, refer(part)]));
};
const refer = (value: unknown): unknown => {
  const name = typeof value === 'object' && value !== null ? NAMES.get(value) : undefined;
  return name === undefined ? inside(value) : { $ref: `#/components/schemas/${name}` };
};

/** Returns the schema with a reference in place of each named schema in it. */
export const withReferences: Refer = refer;

/** The named schemas themselves. */
export const NAMED_SCHEMAS = Object.fromEntries(Object.entries(NAMED).map(([name, schema]) => [name, inside(schema)]));
