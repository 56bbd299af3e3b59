// Requests as text: equal texts are equal requests, whatever their key order and whitespace (rule K2).
import type { Json } from '../kernel/serde.ts';

const ARRAY_INDEX_MAX = 2 ** 32 - 2;
const isArrayIndex = (key: string): boolean => /^(0|[1-9]\d{0,9})$/.test(key) && Number(key) <= ARRAY_INDEX_MAX;

/** Array indexes first, in number order, as every object lists them (ECMA-262, OrdinaryOwnPropertyKeys); then by code units. */
const orderedKeys = (value: object): string[] => {
  const keys = Object.keys(value);
  let indexes = 0;
  while (indexes < keys.length && isArrayIndex(keys[indexes] as string)) indexes++;
  return indexes === 0 ? keys.sort() : [...keys.slice(0, indexes), ...keys.slice(indexes).sort()];
};

const written = (value: Json): string => {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(written).join()}]`;
  let members = '';
  for (const key of orderedKeys(value)) {
    const inner = (value as { readonly [key: string]: Json | undefined })[key];
    if (inner !== undefined) members += `${members && ','}${JSON.stringify(key)}:${written(inner)}`;
  }
  return `{${members}}`;
};

/** The known fields as sent, under a rule version; fields that were not sent are undefined. */
export const canonicalText = (version: number, known: object): string => `${version}\n${written(known as Json)}`;
