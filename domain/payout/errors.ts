// The error codes of payouts.
import { codes } from '../kernel/rejection.ts';

export const PAYOUT_ERRORS = {
  ...codes(400, {
    invalid_pix_key: '`destination.pix_key` is not a Pix key in the format of the Pix directory.',
    payout_not_cancellable: 'The payout is not pending: it was submitted to the bank, or it has ended.',
    payout_not_awaiting_approval: 'The payout does not await approval, or was already reviewed.',
  }),
  ...codes(422, {
    insufficient_funds: 'The payout’s amount plus its fee exceeds the available balance.',
    destination_not_allowed: 'The account does not allow payouts to this destination.',
  }),
};

declare module '../kernel/rejection.ts' {
  interface ErrorCodes {
    readonly payout: keyof typeof PAYOUT_ERRORS;
  }
}
