// Generates values that a schema allows.
import * as fc from 'fast-check';
import type { Document, Schema } from './schema.ts';

const ARRAY_MAX = 4;

const resolved = (document: Document, schema: Schema): Schema => {
  if (schema.$ref === undefined) return schema;
  const found = schema.$ref
    .split('/')
    .slice(1)
    .reduce<unknown>((inner, name) => (inner as Record<string, unknown>)[name], document);
  return resolved(document, found as Schema);
};

/** If both have a pattern, the first one is used, because the schema has the narrower one first. */
const both = (one: Schema, other: Schema): Schema => ({
  ...other,
  ...one,
  properties: { ...one.properties, ...other.properties },
  required: [...(one.required ?? []), ...(other.required ?? [])],
});
const flat = (document: Document, schema: Schema): Schema => {
  const { allOf = [], ...own } = resolved(document, schema);
  return allOf.map((part) => flat(document, part)).reduce(both, own);
};

const textsOf = ({ pattern, format, minLength = 0, maxLength = 40 }: Schema): fc.Arbitrary<string> => {
  if (format === 'date-time')
    return fc
      .date({ min: new Date('1900-01-01'), max: new Date('2999-12-31'), noInvalidDate: true })
      .map((date) => date.toISOString());
  if (pattern !== undefined) return fc.stringMatching(new RegExp(pattern));
  return fc.string({ minLength, maxLength });
};

/** Returns an arbitrary of values that the schema allows, without additional properties. */
export const valuesOf = (document: Document, schema: Schema): fc.Arbitrary<unknown> => {
  const { anyOf, oneOf, ...own } = flat(document, schema);
  const choices = anyOf ?? oneOf;
  if (choices !== undefined)
    return fc.oneof(...choices.map((choice) => valuesOf(document, both(flat(document, choice), own))));
  if (own.enum !== undefined) return fc.constantFrom(...own.enum);
  const isObject = own.type === 'object' || Object.keys(own.properties ?? {}).length > 0;
  switch (isObject ? 'object' : own.type) {
    case 'array':
      return fc.array(valuesOf(document, own.items ?? {}), { maxLength: ARRAY_MAX });
    case 'integer':
      return fc.integer();
    case 'number':
      return fc.double({ noNaN: true, noDefaultInfinity: true });
    case 'boolean':
      return fc.boolean();
    case 'object':
      return fc.record(
        Object.fromEntries(
          Object.entries(own.properties ?? {}).map(([name, part]) => [name, valuesOf(document, part)]),
        ),
        { requiredKeys: [...(own.required ?? [])] },
      );
    default:
      return textsOf(own);
  }
};
