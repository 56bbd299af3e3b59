// Requests as text: equal texts are equal requests, whatever their key order and whitespace (decisions K2).
import type { Json } from '../kernel/serde.ts';

const sorted = (value: Json): Json => {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, inner]) => [key, sorted(inner as Json)]));
};

/** The known fields as sent, under a rule version; fields that were not sent are undefined. */
export const canonicalText = (version: number, known: object): string =>
  `${version}\n${JSON.stringify(sorted(known as Json))}`;
