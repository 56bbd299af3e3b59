// The reason that an operator gives for a decision about money.
import { type Rejection, reject } from '../../domain/kernel/rejection.ts';

const REASON_MAX = 500;

/** Returns why the reason can't be stored, or null if it can. */
export const reasonRefused = (reason: string): Rejection | null =>
  reason.trim() === '' || reason.length > REASON_MAX
    ? reject('invalid_request', `The reason must not be blank and must have at most ${REASON_MAX} characters.`, {
        param: 'reason',
      })
    : null;
