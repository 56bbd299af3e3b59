// The expected reactions of the processes for refunds to each event of the log (test/application/reactions.test.ts).
import { type Answers, clear, job, timer } from '../../support/reactionLog.ts';
import { ACCOUNT_ID, at, END_TO_END_ID, PAYMENT_ID, REFUND_ID } from '../../support/samples.ts';

const confirmedLate = (id: string) => [
  {
    kind: 'effect',
    effect: 'confirmedLate',
    about: { accountId: ACCOUNT_ID, mode: 'test', paymentId: PAYMENT_ID, id },
  },
];
const REFUND = { paymentId: PAYMENT_ID, refundId: REFUND_ID };

/** By process and by name in the log. Events that are not listed cause no reaction. */
export const ANSWERS: Answers = {
  refundExecution: {
    'refund reserved': [job('refund', REFUND)],
    HeldPayoutRequested: [job('refund', REFUND)],
    ReturnConfirmedLate: confirmedLate(END_TO_END_ID),
    RefundConfirmedLate: confirmedLate(REFUND_ID),
    'refund confirmed late': [clear('refund', REFUND_ID), job('refund', REFUND)],
    'refund submitted': [timer('refund', REFUND_ID, at('15:00:03'), ACCOUNT_ID)],
    'refund unknown': [timer('refund', REFUND_ID, at('15:00:03'), ACCOUNT_ID)],
    'refund paid': [clear('refund', REFUND_ID), job('refund', REFUND)],
    'refund failed': [clear('refund', REFUND_ID), job('refund', REFUND)],
    'sandbox confirms refunds': [{ kind: 'fireNow', timers: { kind: 'refund', group: ACCOUNT_ID, mode: 'test' } }],
    'account reopened': [{ kind: 'fireNow', timers: { kind: 'refund', group: ACCOUNT_ID } }],
  },
};

/** The events in the log for which endpoints receive messages. */
export const TOLD: readonly string[] = ['refund reserved', 'refund completed', 'refund released'];
