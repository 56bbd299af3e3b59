// What a merchant may ask for when creating a charge: from a body whose types are right to terms, or to all that is wrong with it.

import type { Json } from '../kernel/json.ts';
import { type Minor, toMinor } from '../kernel/money.ts';
import type { ErrorCode, Problem } from '../kernel/rejection.ts';
import { isStrictTaxId, taxIdOf } from '../pix/taxId.ts';
import type { Customer } from './charge.ts';
import { isMisleadingLink, keptMetadata, metadataProblems, RETURN_URL_PROBLEM } from './metadata.ts';

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
