// The expected reactions of the processes for payouts to each event of the log (test/application/reactions.test.ts).
import { PAYOUT_ID } from '../../domain/payout/samples.ts';
import { type Answers, clear, job, timer } from '../../support/reactionLog.ts';
import { ACCOUNT_ID, at } from '../../support/samples.ts';

const PAYOUT = { payoutId: PAYOUT_ID };

/** By process and by name in the log. Events that are not listed cause no reaction. */
export const ANSWERS: Answers = {
  payoutExecution: {
    'payout requested': [job('payout', PAYOUT)],
    'payout approved': [job('payout', PAYOUT)],
    'payout rejected': [clear('payout', PAYOUT_ID)],
    'payout cancelled': [clear('payout', PAYOUT_ID)],
    'payout submitted': [timer('payout', PAYOUT_ID, at('15:00:02'), ACCOUNT_ID)],
    'payout unknown': [timer('payout', PAYOUT_ID, at('15:00:02'), ACCOUNT_ID)],
    'payout paid': [clear('payout', PAYOUT_ID)],
    'payout failed': [clear('payout', PAYOUT_ID)],
    'payout confirmed late': [
      { kind: 'effect', effect: 'payoutConfirmedLate', about: { ...PAYOUT, accountId: ACCOUNT_ID, mode: 'test' } },
    ],
    'sandbox confirms refunds': [{ kind: 'fireNow', timers: { kind: 'payout', group: ACCOUNT_ID, mode: 'test' } }],
    'account reopened': [{ kind: 'fireNow', timers: { kind: 'payout', group: ACCOUNT_ID } }],
  },
};

/** The events in the log for which endpoints receive messages. */
export const TOLD: readonly string[] = [
  'payout requested',
  'payout that awaits approval',
  'payout rejected',
  'payout cancelled',
  'payout paid',
  'payout failed',
  'payout confirmed late',
];
