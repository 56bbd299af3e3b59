// The expected reactions of the process for erasures to each event of the log (test/application/reactions.test.ts).
import { PAYOUT_ID } from '../../domain/payout/samples.ts';
import { type Answers, job } from '../../support/reactionLog.ts';
import { PAYMENT_ID } from '../../support/samples.ts';

/** By process and by name in the log. Events that are not listed cause no reaction. */
export const ANSWERS: Answers = {
  erasure: {
    'payment erased': [job('completeErasure', { kind: 'payment', owner: PAYMENT_ID })],
    'payout erased': [job('completeErasure', { kind: 'payout', owner: PAYOUT_ID })],
  },
};

/** The events in the log for which endpoints receive messages. */
export const TOLD: readonly string[] = [];
