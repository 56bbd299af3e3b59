// How an operator says that held money is settled (rule M10): the same words by a request and on the command line.
import { type Rejection, reject } from '../../domain/kernel/rejection.ts';
import type { SettleHeld } from '../../domain/payment/settleHeld.ts';
import { isPixKey } from '../../domain/pix/pixKey.ts';

const REASON_MAX = 500;

/** As an operator sends it. */
interface SentHeldSettlement {
  readonly pixOut?: string | undefined;
  readonly writtenOff?: boolean | undefined;
  readonly reason: string;
}

/** Rejects with `invalid_request`: both ways or none, no Pix key, a reason that is blank or above 500 characters. */
export const heldSettlementOf = ({
  pixOut,
  writtenOff = false,
  reason,
}: SentHeldSettlement): Pick<SettleHeld, 'pixOut' | 'reason'> | Rejection => {
  if ((pixOut !== undefined) === writtenOff)
    return reject('invalid_request', 'Send either a Pix key to pay out to, or that it is written off.', {
      param: 'pixOut',
    });
  if (pixOut !== undefined && !isPixKey(pixOut))
    return reject(
      'invalid_request',
      'The Pix key must be a bare CPF or CNPJ, a +55 phone, a lower-case email address or a UUID.',
      { param: 'pixOut' },
    );
  if (reason.trim() === '' || reason.length > REASON_MAX)
    return reject('invalid_request', `The reason must have 1 to ${REASON_MAX} characters and not be blank.`, {
      param: 'reason',
    });
  return { pixOut: pixOut ?? null, reason };
};
