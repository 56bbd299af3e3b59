// Validates an operator's request to settle held money (rule M10), from the API and the command line alike.
import { type Rejection, reject } from '../../domain/kernel/rejection.ts';
import type { SettleHeld } from '../../domain/payment/settleHeld.ts';
import { isPixKey } from '../../domain/pix/pixKey.ts';

const REASON_MAX = 500;

/** The operator's input. */
interface SentHeldSettlement {
  readonly pixOut?: string | undefined;
  readonly writtenOff?: boolean | undefined;
  readonly reason: string;
}

/**
 * Returns the settlement. Rejects with `invalid_request` unless exactly one of `pixOut` and `writtenOff` is given, if `pixOut` is not a
 * Pix key, or if the reason is blank or longer than 500 characters.
 */
export const heldSettlementOf = ({
  pixOut,
  writtenOff = false,
  reason,
}: SentHeldSettlement): Pick<SettleHeld, 'pixOut' | 'reason'> | Rejection => {
  if ((pixOut !== undefined) === writtenOff)
    return reject('invalid_request', 'Specify either a Pix key to pay out to or a write-off, not both.', {
      param: 'pixOut',
    });
  if (pixOut !== undefined && !isPixKey(pixOut))
    return reject(
      'invalid_request',
      'The Pix key must be a CPF or CNPJ without punctuation, a phone number with +55, a lowercase email address or a UUID.',
      { param: 'pixOut' },
    );
  if (reason.trim() === '' || reason.length > REASON_MAX)
    return reject('invalid_request', `The reason must not be blank and must have at most ${REASON_MAX} characters.`, {
      param: 'reason',
    });
  return { pixOut: pixOut ?? null, reason };
};
