// Validates the body of a charge or payment request and turns it into terms (contract.md Create payment body; rules I4, I5, I11, P1–P3).

import { isEmailAddress } from '../kernel/email.ts';
import type { Json } from '../kernel/json.ts';
import { type Minor, toMinor } from '../kernel/money.ts';
import type { ErrorCode, Problem } from '../kernel/rejection.ts';
import { isE164 } from '../methods/phone.ts';
import { isStrictTaxId, taxIdOf } from '../pix/taxId.ts';
import type { Customer } from './charge.ts';
import { METHOD_RULES, type PaymentMethod } from './methods.ts';

/** The known fields of the body, with types and simple bounds already checked (http/api/payments/chargeSchema.ts). */
export interface ChargeBody {
  readonly amount: number;
  readonly currency?: string;
  readonly payment_method: string;
  readonly description?: string;
  readonly expires_in?: number;
  readonly customer?: {
    readonly name?: string;
    readonly document?: string;
    readonly email?: string;
    readonly phone?: string;
  };
  readonly expected_payer_tax_id?: string;
  readonly metadata?: { readonly [key: string]: Json };
}

export interface ChargeRequest {
  /** The known fields as sent, which the fingerprint covers (K2). */
  readonly sent: ChargeBody;
  readonly amount: Minor;
  readonly currency: 'BRL';
  readonly customer: Customer;
  /** 60 to 86,400; larger values are capped. null for the account's charge window. */
  readonly expiresInSeconds: number | null;
  readonly metadata: { readonly [key: string]: Json };
  readonly expectedPayerTaxId: string | null;
}

export interface CodedProblem extends Problem {
  readonly code: ErrorCode;
}

const EXPIRES_IN_SECONDS_MAX = 86_400;

/** Returns problems beyond types, in the order in which they are reported (E2, E3, I11). */
export const chargeProblems = (body: Partial<ChargeBody>): readonly CodedProblem[] => {
  const problems: CodedProblem[] = [];
  const report = (code: ErrorCode, param: string, message: string) => problems.push({ code, param, message });
  const document = body.customer?.document;
  const documentTaxId = document === undefined ? null : taxIdOf(document);
  if (document !== undefined && documentTaxId === null)
    report('invalid_customer', 'customer.document', 'must be a CPF or CNPJ with valid check digits');
  for (const { param, message } of metadataProblems(body.metadata, body.description !== undefined))
    report('invalid_metadata', param, message);
  if (isMisleadingLink(body.metadata?.['returnUrl'])) problems.push(RETURN_URL_PROBLEM);
  const lock = body.expected_payer_tax_id;
  if (lock === undefined) return problems;
  if (!isStrictTaxId(lock))
    report(
      'invalid_payer_tax_id',
      'expected_payer_tax_id',
      'must be a CPF (11 digits) or CNPJ (14 characters) without punctuation and with valid check digits',
    );
  else if (documentTaxId !== null && documentTaxId !== lock)
    report('payer_tax_id_mismatch', 'expected_payer_tax_id', 'must equal customer.document when both are sent');
  if (!body.customer?.name?.trim())
    report('customer_name_required', 'customer.name', 'is required when expected_payer_tax_id is set');
  return problems;
};

/** Returns the request of a valid body. The body must have no problems. */
export const chargeRequest = (body: ChargeBody): ChargeRequest => {
  const { name = null, document = null, email = null, phone = null } = body.customer ?? {};
  const metadata = keptMetadata(body.metadata ?? {});
  if (body.description !== undefined) metadata['description'] = body.description;
  return {
    sent: body,
    amount: toMinor(body.amount),
    currency: 'BRL',
    customer: { name, document, email, phone },
    expiresInSeconds: body.expires_in === undefined ? null : Math.min(body.expires_in, EXPIRES_IN_SECONDS_MAX),
    metadata,
    expectedPayerTaxId: body.expected_payer_tax_id ?? null,
  };
};

/** Rule version of the fingerprint. Fields added later are covered only under a new version (K2). */
export const CHARGE_FINGERPRINT_VERSION = 1;

/** Returns the fields that the fingerprint covers: the known fields as sent, before defaults, undefined if omitted (K2). */
export const chargeFingerprintFields = ({ sent }: ChargeRequest): object => {
  const { amount, currency, payment_method, description, expires_in, customer, expected_payer_tax_id, metadata } = sent;
  const known = { amount, currency, payment_method, description, expires_in, expected_payer_tax_id, metadata };
  const { name, document, email, phone } = customer ?? {};
  return { ...known, ...(customer && { customer: { name, document, email, phone } }) };
};

