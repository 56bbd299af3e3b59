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
  disputeReport: ({ accountId: account, mode }, { paymentId: payment, caseId, providerCaseId, because }) =>
    log.warn(
      { account, mode, payment, case: caseId, providerCaseId, because },
      'a dispute report needs an operator: it waits in `med review list`',
    ),
  disputesRest: ({ accountId: account, mode }, rests) =>
    log.warn(
      { account, mode, rests: rests.map(({ currency, rest }) => ({ currency, rest })) },
      'the ledger account of disputes has a rest: see `ledger check`',
    ),
  confirmedLate: ({ accountId: account, mode }, { paymentId: payment, id }) =>
    log.warn({ account, mode, payment, id }, 'payment confirmed after its refusal: see `held list`'),
  unmatchedPayments: ({ accountId: account, mode }, references) =>
    log.warn(
      { account, mode, payments: references.length, references: references.slice(0, UNMATCHED_NAMED_MAX) },
      'the provider lists payments that are for no charge of the account',
    ),
});
