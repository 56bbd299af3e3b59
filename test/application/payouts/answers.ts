// What the processes of payouts answer to each event of the log (test/application/reactions.test.ts).
import { PAYOUT_ID } from '../../domain/payout/samples.ts';
import { type Answers, clear, job, timer } from '../../support/reactionLog.ts';
import { ACCOUNT_ID, at } from '../../support/samples.ts';

const PAYOUT = { payoutId: PAYOUT_ID };
const PAYOUTS_NOW = [{ kind: 'fireNow', timers: { kind: 'payout', group: ACCOUNT_ID } }];

/** By process and name in the log. What is not named here is answered with nothing. */
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
    'sandbox confirms refunds': PAYOUTS_NOW,
    'account reopened': PAYOUTS_NOW,
  },
};

/** Of the names in the log: what endpoints are told of. */
export const TOLD: readonly string[] = [
  'payout requested',
  'payout that awaits approval',
  'payout rejected',
  'payout cancelled',
  'payout paid',
  'payout failed',
  'payout confirmed late',
];