// --- Payments ---

/** The known fields of the body, with types and simple bounds already checked (http/api/payments/transactionSchema.ts). */
export interface PaymentBody {
  readonly amount: number;
  readonly currency?: string;
  /** At least one, without duplicates. */
  readonly paymentMethods: readonly PaymentMethod[];
  readonly customerId?: string;
  readonly customerName?: string;
  readonly customerDocument?: string;
  readonly customerEmail?: string;
  readonly metadata?: { readonly [key: string]: Json };
  readonly webhookUrl?: string;
  readonly idempotencyKey: string;
}

export interface PaymentRequest {
  /** The known fields as sent, which the fingerprint covers (K2). */
  readonly sent: PaymentBody;
  readonly amount: Minor;
  readonly currency: string;
  readonly methods: readonly PaymentMethod[];
  readonly customer: Customer;
  readonly customerId: string | null;
  readonly metadata: { readonly [key: string]: Json };
  readonly webhookUrl: string | null;
}

const CURRENCY_DEFAULT = 'BRL';
/** Formats `USDT, USDC or BTC`. */
const either = new Intl.ListFormat('en-GB', { type: 'disjunction' });

/**
 * Returns problems beyond types, in the order in which they are reported. The webhook sender checks webhook URLs (W5). `body` omits fields
 * of wrong types, which cause no problem here.
 */
export const paymentProblems = (body: Partial<PaymentBody>): readonly CodedProblem[] => {
  const { amount = 0, currency = CURRENCY_DEFAULT, paymentMethods = [], customerEmail, metadata } = body;
  const problems: CodedProblem[] = [];
  const report = (code: ErrorCode, param: string, message: string) => problems.push({ code, param, message });
  const amountMax = Math.min(...paymentMethods.map((method) => METHOD_RULES[method].amountMax));
  if (amount > amountMax) report('invalid_amount', 'amount', `must be at most ${amountMax} for these methods`);
  const unsupported = paymentMethods.filter((method) => !METHOD_RULES[method].currencies.includes(currency));
  if (unsupported.length > 0) {
    const choices = unsupported.map((method) => `${method} supports ${either.format(METHOD_RULES[method].currencies)}`);
    report('invalid_currency', 'currency', `doesn’t fit the methods: ${choices.join('; ')}`);
  }
  if (customerEmail !== undefined && !isEmailAddress(customerEmail))
    report('invalid_customer', 'customerEmail', 'must be an email address (RFC 5322)');
  const { returnUrl, phone } = metadata ?? {};
  if (returnUrl !== undefined && !isReturnUrl(returnUrl)) problems.push(RETURN_URL_PROBLEM);
  if (paymentMethods.includes('MBWAY') && (typeof phone !== 'string' || !isE164(phone)))
    report('invalid_metadata', 'metadata.phone', 'must be a phone number in E.164, such as +351912345678, for MBWAY');
  for (const { param, message } of metadataProblems(metadata, false)) report('invalid_metadata', param, message);
  return problems;
};

/** Returns the request of a valid body. The body must have no problems. */
export const paymentRequest = (body: PaymentBody): PaymentRequest => {
  const { customerName: name = null, customerDocument: document = null, customerEmail: email = null } = body;
  return {
    sent: body,
    amount: toMinor(body.amount),
    currency: body.currency ?? CURRENCY_DEFAULT,
    methods: body.paymentMethods,
    customer: { name, document, email, phone: null },
    customerId: body.customerId ?? null,
    metadata: keptMetadata(body.metadata ?? {}),
    webhookUrl: body.webhookUrl ?? null,
  };
};

/** Rule version of the fingerprint. Fields added later are covered only under a new version (K2). */
export const PAYMENT_FINGERPRINT_VERSION = 1;

/** Returns the fields that the fingerprint covers: the known fields as sent, before defaults, undefined if omitted (K2). */
export const paymentFingerprintFields = ({ sent }: PaymentRequest): object => {
  const { amount, currency, paymentMethods, metadata, webhookUrl } = sent;
  const { customerId, customerName, customerDocument, customerEmail } = sent;
  const customer = { customerId, customerName, customerDocument, customerEmail };
  return { amount, currency, paymentMethods, metadata, webhookUrl, ...customer };
};

