// The merchant's own data on a charge or payment: what is kept of it, and its bounds (rule I11).
import type { Json } from '../kernel/json.ts';
import type { Problem } from '../kernel/rejection.ts';

const METADATA_KEYS_MAX = 50;
/** As JSON, in UTF-8, without the description (I11). */
export const METADATA_BYTES_MAX = 8_192;
/** Characters of a description, wherever it was sent. */
const DESCRIPTION_LENGTH_MAX = 500;
/** Deeper values could not be written out again by every JSON writer; nobody nests an order that deep. */
const METADATA_DEPTH_MAX = 20;

const RESERVED = new Set(['med', 'failure', 'settlement', 'provider', 'fees']);
/** Keys that name parts of every object: echoing them back would surprise JavaScript readers. */
const PROTOTYPE_KEYS = new Set(['__proto__', 'constructor', 'prototype']);

const isKept = (key: string): boolean => !RESERVED.has(key) && !key.startsWith('_') && !PROTOTYPE_KEYS.has(key);

/** Prototype keys go on every level, reserved keys and those that begin with `_` at the top (I11). */
export const keptMetadata = (metadata: { readonly [key: string]: Json }): { [key: string]: Json } => {
  const kept: { [key: string]: Json } = {};
  for (const key of Object.keys(metadata).filter(isKept)) kept[key] = withoutPrototypeKeys(metadata[key] as Json);
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

const bytesOf = (value: string | number | boolean | null): number => utf8Length(JSON.stringify(value));

/**
 * What is left of so many bytes when `value` is written as JSON without prototype keys; below zero as soon as they do not suffice:
 * whatever its size, no more than the bound is looked at, and nothing is copied.
 */
const leftAfter = (value: Json, bytes: number): number => {
  if (typeof value !== 'object' || value === null) return bytes - bytesOf(value);
  if (isList(value)) return leftAfterItems(value, bytes);
  return leftAfterFields(
    value,
    Object.keys(value).filter((key) => !PROTOTYPE_KEYS.has(key)),
    bytes,
  );
};
const isList = (value: object): value is readonly Json[] => Array.isArray(value);
const separators = (count: number): number => 2 + Math.max(0, count - 1);
const leftAfterItems = (items: readonly Json[], bytes: number): number => {
  let left = bytes - separators(items.length);
  for (const item of items) {
    if (left < 0) break;
    left = leftAfter(item, left);
  }
  return left;
};
const leftAfterFields = (of: { readonly [key: string]: Json }, keys: readonly string[], bytes: number): number => {
  let left = bytes - separators(keys.length) - keys.length;
  for (const key of keys) {
    if (left < 0) break;
    left = leftAfter(of[key] as Json, left - bytesOf(key));
  }
  return left;
};

const isDeeperThan = (value: Json, levels: number): boolean => {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  return Object.values(value).some((inner: Json) => isDeeperThan(inner, levels - 1));
};

/**
 * Numbers that come back as others: infinite ones (1e999 is read as such) as null, and integers beyond ±(2^53 − 1) as a neighbour that
 * JSON reads them as, so that two different requests would be one.
 */
const isUnwritable = (value: number): boolean =>
  !Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value));
const hasUnwritableNumber = (value: Json): boolean =>
  typeof value === 'number'
    ? isUnwritable(value)
    : typeof value === 'object' &&
      value !== null &&
      Object.values(value).some((inner: Json) => hasUnwritableNumber(inner));

const wholeProblem = (metadata: { readonly [key: string]: Json }): string | null => {
  // Counted first: what has thousands of keys is looked at no further.
  const keys: string[] = [];
  for (const key in metadata) {
    if (isKept(key) && key !== 'description') keys.push(key);
    if (keys.length > METADATA_KEYS_MAX) break;
  }
  if (keys.length > METADATA_KEYS_MAX) return `must not have more than ${METADATA_KEYS_MAX} keys`;
  if (isDeeperThan(metadata, METADATA_DEPTH_MAX)) return `must not be nested deeper than ${METADATA_DEPTH_MAX} levels`;
  if (hasUnwritableNumber(metadata))
    return 'holds a number that is too large: an integer beyond ±(2^53 − 1), or infinite';
  if (leftAfterFields(metadata, keys, METADATA_BYTES_MAX) < 0)
    return `must not be larger than ${METADATA_BYTES_MAX} bytes as JSON`;
  return null;
};

/** Characters are counted as in the body's own description: by code points. */
const isDescription = (value: Json): boolean =>
  typeof value === 'string' &&
  value.length <= 2 * DESCRIPTION_LENGTH_MAX &&
  [...value].length <= DESCRIPTION_LENGTH_MAX;

/** What is wrong with the merchant's metadata, its parts first (I11). `isDescribed`: the body's own description replaces this one. */
export const metadataProblems = (
  metadata: { readonly [key: string]: Json } | undefined,
  isDescribed: boolean,
): readonly Problem[] => {
  if (metadata === undefined) return [];
  const { description } = metadata;
  const problems: Problem[] = [];
  if (!isDescribed && description !== undefined && !isDescription(description))
    problems.push({
      param: 'metadata.description',
      message: `must be a string of at most ${DESCRIPTION_LENGTH_MAX} characters`,
    });
  const message = wholeProblem(metadata);
  return message === null ? problems : [...problems, { param: 'metadata', message }];
};

// --- Where a payer goes back to: `metadata.returnUrl` (rule P3) ---

export const URL_LENGTH_MAX = 2_048;
/** Without userinfo, which reads like the host: `https://shop.example@evil.example`. */
const HTTP_URL = /^https?:\/\/[^\s/?#\\@]+(?:[/?#][^\s\\]*)?$/i;
/** Control characters, and those that change the direction of text: what a payer reads would not be where the link leads. */
const MISLEADING = /[\p{Cc}\p{Bidi_Control}]/u;

export const isReturnUrl = (value: Json | undefined): value is string =>
  typeof value === 'string' &&
  value.length <= URL_LENGTH_MAX &&
  HTTP_URL.test(value) &&
  !MISLEADING.test(value) &&
  URL.canParse(value);

export const RETURN_URL_PROBLEM = {
  code: 'invalid_url',
  param: 'metadata.returnUrl',
  message: `must be an http or https URL of at most ${URL_LENGTH_MAX} characters, without userinfo and without control and direction characters`,
} as const;

const WITH_USERINFO = /^\s*https?:[/\\]*[^/\\?#]*@/i;

/** On the charge routes `returnUrl` is metadata like any other, and the page ignores what is no URL. No link may mislead there either. */
export const isMisleadingLink = (value: Json | undefined): boolean =>
  typeof value === 'string' && (WITH_USERINFO.test(value) || (/^\s*https?:/i.test(value) && MISLEADING.test(value)));
