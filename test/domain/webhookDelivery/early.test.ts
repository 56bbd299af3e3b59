// A retry is early only because its target recovered, and by at most one step of the schedule (W3).
import { expect } from 'chai';
import fc from 'fast-check';
import { addMillis, type Timestamp, toMillis } from '../../../domain/kernel/time.ts';
import {
  mayComeEarly,
  type PendingDelivery,
  recordAttempt,
  scheduled,
  webhookDelivery,
} from '../../../domain/webhookDelivery/webhookDelivery.ts';
import { at } from '../../support/samples.ts';
import { deliveryOf, REFUSED, TARGET } from '../../world/deliveries.ts';

/** The delays of W3, spelled out: seconds after attempts 1 to 14. */
const W3_SECONDS = [5, 30, 120, 300, 900, 1800, 3600, 7200, 14_400, 21_600, 28_800, 43_200, 43_200, 43_200];
const START = at('13:00:00');
const HALF = 0.5; // without jitter
const delivery = deliveryOf({ scheduledAt: START });
const fresh = (): PendingDelivery => scheduled(delivery, TARGET);
const refused = (
  state: PendingDelivery,
  when: Timestamp,
  random = HALF,
  retryAfterMs: number | null = null,
): PendingDelivery => {
  const result = { ...REFUSED, statusCode: 503, error: 'status: 503', retryAfterMs };
  const decided = recordAttempt({ delivery, target: TARGET }, state.attempts + 1, result, when, random)(state);
  if (!('events' in decided)) throw new Error('refused');
  return decided.events.reduce(webhookDelivery.evolve, state) as PendingDelivery;
};
const onSchedule = (attempts: number, random = HALF): PendingDelivery => {
  let state = fresh();
  while (state.attempts < attempts) state = refused(state, state.nextAttemptAt, random);
  return state;
};

describe('an early retry', () => {
  it('is allowed at once if all earlier attempts were on schedule, for any jitter', () => {
    for (let attempts = 1; attempts < 15; attempts++)
      for (const random of [0, HALF, 0.999]) {
        const state = onSchedule(attempts, random);
        expect(mayComeEarly(state, addMillis(state.updatedAt, 1)), `${attempts}`).to.equal(true);
      }
  });
  it('is not allowed after an early attempt until that attempt’s scheduled time', () => {
    const early = refused(onSchedule(10), addMillis(onSchedule(10).updatedAt, 60_000));
    expect(mayComeEarly(early, addMillis(early.updatedAt, 60_000))).to.equal(false);
    expect(mayComeEarly(early, onSchedule(10).nextAttemptAt)).to.equal(true);
  });
  it('is not allowed during a Retry-After that exceeds the schedule', () => {
    const [long, short] = [refused(fresh(), START, HALF, 60_000), refused(fresh(), START, HALF, 1_000)];
    expect([long, short].map((state) => mayComeEarly(state, addMillis(START, 1_000)))).to.deep.equal([false, true]);
  });
  it('never makes attempt n + 1 earlier than the schedule alone allows attempt n, however often the target recovers (law)', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 3_600 }), { maxLength: 400 }), (pauses) => {
        let state = fresh();
        const soonest = (number: number) => W3_SECONDS.slice(0, number - 1).reduce((sum, s) => sum + s * 800, 0);
        let now = START;
        for (const seconds of pauses) {
          now = addMillis(now, seconds * 1_000);
          while (state.status === 'pending' && state.nextAttemptAt <= now) state = refused(state, state.nextAttemptAt);
          if (state.status !== 'pending') break;
          if (state.attempts > 0 && mayComeEarly(state, now)) state = refused(state, now);
          expect(toMillis(state.updatedAt) - toMillis(START)).to.be.at.least(soonest(state.attempts - 1));
        }
      }),
    );
  });
});
