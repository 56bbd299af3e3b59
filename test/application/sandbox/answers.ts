// What the processes of the sandbox answer to each event of the log (test/application/reactions.test.ts).
import { type Answers, job, LATER } from '../../support/reactionLog.ts';
import { ACCOUNT_ID } from '../../support/samples.ts';

/** By process and name in the log. What is not named here is answered with nothing. */
export const ANSWERS: Answers = {
  testClock: {
    'clock advanced': [
      { kind: 'effect', effect: 'clockAdvance', about: { account: ACCOUNT_ID, seconds: 90, until: LATER } },
      job('drainClock', { accountId: ACCOUNT_ID }),
    ],
  },
};
