// What the process of erasures answers to each event of the log (test/application/reactions.test.ts).
import { PAYOUT_ID } from '../../domain/payout/samples.ts';
import { type Answers, job } from '../../support/reactionLog.ts';
import { PAYMENT_ID } from '../../support/samples.ts';

/** By process and name in the log. What is not named here is answered with nothing. */
export const ANSWERS: Answers = {
  erasure: {
    'payment erased': [job('completeErasure', { kind: 'payment', owner: PAYMENT_ID })],
    'payout erased': [job('completeErasure', { kind: 'payout', owner: PAYOUT_ID })],
  },
};

/** Of the names in the log: what endpoints are told of. */
export const TOLD: readonly string[] = [];
