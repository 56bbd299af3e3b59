// Validates the body of a refund request and turns it into a wish (contract.md Refund body).
import type { CodedProblem } from '../charge/request.ts';
import { toMinor } from '../kernel/money.ts';
import { isPixKey } from '../pix/pixKey.ts';

/** The known fields of the body, with types and simple bounds already checked (http/api/refunds/refundSchema.ts). */
export interface RefundBody {
  readonly idempotencyKey: string;
  readonly amount?: number;
  readonly reason?: string;
  readonly strategy?: 'devolution' | 'cashout';
  readonly passFeeToTenant?: boolean;
  readonly destinationKey?: string;
}

/** Returns problems beyond types. A devolution returns the Pix to its origin, so a destination is reported as a problem, not ignored. */
export const refundProblems = ({ strategy, destinationKey }: Partial<RefundBody>): readonly CodedProblem[] => {
  if (destinationKey === undefined) return [];
  const problem = (message: string) => [{ code: 'invalid_request' as const, param: 'destinationKey', message }];
  if (!isPixKey(destinationKey))
    return problem('must be a Pix key: a CPF or CNPJ without punctuation, a +55 phone, a lower-case email or UUID');
  return strategy === 'devolution' ? problem('applies only to cashout refunds; a devolution returns to the payer') : [];
};

/** Returns the request of a valid body. The body must have no problems. */
export const refundRequest = (body: RefundBody) => ({
  /** null for the full remainder. */
  amount: body.amount === undefined ? null : toMinor(body.amount),
  reason: body.reason ?? null,
  /** null for the method's default. */
  strategy: body.strategy ?? null,
  passFeeToTenant: body.passFeeToTenant ?? false,
  /** A Pix key; null for the payer's document. */
  destinationKey: body.destinationKey ?? null,
});

/** Rule version of the fingerprint. Fields added later are covered only under a new version (K2). */
export const REFUND_FINGERPRINT_VERSION = 1;

/** Returns the fields that the fingerprint covers: the known fields as sent, before defaults, undefined if omitted (K2). */
export const refundFingerprintFields = (body: RefundBody): object => {
  const { amount, reason, strategy, passFeeToTenant, destinationKey } = body;
  return { amount, reason, strategy, passFeeToTenant, destinationKey };
};
