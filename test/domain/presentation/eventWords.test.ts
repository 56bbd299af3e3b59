// Every stored event has a description that stays the same after its personal data is erased.
import { expect } from 'chai';
import fc from 'fast-check';
import { AGGREGATES } from '../../../domain/aggregates.ts';
import type { Json } from '../../../domain/kernel/json.ts';
import type { Serde } from '../../../domain/kernel/serde.ts';
import { LANGUAGES } from '../../../domain/presentation/amount.ts';
import { EVENT_TYPES, wordsOf } from '../../../domain/presentation/eventWords.ts';
import { anyEventOf } from '../../support/arbitraries.ts';
import type { AnyEvent } from '../../support/serde.ts';

/** Returns the event data with all amounts in reais. */
const inReais = (data: unknown): Record<string, unknown> =>
  JSON.parse(JSON.stringify(data), (key, value) => (key === 'currency' ? 'BRL' : value));

describe('eventWords', () => {
  it('describes exactly the stored event types', () => {
    expect([...EVENT_TYPES].toSorted()).to.deep.equal(AGGREGATES.flatMap(({ serde }) => serde.types).toSorted());
    expect(wordsOf({ type: 'SomethingElse', data: {} })).to.equal(null);
    expect(wordsOf({ type: 'toString', data: {} })).to.equal(null);
  });

  it('formats amounts in each language', () => {
    const data = { amount: 123_456, currency: 'BRL' };
    expect(wordsOf({ type: 'PayoutPaid', data })).to.deep.equal({
      en: 'The bank paid out R$ 1,234.56.',
      pt: 'O banco pagou o saque de R$ 1.234,56.',
    });
  });

  for (const { isSealed, serde: own } of AGGREGATES) {
    const serde = own as unknown as Serde<AnyEvent>;
    for (const type of serde.types)
      it(`describes ${type} in full sentences in every language, without personal data`, () => {
        fc.assert(
          fc.property(anyEventOf([type]), (event) => {
            const data = inReais(event.data);
            const words = wordsOf({ type, data });
            expect(Object.keys(words ?? {})).to.have.members(LANGUAGES);
            for (const language of LANGUAGES) {
              expect(words?.[language]).to.match(/^\S.*\.$/s);
              expect(words?.[language]).not.to.match(/undefined|null|NaN|\[object/);
            }
            expect(words?.pt).not.to.equal(words?.en);
            if (!isSealed) return; // These events contain no payer data, so they can’t be erased.
            const erased = structuredClone(data) as Json;
            serde.putPersonal({ type, version: serde.encode(event).version, data: erased }, null);
            expect(wordsOf({ type, data: erased })).to.deep.equal(words);
          }),
          { numRuns: 20 },
        );
      });
  }
});
