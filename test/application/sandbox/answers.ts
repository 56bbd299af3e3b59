// The expected reactions of the sandbox’s processes to each event of the log (test/application/reactions.test.ts).
import { type Answers, job, LATER } from '../../support/reactionLog.ts';
import { ACCOUNT_ID } from '../../support/samples.ts';

/** By process and by name in the log. Events that are not listed cause no reaction. */
export const ANSWERS: Answers = {
  testClock: {
    'clock advanced': [
      { kind: 'effect', effect: 'clockAdvance', about: { account: ACCOUNT_ID, seconds: 90, until: LATER } },
      job('drainClock', { accountId: ACCOUNT_ID }),
    ],
  },
};
