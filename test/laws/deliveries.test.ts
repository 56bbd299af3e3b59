// Properties of webhook deliveries over random histories of decisions, in any order and with repetitions.
import { expect } from 'chai';
import fc from 'fast-check';
import type { Decision } from '../../domain/kernel/decider.ts';
import { isRejection } from '../../domain/kernel/rejection.ts';
import { addSeconds } from '../../domain/kernel/time.ts';
import {
  cancelDelivery,
  recordAttempt,
  redriveDelivery,
  requestRetry,
  type WebhookDeliveryEvent,
  type WebhookDeliveryState,
  webhookDelivery,
} from '../../domain/webhookDelivery/webhookDelivery.ts';
import { deepFreeze } from '../support/deepFreeze.ts';
import { CREATED_AT } from '../support/samples.ts';
import { deliveryOf, REFUSED, TAKEN, TARGET } from '../world/deliveries.ts';

type Step = Decision<WebhookDeliveryState, WebhookDeliveryEvent, unknown>;
const of = { delivery: deliveryOf(), target: TARGET };
const when = fc.nat({ max: 86_400 }).map((seconds) => addSeconds(CREATED_AT, seconds));
/** The next attempt, or one out of turn. */
const attempt = fc
  .tuple(
    fc.constantFrom(REFUSED, REFUSED, REFUSED, REFUSED, REFUSED, REFUSED, TAKEN),
    fc.constantFrom(0, 1, 1, 1, 1, 2),
    when,
  )
  .map(([result, ahead, at]): Step => {
    let number: number | null = null;
    return (state) => {
      number ??= (state.status === 'absent' ? 0 : state.attempts) + ahead; // The number is fixed at the first call, so a repetition is the same attempt.
      return recordAttempt(of, number, result, at, 0.5)(state);
    };
  });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 20, arbitrary: attempt },
  { weight: 1, arbitrary: when.map((at): Step => cancelDelivery(of, 'gone', at)) },
  { weight: 1, arbitrary: when.map((at): Step => requestRetry(of, at)) },
  {
    weight: 1,
    arbitrary: fc.tuple(fc.boolean(), when).map(([isProbe, at]): Step => redriveDelivery(TARGET, isProbe, at, at)),
  },
);
const steps = fc.array(step, { maxLength: 40 });

/** Splits event types into rounds; each ends with a final event. */
const roundsOf = (events: readonly WebhookDeliveryEvent[]): readonly string[][] => {
  const rounds: string[][] = [[]];
  for (const { type } of events) {
    rounds.at(-1)?.push(type);
    if (/Succeeded|DeadLettered|Cancelled/.test(type)) rounds.push([]);
  }
  return rounds;
};

describe('laws of webhook deliveries', () => {
  it('decisions are idempotent, attempts are gapless and at most 15 a round, only requested retries follow an end, and the first event names the delivery', () => {
    fc.assert(
      fc.property(steps, (story) => {
        let state = deepFreeze(webhookDelivery.initial);
        const events: WebhookDeliveryEvent[] = [];
        for (const decide of story) {
          const decided = decide(state);
          if (isRejection(decided)) throw new Error(decided.message);
          events.push(...decided.events);
          state = deepFreeze(decided.events.reduce(webhookDelivery.evolve, state));
          const again = decide(state);
          expect(isRejection(again) || again.events).to.deep.equal([]);
        }
        const numbers = events.flatMap(({ data }) => ('number' in data ? [data.number] : []));
        expect(numbers).to.deep.equal(numbers.map((_, i) => i + 1));
        for (const round of roundsOf(events))
          expect(round.filter((type) => /AttemptFailed|Succeeded/.test(type)).length).to.be.at.most(15);
        const ends = events.flatMap(({ type }, i) => (/Succeeded|DeadLettered|Cancelled/.test(type) ? [i] : []));
        const isOpen = state.status === 'absent' || state.status === 'pending';
        const last = events.length - 1;
        expect(ends.at(-1) === last).to.equal(!isOpen);
        for (const end of ends) expect(events[end + 1]?.type).to.be.oneOf([undefined, 'WebhookDeliveryRetryRequested']);
        const named = events.map(({ data }) => ('delivery' in data ? data.delivery : null));
        expect(named).to.deep.equal(events.map((_, i) => (i === 0 ? of.delivery : null)));
      }),
      { numRuns: 300 },
    );
  });
});
