// The webhook tag and the named schemas, which the OpenAPI document contains once and refers to.
import { HTTP_MODULES } from '../api/routes.ts';
import type { JsonSchema } from '../kernel/jsonSchema.ts';
import type { Tag } from '../kernel/route.ts';

/** The tag of the webhooks that Quita sends. No route has it. */
export const WEBHOOK_EVENTS: Tag = {
  name: 'Webhook events',
  description: 'The events that Quita sends to the webhook endpoints of a merchant.',
};

const NAMED = HTTP_MODULES.flatMap(({ schemas }) => Object.entries(schemas));
const NAMES = new Map<object, string>(NAMED.map(([name, schema]) => [schema, name]));

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

/** Returns the schema with each named schema replaced by a reference. */
export const withReferences: Refer = refer;

/** The named schemas by name. */
export const NAMED_SCHEMAS = Object.fromEntries(NAMED.map(([name, schema]) => [name, inside(schema)]));
