// What a merchant may ask for when refunding (contract.md Refund body): from a body whose types are right to a wish, or to all that is
// wrong with it.
import type { CodedProblem } from '../charge/request.ts';
import { type Minor, toMinor } from '../kernel/money.ts';
import { isPixKey } from '../pix/pixKey.ts';

/** The known fields of the body, types and simple bounds checked (http/api/refunds/refundSchema.ts). */
export interface RefundBody {
  readonly idempotencyKey: string;
  readonly amount?: number;
  readonly reason?: string;
  readonly strategy?: 'devolution' | 'cashout';
  readonly passFeeToTenant?: boolean;
  readonly destinationKey?: string;
}

interface RefundRequest {
  /** null: all that is left. */
  readonly amount: Minor | null;
  readonly reason: string | null;
  /** null: the method's own way. */
  readonly strategy: 'devolution' | 'cashout' | null;
  readonly passFeeToTenant: boolean;
  /** A Pix key; null: the payer's document. */
  readonly destinationKey: string | null;
}

/**
 * Returns the problems beyond types. A devolution goes back where the Pix came from, so a destination with it is a problem, not ignored.
 */
export const refundProblems = ({ strategy, destinationKey }: Partial<RefundBody>): readonly CodedProblem[] => {
  if (destinationKey === undefined) return [];
  const problem = (message: string) => [{ code: 'invalid_request' as const, param: 'destinationKey', message }];
  if (!isPixKey(destinationKey))
    return problem('must be a Pix key: a bare CPF or CNPJ, a +55 phone, a lower-case e-mail or UUID');
  return strategy === 'devolution' ? problem('is for cashout refunds: a devolution goes back to the payer') : [];
};

/** Only for a body without problems. */
export const refundRequest = (body: RefundBody): RefundRequest => ({
  amount: body.amount === undefined ? null : toMinor(body.amount),
  reason: body.reason ?? null,
  strategy: body.strategy ?? null,
  passFeeToTenant: body.passFeeToTenant ?? false,
  destinationKey: body.destinationKey ?? null,
});

/** Rule version of the fingerprint. A field that becomes known later enters under a new version only (K2). */
export const REFUND_FINGERPRINT_VERSION = 1;

/** Returns what the fingerprint covers: the known fields as sent, before defaults; undefined where nothing was sent (K2). */
export const refundFingerprintFields = (body: RefundBody): object => {
  const { amount, reason, strategy, passFeeToTenant, destinationKey } = body;
  return { amount, reason, strategy, passFeeToTenant, destinationKey };
};
