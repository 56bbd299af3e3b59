// Alerts for operators, written to the log.
import type { OperatorAlerts } from '../../application/ports/operatorAlerts.ts';
import type { Log } from './log.ts';

/** How many unmatched payments one line names. */
const UNMATCHED_NAMED_MAX = 20;

export const operatorAlerts = (log: Log): OperatorAlerts => ({
  returnRefused: ({ accountId: account, mode }, { paymentId: payment, providerPaymentId, reason }) =>
    log.warn(
      { account, mode, payment, providerPaymentId, reason },
      'provider refused to return a payment: see `held list`',
    ),
  disputeReport: ({ accountId: account, mode }, { paymentId: payment, caseId, providerCaseId, because }) =>
    log.warn(
      { account, mode, payment, case: caseId, providerCaseId, because },
      'dispute report needs an operator: see `med review list`',
    ),
  disputesRest: ({ accountId: account, mode }, rests) =>
    log.warn(
      { account, mode, rests: rests.map(({ currency, rest }) => ({ currency, rest })) },
      'disputes ledger account has an unexplained balance: see `ledger check`',
    ),
  confirmedLate: ({ accountId: account, mode }, { paymentId: payment, id }) =>
    log.warn({ account, mode, payment, id }, 'payment confirmed after its refusal: see `held list`'),
  returnedOutside: ({ accountId: account, mode }, { paymentId: payment, endToEndId, id, amount }) =>
    log.warn({ account, mode, payment, endToEndId, id, amount }, 'provider returned money that Quita did not return'),
  unmatchedPayments: ({ accountId: account, mode }, references) =>
    log.warn(
      { account, mode, payments: references.length, references: references.slice(0, UNMATCHED_NAMED_MAX) },
      'provider lists payments that match no charge of the account',
    ),
});
