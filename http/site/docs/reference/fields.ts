// Lists of fields: parameters, and the properties of a schema at every depth.
import { timestamp } from '../../../kernel/jsonSchema.ts';
import { html, type Markup } from '../../html.ts';
import { markdown } from '../guides.ts';
import type { Schema } from './model.ts';

interface Field {
  readonly name: string;
  readonly description?: string | undefined;
  readonly isRequired: boolean;
  readonly schema: Schema;
}

const typesOf = ({ type }: Schema): readonly string[] => [type ?? 'any'].flat();

const typeName = (schema: Schema): string => {
  const isTime = schema.pattern === (timestamp as Schema).pattern;
  const name = (type: string): string => {
    if (type === 'array' && schema.items) return `array of ${typeName(schema.items)}`;
    return type === 'string' && isTime ? 'timestamp' : type;
  };
  return typesOf(schema).map(name).join(' or ');
};

const number = (value: number): string => (value >= Number.MAX_SAFE_INTEGER ? '2^53 − 1' : value.toLocaleString('en'));

/** Returns the bounds in words, or null for an unbounded field. */
const range = (from: number | undefined, to: number | undefined, unit: string): string | null => {
  if (from === undefined && to === undefined) return null;
  if (to === undefined) return `At least ${number(from ?? 0)}${unit}.`;
  return from === undefined ? `At most ${number(to)}${unit}.` : `${number(from)} to ${number(to)}${unit}.`;
};

const values = (all: readonly unknown[]): Markup => {
  const each = all.map((value) => html`<code>${String(value)}</code> `);
  return html`<p class="values">${all.length === 1 ? 'Always ' : 'One of '}${each}</p>`;
};

const boundsOf = (schema: Schema): Markup | null => {
  const texts = [
    range(schema.minLength, schema.maxLength, ' characters'),
    range(schema.minimum, schema.maximum, ''),
    range(schema.minItems, schema.maxItems, ' items'),
    schema.default === undefined ? null : `Default: ${String(schema.default)}.`,
  ].filter((text) => text !== null);
  return texts.length === 0 ? null : html`<p class="bounds">${texts.join(' ')}</p>`;
};

const inside = (name: string, schema: Schema): Markup | null => {
  const { properties } = schema.items ?? schema;
  if (properties === undefined) return null;
  return html`<details class="more"><summary>Fields of <code>${name}</code></summary>${propertyList(schema)}</details>`;
};

const item = ({ name, description, isRequired, schema }: Field): Markup => {
  const choices = schema.enum ?? schema.items?.enum ?? (schema.const === undefined ? null : [schema.const]);
  const required = isRequired ? html` <span class="required">required</span>` : null;
  return html`<li><p class="field"><code>${name}</code> <span class="type">${typeName(schema)}</span>${required}</p>
${description === undefined ? null : markdown(description)}${choices && values(choices)}${boundsOf(schema)}${inside(name, schema)}</li>`;
};

export const fieldList = (fields: readonly Field[]): Markup => html`<ul class="fields">${fields.map(item)}</ul>`;

/** Returns the properties of an object, or of the objects in an array. `marksRequired` marks required ones, in requests only. */
export const propertyList = (schema: Schema, marksRequired = false): Markup => {
  const { properties = {}, required = [] } = schema.items ?? schema;
  return fieldList(
    Object.entries(properties).map(([name, property]) => ({
      name,
      description: property.description,
      isRequired: marksRequired && required.includes(name),
      schema: property,
    })),
  );
};
