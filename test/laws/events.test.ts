// Properties of every aggregate’s events, for any history.

import { expect } from 'chai';
import fc from 'fast-check';
import { AGGREGATES } from '../../domain/aggregates.ts';
import type { Decider } from '../../domain/kernel/decider.ts';
import { fold } from '../../domain/kernel/decider.ts';
import type { Postings } from '../../domain/kernel/journal.ts';
import type { Serde, Surroundings } from '../../domain/kernel/serde.ts';
import { journalEntry } from '../../domain/payment/postings.ts';
import { ANY_DATA, anyEventOf } from '../support/arbitraries.ts';
import { deepFreeze } from '../support/deepFreeze.ts';
import { type AnyEvent, SERDE } from '../support/serde.ts';

/** Returns an event’s texts, which its surroundings may repeat. */
const textsOf = (data: unknown): readonly string[] => {
  if (typeof data === 'string') return [data];
  return typeof data === 'object' && data !== null ? Object.values(data).flatMap(textsOf) : [];
};
/** Generates surroundings, some equal to texts of the event. */
const surroundingsLike = (texts: readonly string[]): fc.Arbitrary<Surroundings> => {
  const text = fc.constantFrom('another', ...texts);
  return fc.record({ subject: text, account: text, mode: text, correlationId: text });
};

for (const { category, ...aggregate } of AGGREGATES) {
  const serde = aggregate.serde as unknown as Serde<AnyEvent>;
  const decider = aggregate.decider as Decider<unknown, AnyEvent>;

  describe(`properties of ${category} events`, () => {
    it('evolve never throws and never mutates', () => {
      fc.assert(
        fc.property(fc.array(anyEventOf(serde.types), { maxLength: 12 }), (events) => {
          let state = deepFreeze(decider.initial);
          for (const event of events) state = deepFreeze(decider.evolve(state, deepFreeze(event) as AnyEvent));
          expect(state).to.not.equal(undefined);
        }),
      );
    });
    it('the same history gives the same state, folded at once or in two parts', () => {
      const history = fc.array(anyEventOf(serde.types), { maxLength: 8 });
      fc.assert(
        fc.property(history, history, (first, second) => {
          const whole = fold(decider, [...first, ...second] as AnyEvent[]);
          expect(fold(decider, second as AnyEvent[], fold(decider, first as AnyEvent[]))).to.deep.equal(whole);
        }),
      );
    });
    const postings = aggregate.postings as Postings<AnyEvent> | null;
    for (const type of postings?.idleTypes ?? [])
      it(`${type} never moves money, so a replay of the wallet may skip it`, () => {
        fc.assert(
          fc.property(anyEventOf([type]), (event) => {
            expect(postings?.entryOf(event as AnyEvent)).to.equal(null);
            expect(postings?.trancheOf?.(event as AnyEvent) ?? null).to.equal(null);
          }),
        );
      });
    for (const type of serde.types)
      it(`${type} survives a round trip through its stored form`, () => {
        fc.assert(
          fc.property(anyEventOf([type]), (event) => {
            const stored = JSON.parse(JSON.stringify(serde.encode(event as AnyEvent))) as ReturnType<
              typeof serde.encode
            >;
            const back = serde.decode(stored);
            expect(back).to.deep.equal(event);
            expect(serde.encode(back)).to.deep.equal(stored);
          }),
        );
      });
    for (const type of serde.types)
      it(`${type} survives a round trip through its stored data, in any surroundings`, () => {
        const surrounded = anyEventOf([type]).chain((event) =>
          fc.tuple(fc.constant(event), surroundingsLike(textsOf(event.data))),
        );
        fc.assert(
          fc.property(surrounded, ([event, around]) => {
            const form = serde.encode(event as AnyEvent);
            const data: unknown = JSON.parse(JSON.stringify(serde.storedData(form, around)));
            const back = serde.decode({ ...form, data }, around);
            expect(JSON.stringify(back.data)).to.equal(JSON.stringify(form.data));
          }),
        );
      });
  });
}

describe('properties of money events', () => {
  it('postings sum to zero per currency, and no posting is zero', () => {
    fc.assert(
      fc.property(anyEventOf<'payment'>(SERDE.payment.types), (event) => {
        const sums = new Map<string, number>();
        for (const { currency, amount } of journalEntry(event)?.postings ?? []) {
          expect(amount).to.not.equal(0);
          sums.set(currency, (sums.get(currency) ?? 0) + amount);
        }
        expect([...sums.values()].filter((sum) => sum !== 0)).to.deep.equal([]);
      }),
      { numRuns: 500 },
    );
  });
});

describe('the arbitraries', () => {
  it('have an entry for every event type and no other', () => {
    expect(Object.keys(ANY_DATA).sort()).to.deep.equal(AGGREGATES.flatMap(({ serde }) => serde.types).sort());
  });
});
