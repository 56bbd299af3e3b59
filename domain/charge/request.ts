// What a merchant may ask for when creating a charge or a payment: from a body whose types are right to terms, or to all that is wrong with
// it (contract.md Create payment body, rules I4, I5, I11, P1–P3).

import { isEmailAddress } from '../kernel/email.ts';
import type { Json } from '../kernel/json.ts';
import { type Minor, toMinor } from '../kernel/money.ts';
import type { ErrorCode, Problem } from '../kernel/rejection.ts';
import { isE164 } from '../methods/phone.ts';
import { isStrictTaxId, taxIdOf } from '../pix/taxId.ts';
import type { Customer } from './charge.ts';
import { METHOD_RULES, type PaymentMethod } from './methods.ts';

/** The known fields of the body, types and simple bounds checked (http/api/payments/chargeSchema.ts). */
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
  /** The known fields as sent: what the fingerprint covers (K2). */
  readonly sent: ChargeBody;
  readonly amount: Minor;
  readonly currency: 'BRL';
  readonly customer: Customer;
  /** 60 to 86,400, larger values capped; null: the account's window. */
  readonly expiresInSeconds: number | null;
  readonly metadata: { readonly [key: string]: Json };
  readonly expectedPayerTaxId: string | null;
}

export interface CodedProblem extends Problem {
  readonly code: ErrorCode;
}

const EXPIRES_IN_SECONDS_MAX = 86_400;

/** Returns the problems beyond types, in the order in which they are reported (E2, E3, I11). */
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
      'must be a bare CPF (11 digits) or CNPJ (14 characters) with valid check digits',
    );
  else if (documentTaxId !== null && documentTaxId !== lock)
    report('payer_tax_id_mismatch', 'expected_payer_tax_id', 'must equal customer.document when both are sent');
  if (!body.customer?.name?.trim())
    report('customer_name_required', 'customer.name', 'is required when expected_payer_tax_id is set');
  return problems;
};

/** Only for a body without problems. */
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

/** Rule version of the fingerprint. A field that becomes known later enters under a new version only (K2). */
export const CHARGE_FINGERPRINT_VERSION = 1;

/** Returns what the fingerprint covers: the known fields as sent, before defaults; undefined where nothing was sent (K2). */
export const chargeFingerprintFields = ({ sent }: ChargeRequest): object => {
  const { amount, currency, payment_method, description, expires_in, customer, expected_payer_tax_id, metadata } = sent;
  const known = { amount, currency, payment_method, description, expires_in, expected_payer_tax_id, metadata };
  const { name, document, email, phone } = customer ?? {};
  return { ...known, ...(customer && { customer: { name, document, email, phone } }) };
};

// --- Payments ---

/** The known fields of the body, types and simple bounds checked (http/api/payments/transactionSchema.ts). */
export interface PaymentBody {
  readonly amount: number;
  readonly currency?: string;
  /** At least one, none twice. */
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
  /** The known fields as sent: what the fingerprint covers (K2). */
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
/** Writes `USDT, USDC or BTC`. */
const either = new Intl.ListFormat('en-GB', { type: 'disjunction' });

/**
 * Returns the problems beyond types, in the order in which they are reported. Where webhooks may go is judged by their sender (W5). Fields
 * whose types are wrong are absent from `body`, and lead to no problem here.
 */
export const paymentProblems = (body: Partial<PaymentBody>): readonly CodedProblem[] => {
  const { amount = 0, currency = CURRENCY_DEFAULT, paymentMethods = [], customerEmail, metadata } = body;
  const problems: CodedProblem[] = [];
  const report = (code: ErrorCode, param: string, message: string) => problems.push({ code, param, message });
  const amountMax = Math.min(...paymentMethods.map((method) => METHOD_RULES[method].amountMax));
  if (amount > amountMax) report('invalid_amount', 'amount', `must be at most ${amountMax} with these methods`);
  const strangers = paymentMethods.filter((method) => !METHOD_RULES[method].currencies.includes(currency));
  if (strangers.length > 0) {
    const choices = strangers.map(
      (method) => `${method} can be paid in ${either.format(METHOD_RULES[method].currencies)}`,
    );
    report('invalid_currency', 'currency', `does not fit: ${choices.join('; ')}`);
  }
  if (customerEmail !== undefined && !isEmailAddress(customerEmail))
    report('invalid_customer', 'customerEmail', 'must be an e-mail address (RFC 5322)');
  const { returnUrl, phone } = metadata ?? {};
  if (returnUrl !== undefined && !isReturnUrl(returnUrl)) problems.push(RETURN_URL_PROBLEM);
  if (paymentMethods.includes('MBWAY') && (typeof phone !== 'string' || !isE164(phone)))
    report('invalid_metadata', 'metadata.phone', 'must be a phone number in E.164, such as +351912345678, for MBWAY');
  for (const { param, message } of metadataProblems(metadata, false)) report('invalid_metadata', param, message);
  return problems;
};

/** Only for a body without problems. */
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

/** Rule version of the fingerprint. A field that becomes known later enters under a new version only (K2). */
export const PAYMENT_FINGERPRINT_VERSION = 1;

/** Returns what the fingerprint covers: the known fields as sent, before defaults; undefined where nothing was sent (K2). */
export const paymentFingerprintFields = ({ sent }: PaymentRequest): object => {
  const { amount, currency, paymentMethods, metadata, webhookUrl } = sent;
  const { customerId, customerName, customerDocument, customerEmail } = sent;
  const customer = { customerId, customerName, customerDocument, customerEmail };
  return { amount, currency, paymentMethods, metadata, webhookUrl, ...customer };
};

// --- The merchant's own data on a charge or payment: what is kept of it, and its bounds (rule I11) ---

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
