// Fields of a body that its schema does not name (rule I12). Ajv would report thousands of them, each at the cost of an object; here the
// first ones are enough.
import type { TSchema } from 'typebox';
import type { JsonSchema } from './jsonSchema.ts';

const withParts = <Schema extends TSchema>(schema: Schema, isClosed: boolean): Schema => {
  const { properties, additionalProperties: _, ...rest } = schema as JsonSchema;
  if (properties === undefined) return schema;
  const parts = Object.entries(properties).map(([name, part]) => [name, withParts(part as TSchema, isClosed)]);
  const whole = { ...rest, properties: Object.fromEntries(parts), ...(isClosed && { additionalProperties: false }) };
  return whole as unknown as Schema;
};

/** Returns the schema with its objects closed at every depth: where they name their fields, no other field is valid. */
export const closed = <Schema extends TSchema>(schema: Schema): Schema => withParts(schema, true);

/** Returns the schema with its objects open: its own fields are judged, and others are not looked at. */
export const open = <Schema extends TSchema>(schema: Schema): Schema => withParts(schema, false);

/** Returns the paths of fields that a closed schema does not name, at most `max`. */
export const unknownFields = (schema: JsonSchema, body: unknown, max: number): readonly string[] => {
  const found: string[] = [];
  const collect = ({ properties = {}, additionalProperties }: JsonSchema, value: unknown, path: string): void => {
    if (additionalProperties !== false || typeof value !== 'object' || value === null || Array.isArray(value)) return;
    for (const name of Object.keys(value)) {
      if (found.length === max) return;
      const at = path === '' ? name : `${path}.${name}`;
      const known = Object.hasOwn(properties, name) ? properties[name] : undefined;
      if (known === undefined) found.push(at);
      else collect(known, (value as Readonly<Record<string, unknown>>)[name], at);
    }
  };
  collect(schema, body, '');
  return found;
};
