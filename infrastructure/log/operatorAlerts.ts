// What an operator must come to know of, as lines of the log.
import type { OperatorAlerts } from '../../application/ports/operatorAlerts.ts';
import type { Log } from './log.ts';

/** Of payments that are for nobody: as many are named in one line. */
const UNMATCHED_NAMED_MAX = 20;

export const operatorAlerts = (log: Log): OperatorAlerts => ({
  returnRefused: ({ accountId: account, mode }, { paymentId: payment, providerPaymentId, reason }) =>
    log.warn(
      { account, mode, payment, providerPaymentId, reason },
      'the provider refuses to send a payment back: it waits in `held list`',
    ),
  unmatchedPayments: ({ accountId: account, mode }, references) =>
    log.warn(
      { account, mode, payments: references.length, references: references.slice(0, UNMATCHED_NAMED_MAX) },
      'the provider lists payments that are for no charge of the account',
    ),
});
