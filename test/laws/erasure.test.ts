// Properties of erasure (rule L2): a reader computes the same result from the original events as from the erased ones.
import { expect } from 'chai';
import fc from 'fast-check';
import { AGGREGATES } from '../../domain/aggregates.ts';
import { type Decider, fold } from '../../domain/kernel/decider.ts';
import type { EventSerde, Serde } from '../../domain/kernel/serde.ts';
import { PAYMENT } from '../../domain/payment/aggregate.ts';
import { endOf, unfinishedBecause } from '../../domain/payment/finality.ts';
import { assertExists, type PaymentEvent, payment } from '../../domain/payment/payment.ts';
import { anyEventOf } from '../support/arbitraries.ts';
import { histories, run } from '../support/paymentHistories.ts';
import { at } from '../support/samples.ts';
import type { AnyEvent } from '../support/serde.ts';

const SURROUNDINGS = { subject: 's', account: 'a', mode: 'test', correlationId: 'c' };

/** Returns the event as it is read after its key was destroyed. */
const afterErasure = (serde: Serde<AnyEvent>, event: AnyEvent): AnyEvent => {
  const form = serde.encode(event);
  const stored = JSON.parse(JSON.stringify(serde.storedData(form, SURROUNDINGS)));
  const { rest, personal } = serde.takePersonal({ ...form, data: stored });
  const data = JSON.parse(JSON.stringify(rest));
  if (personal !== null) serde.putPersonal({ ...form, data }, null);
  return serde.decode({ ...form, data }, SURROUNDINGS);
};

const ERASURE = { by: 'operator:ana', reason: 'request 17', despiteRetention: true, at: at('20:00:00') };

describe('properties of erasure: decided payments', () => {
  const serde = PAYMENT.serde as unknown as Serde<AnyEvent>;
  const erasure: PaymentEvent = { type: 'PaymentPersonalDataErased', data: ERASURE };

  it('the erased history gives the same state as the original, and the same end', () => {
    let ended = 0;
    fc.assert(
      fc.property(histories, ([isLocked, steps]) => {
        const events = run(isLocked, steps).told.map(({ event }) => event);
        const state = fold(payment, [...events, erasure]);
        const left = events.map((event) => afterErasure(serde, event) as PaymentEvent);
        expect(fold(payment, [...left, erasure])).to.deep.equal(state);
        const before = assertExists(fold(payment, events));
        const after = assertExists(state);
        expect(unfinishedBecause(after)).to.equal(unfinishedBecause(before));
        expect(endOf(after)).to.equal(endOf(before));
        if (unfinishedBecause(before) === null) ended++;
      }),
      { numRuns: 500 },
    );
    expect(ended).to.be.greaterThan(0);
  });
});

/** These reasons are Quita’s own texts. An erasure keeps its own reason forever. */
const OUR_OWN_WORDS = ['WebhookDeliveryCancelled'];

const sealed = AGGREGATES.filter(({ isSealed }) => isSealed);

for (const { category, ...aggregate } of sealed) {
  const serde = aggregate.serde as unknown as Serde<AnyEvent>;
  const decider = aggregate.decider as Decider<unknown, AnyEvent>;
  const erasures = serde.types.filter((type) => type.endsWith('PersonalDataErased'));

  describe(`properties of erasure: ${category}`, () => {
    it('has one erasure event type', () => {
      expect(erasures).to.have.length(1);
    });
    it('seals every free-text reason', () => {
      const open = serde.types.filter((type) => {
        const { shape, personal } = (serde.table as Record<string, EventSerde<unknown>>)[type] as EventSerde<unknown>;
        return shape.fields?.['reason']?.erased !== undefined && !personal.includes('reason');
      });
      expect(open.filter((type) => !OUR_OWN_WORDS.includes(type) && !erasures.includes(type))).to.deep.equal([]);
    });
    it('the erased history gives the same state as the original', () => {
      const history = fc.array(anyEventOf(serde.types), { maxLength: 12 });
      fc.assert(
        fc.property(history, anyEventOf(erasures), history, (before, erasure, after) => {
          const all = [...before, erasure, ...after] as AnyEvent[];
          const left = [
            ...before.map((event) => afterErasure(serde, event as AnyEvent)),
            erasure,
            ...after,
          ] as AnyEvent[];
          expect(fold(decider, left)).to.deep.equal(fold(decider, all));
        }),
        { numRuns: 300 },
      );
    });
    it('a second erasure changes nothing', () => {
      const history = fc.array(anyEventOf(serde.types), { maxLength: 12 });
      fc.assert(
        fc.property(history, anyEventOf(erasures), (events, erasure) => {
          const once = fold(decider, [...events, erasure] as AnyEvent[]);
          expect(decider.evolve(once, erasure as AnyEvent)).to.deep.equal(once);
        }),
      );
    });
    it('keeps the postings of every event', () => {
      const postings = 'postings' in aggregate ? aggregate.postings : null;
      if (postings === null) return;
      const entryOf = postings.entryOf as (event: AnyEvent) => unknown;
      fc.assert(
        fc.property(anyEventOf(serde.types), (event) => {
          expect(entryOf(afterErasure(serde, event as AnyEvent))).to.deep.equal(entryOf(event as AnyEvent));
        }),
      );
    });
  });
}
