// Building blocks of JSON Schema (draft 2020-12 vocabulary, as used by OpenAPI 3.1).
import { type Static, type TArrayOptions, type TProperties, type TSchema, Type } from 'typebox';
import type { Json } from '../../domain/kernel/json.ts';

export interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly default?: unknown;
  readonly properties?: { readonly [name: string]: JsonSchema };
  readonly required?: readonly string[] | undefined;
  readonly additionalProperties?: boolean;
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
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
  /** The TypeScript type of a schema in typebox; doesn't exist at run time. */
  readonly '~unsafe'?: unknown;
}

/** Returns the schema with a description. */
export const described = <Schema extends TSchema>(description: string, schema: Schema): Schema => ({
  ...schema,
  description,
});

export const string = (maxLength?: number, more: JsonSchema = {}) =>
  Type.String({ ...(maxLength !== undefined && { maxLength }), ...more });
export const integer = (minimum: number, maximum: number, description?: string) =>
  Type.Integer({ minimum, maximum, ...(description !== undefined && { description }) });
/** An integer without a maximum: the caller caps it. */
export const integerFrom = (minimum: number) => Type.Integer({ minimum });
/** An idempotency key in a body (rule K6). */
export const idempotencyKey = Type.String({
  minLength: 8,
  maxLength: 128,
  pattern: '^[\\x20-\\x7e]*$',
  description: 'Identifies this request. A repeat with the same key and body returns the first response again.',
});
export const anyInteger = Type.Integer();
export const anyNumber = Type.Number();
export const boolean = Type.Boolean();
export const timestamp = Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$' });
export const anyObject = Type.Unsafe<{ readonly [key: string]: Json }>({ type: 'object' });
/** Any JSON value. */
export const anyJson = Type.Unsafe<Json>({});
/** An object with unknown properties. */
export const unknownObject = Type.Unsafe<unknown>({ type: 'object' });
/** Currency → volume. */
export const volumesByCurrency = Type.Unsafe<{ readonly [currency: string]: number }>({ type: 'object' });
export const id = (prefix: string) => Type.String({ pattern: `^${prefix}[0-9a-hjkmnp-tv-z]{26}$` });
export const oneOfTexts = <const Value extends string>(values: readonly Value[]) =>
  Type.Unsafe<Value>({ type: 'string', enum: values });
export const mode = oneOfTexts(['test', 'live']);
export const constant = <const Value extends string>(value: Value) =>
  Type.Unsafe<Value>({ type: 'string', const: value });
export const constantTrue = Type.Unsafe<true>({ type: 'boolean', const: true });
export const listOf = <Item extends TSchema>(items: Item, more: TArrayOptions = {}) => Type.Array(items, more);
export const orNull = <Schema extends TSchema>(schema: Schema) => {
  const { type, ...rest } = schema as JsonSchema;
  return Type.Unsafe<Static<Schema> | null>({ type: [type as string, 'null'], ...rest });
};
/** A value whose schema a capability declares. */
export const declaredValue = (schema: { readonly [keyword: string]: Json }) => Type.Unsafe<unknown>({ ...schema });
/** One of two kinds of objects. */
export const either = <One extends TSchema, Other extends TSchema>(one: One, other: Other) =>
  Type.Unsafe<Static<One> | Static<Other>>({ type: 'object', anyOf: [one, other] });
export const optional = <Schema extends TSchema>(schema: Schema) => Type.Optional(schema);

/** An object with exactly these properties (an allow-list, contract.md). All are required unless optional. */
export const exactly = <Properties extends TProperties>(properties: Properties) =>
  Type.Object(properties, { additionalProperties: false });
/** An object in a request. `jsonBody` closes it, unless the route ignores unknown fields (rule I12). */
export const accepting = <Properties extends TProperties>(properties: Properties) => Type.Object(properties);

const withParts = <Schema extends TSchema>(schema: Schema, isClosed: boolean): Schema => {
  const { properties, additionalProperties: _, ...rest } = schema as JsonSchema;
  if (properties === undefined) return schema;
  const parts = Object.entries(properties).map(([name, part]) => [name, withParts(part as TSchema, isClosed)]);
  const whole = { ...rest, properties: Object.fromEntries(parts), ...(isClosed && { additionalProperties: false }) };
  return whole as unknown as Schema;
};

/** Returns the schema with its objects closed at every depth: objects that list their properties accept no others. */
export const closed = <Schema extends TSchema>(schema: Schema): Schema => withParts(schema, true);

/** Returns the schema with its objects open: it validates listed properties and ignores others. */
export const open = <Schema extends TSchema>(schema: Schema): Schema => withParts(schema, false);
