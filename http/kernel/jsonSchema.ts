// Pieces of JSON Schema (draft 2020-12 vocabulary, as OpenAPI 3.1 takes it).

export interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly default?: unknown;
  readonly properties?: { readonly [name: string]: JsonSchema };
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean;
  readonly items?: JsonSchema;
  readonly enum?: readonly (string | number | boolean | null)[];
  readonly const?: string | number | boolean;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
}

export const string = (maxLength?: number, more: JsonSchema = {}): JsonSchema => ({
  type: 'string',
  ...(maxLength !== undefined && { maxLength }),
  ...more,
});
export const integer = (minimum: number, maximum: number, description?: string): JsonSchema => ({
  type: 'integer',
  minimum,
  maximum,
  ...(description !== undefined && { description }),
});
/** An idempotency key in a body (rule K6). */
export const idempotencyKey = string(128, { minLength: 8, pattern: '^[\\x20-\\x7e]*$' });
export const anyInteger: JsonSchema = { type: 'integer' };
export const boolean: JsonSchema = { type: 'boolean' };
export const timestamp: JsonSchema = {
  type: 'string',
  pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$',
};
export const anyObject: JsonSchema = { type: 'object' };
export const listOf = (items: JsonSchema): JsonSchema => ({ type: 'array', items });
export const orNull = (schema: JsonSchema): JsonSchema => ({ ...schema, type: [schema.type as string, 'null'] });
export const id = (prefix: string): JsonSchema => ({ type: 'string', pattern: `^${prefix}[0-9a-hjkmnp-tv-z]{26}$` });

/** All properties required but those of `optional`; nothing else: an allow-list (contract.md). */
export const exactly = (
  properties: { readonly [name: string]: JsonSchema },
  optional: readonly string[] = [],
): JsonSchema => ({
  type: 'object',
  properties,
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
  additionalProperties: false,
});
/** What a request may carry: unknown fields are ignored (rule I12). */
export const accepting = (
  properties: { readonly [name: string]: JsonSchema },
  required: readonly string[] = [],
): JsonSchema => ({
  type: 'object',
  properties,
  required,
});
