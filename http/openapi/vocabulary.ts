// What the document names: the tag of webhooks, and the schemas that stand in it once and are referred to.
import { medCaseSchema } from '../api/disputes/caseSchema.ts';
import { chargeSchema } from '../api/payments/chargeSchema.ts';
import { createdPaymentSchema, transactionSchema } from '../api/payments/transactionSchema.ts';
import { payoutSchema } from '../api/payouts/payoutSchema.ts';
import { refundSchema } from '../api/refunds/refundSchema.ts';
import type { JsonSchema } from '../kernel/jsonSchema.ts';
import type { Tag } from '../kernel/route.ts';

/** The tag of what Quita sends: no route has it. */
export const WEBHOOK_EVENTS: Tag = {
  name: 'Webhook events',
  description: 'What Quita sends to the endpoints of a merchant.',
};

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
