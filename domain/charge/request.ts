// What a merchant may ask for when creating a charge: from a body whose types are right to terms, or to all that is wrong with it.

import { type Minor, toMinor } from '../kernel/money.ts';
import type { ErrorCode, Problem } from '../kernel/rejection.ts';
import type { Json } from '../kernel/serde.ts';
import { isStrictTaxId, taxIdOf } from '../pix/taxId.ts';
import type { Customer } from './charge.ts';

/** The known fields of the body, types and simple bounds checked (http/schemas/charge.ts). */
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

export const EXPIRES_IN_SECONDS_MAX = 86_400;
export const METADATA_KEYS_MAX = 50;
/** As JSON, in UTF-8, without the description (I11). */
export const METADATA_BYTES_MAX = 8_192;
/** Deeper values could not be written out again by every JSON writer; nobody nests an order that deep. */
export const METADATA_DEPTH_MAX = 20;

const RESERVED = new Set(['med', 'failure', 'settlement', 'provider', 'fees']);
/** Keys that name parts of every object: echoing them back would surprise JavaScript readers. */
const PROTOTYPE_KEYS = new Set(['__proto__', 'constructor', 'prototype']);

/** Prototype keys go on every level, reserved keys and those that begin with `_` at the top (I11). */
const strip = (metadata: { readonly [key: string]: Json }): { [key: string]: Json } => {
  const kept: { [key: string]: Json } = {};
  for (const [key, value] of Object.entries(withoutPrototypeKeys(metadata) as { [key: string]: Json }))
    if (!RESERVED.has(key) && !key.startsWith('_')) kept[key] = value;
  return kept;
};

const withoutPrototypeKeys = (value: Json): Json => {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(withoutPrototypeKeys);
  const entries = Object.entries(value).filter(([key]) => !PROTOTYPE_KEYS.has(key));
  return Object.fromEntries(entries.map(([key, inner]) => [key, withoutPrototypeKeys(inner as Json)]));
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

const metadataProblem = (metadata: { readonly [key: string]: Json }): string | null => {
  if (isDeeperThan(metadata, METADATA_DEPTH_MAX)) return `must not be nested deeper than ${METADATA_DEPTH_MAX} levels`;
  if (hasUnwritableNumber(metadata)) return 'holds a number that is too large';
  const { description: _, ...kept } = strip(metadata);
  if (Object.keys(kept).length > METADATA_KEYS_MAX) return `must not have more than ${METADATA_KEYS_MAX} keys`;
  if (utf8Length(JSON.stringify(kept)) > METADATA_BYTES_MAX)
    return `must not be larger than ${METADATA_BYTES_MAX} bytes as JSON`;
  return null;
};

/** Rules beyond types, in the order in which they are told (E2, E3, I11). */
export const chargeProblems = (body: ChargeBody): readonly CodedProblem[] => {
  const problems: CodedProblem[] = [];
  const tell = (code: ErrorCode, param: string, message: string) => problems.push({ code, param, message });
  const document = body.customer?.document;
  const documentTaxId = document === undefined ? null : taxIdOf(document);
  if (document !== undefined && documentTaxId === null)
    tell('invalid_customer', 'customer.document', 'must be a CPF or CNPJ with valid check digits');
  const problem = body.metadata === undefined ? null : metadataProblem(body.metadata);
  if (problem !== null) tell('invalid_metadata', 'metadata', problem);
  const lock = body.expected_payer_tax_id;
  if (lock === undefined) return problems;
  if (!isStrictTaxId(lock))
    tell(
      'invalid_payer_tax_id',
      'expected_payer_tax_id',
      'must be a bare CPF (11 digits) or CNPJ (14 characters) with valid check digits',
    );
  else if (documentTaxId !== null && documentTaxId !== lock)
    tell('payer_tax_id_mismatch', 'expected_payer_tax_id', 'must equal customer.document when both are sent');
  if (!body.customer?.name?.trim())
    tell('customer_name_required', 'customer.name', 'is required when expected_payer_tax_id is set');
  return problems;
};

/** Only for a body without problems. */
export const chargeRequest = (body: ChargeBody): ChargeRequest => {
  const { name = null, document = null, email = null, phone = null } = body.customer ?? {};
  const metadata = strip(body.metadata ?? {});
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

const sorted = (value: Json): Json => {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, inner]) => [key, sorted(inner as Json)]));
};

/** The known fields as sent, key order and whitespace aside: equal texts are equal requests (K2). */
export const canonicalRequest = ({ sent }: ChargeRequest, version: number): string => {
  const { amount, currency, payment_method, description, expires_in, customer, expected_payer_tax_id, metadata } = sent;
  const known = { amount, currency, payment_method, description, expires_in, expected_payer_tax_id, metadata };
  const { name, document, email, phone } = customer ?? {};
  return `${version}\n${JSON.stringify(sorted({ ...known, ...(customer && { customer: { name, document, email, phone } }) } as unknown as Json))}`;
};
