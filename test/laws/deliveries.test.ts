// Laws of webhook deliveries over random histories, made by decisions in any order and with repeats.
import { expect } from 'chai';
import fc from 'fast-check';
import type { Decision } from '../../domain/kernel/decider.ts';
import type { DeliveryId, EndpointId, EventId } from '../../domain/kernel/ids.ts';
import { isRejection } from '../../domain/kernel/rejection.ts';
import { addSeconds } from '../../domain/kernel/time.ts';
import {
  cancelDelivery,
  recordAttempt,
  scheduleDelivery,
  type WebhookDeliveryEvent,
  type WebhookDeliveryState,
  webhookDelivery,
} from '../../domain/webhookDelivery/webhookDelivery.ts';
import { deepFreeze } from '../support/deepFreeze.ts';
import { ACCOUNT_ID, CREATED_AT } from '../support/samples.ts';

type Step = Decision<WebhookDeliveryState, WebhookDeliveryEvent, unknown>;
const message = {
  deliveryId: '00000000000000000000000004' as DeliveryId,
  accountId: ACCOUNT_ID,
  mode: 'test' as const,
  endpointId: '00000000000000000000000003' as EndpointId,
  url: null,
  eventId: '00000000000000000000000005' as EventId,
  eventType: 'charge.paid',
  family: 'canonical' as const,
  body: '{}',
};
const when = fc.nat({ max: 86_400 }).map((seconds) => addSeconds(CREATED_AT, seconds));
const failure = {
  ok: false,
  statusCode: 500,
  error: 'status: 500',
  responseBody: null,
  durationMs: 1,
  retryAfterMs: null,
};
const success = { ...failure, ok: true, statusCode: 200, error: null };
/** The attempt after those made, or one out of turn. */
const attempt = fc
  .tuple(
    fc.constantFrom(failure, failure, failure, failure, failure, failure, success),
    fc.constantFrom(0, 1, 1, 1, 1, 2),
    when,
  )
  .map(([result, ahead, at]): Step => {
    let number: number | null = null;
    return (state) => {
      number ??= (state.status === 'absent' ? 0 : state.attempts) + ahead; // fixed when it is made: a repeat is the same attempt
      return recordAttempt(number, result, at, 0.5)(state);
    };
  });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 20, arbitrary: attempt },
  { weight: 1, arbitrary: when.map((at): Step => scheduleDelivery(message, at)) },
  { weight: 1, arbitrary: when.map((at): Step => cancelDelivery('gone', at)) },
);
const steps = fc.array(step, { maxLength: 40 }).map((rest): Step[] => [scheduleDelivery(message, CREATED_AT), ...rest]);

describe('laws of webhook deliveries', () => {
  it('every decision twice is once; attempts are numbered without gap, 15 at most; nothing follows the end', () => {
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
        expect(numbers.length).to.be.at.most(15);
        const ends = events.flatMap(({ type }, i) => (/Succeeded|DeadLettered|Cancelled/.test(type) ? [i] : []));
        expect(ends).to.deep.equal(state.status === 'pending' ? [] : [events.length - 1]);
      }),
      { numRuns: 300 },
    );
  });
});
