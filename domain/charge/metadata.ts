// The merchant's own data on a charge or payment: what is kept of it, and its bounds (decisions I11).
import type { Json } from '../kernel/serde.ts';

export const METADATA_KEYS_MAX = 50;
/** As JSON, in UTF-8, without the description (I11). */
export const METADATA_BYTES_MAX = 8_192;
/** Deeper values could not be written out again by every JSON writer; nobody nests an order that deep. */
export const METADATA_DEPTH_MAX = 20;

const RESERVED = new Set(['med', 'failure', 'settlement', 'provider', 'fees']);
/** Keys that name parts of every object: echoing them back would surprise JavaScript readers. */
const PROTOTYPE_KEYS = new Set(['__proto__', 'constructor', 'prototype']);

/** Prototype keys go on every level, reserved keys and those that begin with `_` at the top (I11). */
export const keptMetadata = (metadata: { readonly [key: string]: Json }): { [key: string]: Json } => {
  const kept: { [key: string]: Json } = {};
  for (const [key, value] of Object.entries(withoutPrototypeKeys(metadata) as { [key: string]: Json }))
    if (!RESERVED.has(key) && !key.startsWith('_')) kept[key] = value;
  return kept;
};

const withoutPrototypeKeys = (value: Json): Json => {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(withoutPrototypeKeys);
  const kept: { [key: string]: Json } = {};
  for (const [key, inner] of Object.entries(value))
    if (!PROTOTYPE_KEYS.has(key)) kept[key] = withoutPrototypeKeys(inner as Json);
  return kept;
};

const utf8Length = (text: string): number => {
  let bytes = 0;
  for (const char of text) {
    const code = char.codePointAt(0) as number;
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  }
  return bytes;
};

const isDeeperThan = (value: Json, levels: number): boolean => {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  return Object.values(value).some((inner: Json) => isDeeperThan(inner, levels - 1));
};

/** Numbers that JSON can't hold (1e999 reads as infinite) would come back as null. */
const hasUnwritableNumber = (value: Json): boolean =>
  typeof value === 'number'
    ? !Number.isFinite(value)
    : typeof value === 'object' &&
      value !== null &&
      Object.values(value).some((inner: Json) => hasUnwritableNumber(inner));

/** What is wrong with the merchant's metadata; null: nothing (I11). */
export const metadataProblem = (metadata: { readonly [key: string]: Json }): string | null => {
  if (isDeeperThan(metadata, METADATA_DEPTH_MAX)) return `must not be nested deeper than ${METADATA_DEPTH_MAX} levels`;
  if (hasUnwritableNumber(metadata)) return 'holds a number that is too large';
  const { description: _, ...kept } = keptMetadata(metadata);
  if (Object.keys(kept).length > METADATA_KEYS_MAX) return `must not have more than ${METADATA_KEYS_MAX} keys`;
  if (utf8Length(JSON.stringify(kept)) > METADATA_BYTES_MAX)
    return `must not be larger than ${METADATA_BYTES_MAX} bytes as JSON`;
  return null;
};
