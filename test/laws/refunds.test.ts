// Properties of a refund’s life at the provider, whatever the provider answers and how often.
import { expect } from 'chai';
import fc from 'fast-check';
import type { Decision } from '../../domain/kernel/decider.ts';
import { isRejection } from '../../domain/kernel/rejection.ts';
import {
  type RefundEvent,
  type RefundOrder,
  type RefundOutcome,
  type RefundState,
  recordRefundOutcome,
  refund,
  requestRefund,
} from '../../domain/refund/refund.ts';
import { ANY_DATA } from '../support/arbitraries.ts';
import { deepFreeze } from '../support/deepFreeze.ts';

type Step = Decision<RefundState, RefundEvent, string>;
const order = ANY_DATA.RefundRequested.map(({ at, ...rest }): [RefundOrder, typeof at] => [rest, at]);
const outcome: fc.Arbitrary<RefundOutcome> = fc.oneof(
  fc.constant({ kind: 'processing' as const }),
  fc.constant({ kind: 'unknown' as const }),
  ANY_DATA.RefundCompleted.map(({ endToEndId }) => ({ kind: 'confirmed' as const, endToEndId })),
  ANY_DATA.RefundFailed.map(({ reason }) => ({ kind: 'refused' as const, reason })),
);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 1, arbitrary: order.map(([asked, at]) => requestRefund(asked, at)) },
  {
    weight: 4,
    arbitrary: fc.tuple(outcome, ANY_DATA.RefundSubmitted).map(([said, { at }]) => recordRefundOutcome(said, at)),
  },
);
const steps = fc.array(step, { maxLength: 12 });

/** Applies the steps in sequence, each of them twice, and returns the events. */
const run = (all: readonly Step[]): readonly RefundEvent[] => {
  const events: RefundEvent[] = [];
  let state: RefundState = refund.initial;
  for (const decide of all) {
    const once = decide(deepFreeze(state));
    if (isRejection(once)) throw new Error(once.code);
    events.push(...once.events);
    state = once.events.reduce(refund.evolve, state);
    const again = decide(deepFreeze(state));
    expect(isRejection(again) || again.events).to.deep.equal([]);
  }
  return events;
};

describe('properties of refunds', () => {
  it('every decision is idempotent', () => {
    fc.assert(fc.property(steps, (all) => void run(all)));
  });
  it('a refund is requested once, first, and ends once, last except for a late confirmation', () => {
    fc.assert(
      fc.property(steps, (all) => {
        const types = run(all).map(({ type }) => type);
        const isEnd = (type: string) => type === 'RefundCompleted' || type === 'RefundFailed';
        expect(types.slice(0, 1)).to.deep.equal(types.length === 0 ? [] : ['RefundRequested']);
        expect(types.slice(1)).to.not.include('RefundRequested');
        const isLate = types.at(-1) === 'RefundConfirmedLate';
        expect(types.slice(0, isLate ? -2 : -1).filter(isEnd)).to.deep.equal([]);
        if (isLate) expect(types.at(-2)).to.equal('RefundFailed');
      }),
    );
  });
  it('a refund keeps the order it was requested with', () => {
    fc.assert(
      fc.property(order, steps, ([asked, at], all) => {
        const events = run([requestRefund(asked, at), ...all]);
        const state = events.reduce(refund.evolve, refund.initial);
        expect(state.status === 'absent' || [state.order, state.requestedAt]).to.deep.equal([asked, at]);
      }),
    );
  });
});
