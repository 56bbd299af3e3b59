// Validates the body of a payout request and turns it into terms (rules Y1, Y3).
import { type CodedProblem, keptMetadata, metadataProblems } from '../charge/request.ts';
import type { Json } from '../kernel/json.ts';
import { type Minor, toMinor } from '../kernel/money.ts';
import { isPixKey } from '../pix/pixKey.ts';

/** The known fields of the body, with types and simple bounds already checked (http/api/payouts/payoutSchema.ts). */
export interface PayoutBody {
  readonly amount: number;
  readonly currency?: string;
  readonly destination: { readonly pix_key: string };
  readonly description?: string;
  readonly metadata?: { readonly [key: string]: Json };
}

interface PayoutRequest {
  readonly amount: Minor;
  readonly currency: 'BRL';
  readonly destination: string;
  readonly description: string | null;
  readonly metadata: { readonly [key: string]: Json };
}

/** Returns problems beyond types, in the order in which they are reported. */
export const payoutProblems = ({
  destination,
  description,
  metadata,
}: Partial<PayoutBody>): readonly CodedProblem[] => [
  ...(destination?.pix_key === undefined || isPixKey(destination.pix_key)
    ? []
    : [
        {
          code: 'invalid_pix_key' as const,
          param: 'destination.pix_key',
          message: 'must be a Pix key: a CPF or CNPJ without punctuation, a +55 phone, a lower-case email or UUID',
        },
      ]),
  ...metadataProblems(metadata, description !== undefined).map((problem) => ({
    code: 'invalid_metadata' as const,
    ...problem,
  })),
];

/** Returns the request of a valid body. The body must have no problems. */
export const payoutRequest = ({ amount, destination, description, metadata }: PayoutBody): PayoutRequest => {
  const kept = keptMetadata(metadata ?? {});
  // The payout shows the body's own description, which replaces the one in metadata (I11).
  if (description !== undefined) delete kept['description'];
  return {
    amount: toMinor(amount),
    currency: 'BRL',
    destination: destination.pix_key,
    description: description ?? null,
    metadata: kept,
  };
};

/** Rule version of the fingerprint. Fields added later are covered only under a new version (K2). */
export const PAYOUT_FINGERPRINT_VERSION = 1;

/** Returns the fields that the fingerprint covers: the known fields as sent, before defaults, undefined if omitted (K2). */
export const payoutFingerprintFields = (body: PayoutBody): object => {
  const { amount, currency, destination, description, metadata } = body;
  return { amount, currency, destination: { pix_key: destination.pix_key }, description, metadata };
};
