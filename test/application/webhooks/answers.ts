// The expected reactions of the processes for webhooks to each event of the log (test/application/reactions.test.ts).
import { type Answers, clear, DELIVERY, ENDPOINT, LATER, timer } from '../../support/reactionLog.ts';

const forget = (what: string) => ({ kind: 'effect', effect: `forget${what}`, about: ENDPOINT });
const fireNow = { kind: 'fireNow', timers: { kind: 'deliver', group: ENDPOINT } };
const afresh = [forget('Failures'), fireNow];

/** By process and by name in the log. Events that are not listed cause no reaction. */
export const ANSWERS: Answers = {
  webhookFanOut: {},
  webhookDelivery: {
    'attempt failed': [timer('deliver', DELIVERY, LATER, ENDPOINT)],
    'delivery cancelled': [clear('deliver', DELIVERY)],
    'retry requested': [timer('deliver', DELIVERY, LATER, ENDPOINT)],
    'endpoint deleted': [forget('Failures'), forget('Secrets'), fireNow],
    'endpoint URL changed': afresh,
    'endpoint made inactive': afresh,
    'endpoint made active': afresh,
  },
};