// --- The merchant's metadata on a charge or payment, and its bounds (rule I11) ---

const METADATA_KEYS_MAX = 50;
/** Size as JSON in UTF-8, without the description (I11). */
export const METADATA_BYTES_MAX = 8_192;
/** Maximum length of a description in code points, on every API. */
const DESCRIPTION_LENGTH_MAX = 500;
/** Not every JSON writer can write deeper values. */
const METADATA_DEPTH_MAX = 20;
/** The bounds of metadata, for the reference (I11). */
export const METADATA_BOUNDS = `At most ${METADATA_KEYS_MAX} keys, ${METADATA_BYTES_MAX} bytes as JSON and ${METADATA_DEPTH_MAX} levels, and integers within ±(2^53 − 1).`;

const RESERVED = new Set(['med', 'failure', 'settlement', 'provider', 'fees']);
/** Keys that every JavaScript object inherits. Echoing them could break readers, so they are dropped. */
const PROTOTYPE_KEYS = new Set(['__proto__', 'constructor', 'prototype']);

const isKept = (key: string): boolean => !RESERVED.has(key) && !key.startsWith('_') && !PROTOTYPE_KEYS.has(key);

/** Returns the metadata to store: without prototype keys on any level, and without top-level reserved or `_` keys (I11). */
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
 * Returns how many of `bytes` remain after writing `value` as JSON without prototype keys. Stops and returns a negative number as soon as
 * they don't suffice, so that the cost is bounded by `bytes` and nothing is copied.
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
 * Returns whether JSON can't hold the number exactly. Infinity (1e999) would become null, and integers beyond ±(2^53 − 1) would become
 * a neighboring number, so that two different requests would look the same.
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
  // Counted first, so that objects with thousands of keys cost little.
  const keys: string[] = [];
  for (const key in metadata) {
    if (isKept(key) && key !== 'description') keys.push(key);
    if (keys.length > METADATA_KEYS_MAX) break;
  }
  if (keys.length > METADATA_KEYS_MAX) return `must not have more than ${METADATA_KEYS_MAX} keys`;
  if (isDeeperThan(metadata, METADATA_DEPTH_MAX)) return `must not be nested deeper than ${METADATA_DEPTH_MAX} levels`;
  if (hasUnwritableNumber(metadata))
    return 'contains a number that is too large: an integer beyond ±(2^53 − 1), or infinity';
  if (leftAfterFields(metadata, keys, METADATA_BYTES_MAX) < 0)
    return `must not be larger than ${METADATA_BYTES_MAX} bytes as JSON`;
  return null;
};

/** Counts code points, like the check of the body's own description. */
const isDescription = (value: Json): boolean =>
  typeof value === 'string' &&
  value.length <= 2 * DESCRIPTION_LENGTH_MAX &&
  [...value].length <= DESCRIPTION_LENGTH_MAX;

/** Returns the problems of the merchant's metadata, those of its fields first (I11). If `isDescribed`, its description is not checked. */
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

// --- The URL to which a payer returns: `metadata.returnUrl` (rule P3) ---

export const URL_LENGTH_MAX = 2_048;
/** Excludes userinfo, which can look like the host: `https://shop.example@evil.example`. */
const HTTP_URL = /^https?:\/\/[^\s/?#\\@]+(?:[/?#][^\s\\]*)?$/i;
/** Control and direction characters, which can make a displayed URL differ from its target. */
const MISLEADING = /[\p{Cc}\p{Bidi_Control}]/u;

export const isReturnUrl = (value: Json | undefined): value is string =>
  typeof value === 'string' &&
  value.length <= URL_LENGTH_MAX &&
  HTTP_URL.test(value) &&
  !MISLEADING.test(value) &&
  URL.canParse(value);

const RETURN_URL_PROBLEM = {
  code: 'invalid_url',
  param: 'metadata.returnUrl',
  message: `must be an http or https URL of at most ${URL_LENGTH_MAX} characters, without userinfo, control characters or direction characters`,
} as const;

const WITH_USERINFO = /^\s*https?:[/\\]*[^/\\?#]*@/i;

/** Returns whether `returnUrl` of a charge could mislead the payer. Charges accept any other text there, which the page ignores. */
const isMisleadingLink = (value: Json | undefined): boolean =>
  typeof value === 'string' && (WITH_USERINFO.test(value) || (/^\s*https?:/i.test(value) && MISLEADING.test(value)));
