// Every stored event has words, which say the same after its personal data is erased.
import { expect } from 'chai';
import fc from 'fast-check';
import { AGGREGATES } from '../../../domain/aggregates.ts';
import type { Json } from '../../../domain/kernel/json.ts';
import type { Serde } from '../../../domain/kernel/serde.ts';
import { EVENT_TYPES, wordsOf } from '../../../domain/presentation/eventWords.ts';
import { anyEventOf } from '../../support/arbitraries.ts';
import type { AnyEvent } from '../../support/serde.ts';

/** Any event, with amounts in reais. */
const inReais = (data: unknown): Record<string, unknown> =>
  JSON.parse(JSON.stringify(data), (key, value) => (key === 'currency' ? 'BRL' : value));

describe('eventWords', () => {
  it('has words for exactly the stored event types', () => {
    expect([...EVENT_TYPES].toSorted()).to.deep.equal(AGGREGATES.flatMap(({ serde }) => serde.types).toSorted());
    expect(wordsOf({ type: 'SomethingElse', data: {} })).to.equal(null);
    expect(wordsOf({ type: 'toString', data: {} })).to.equal(null);
  });

  for (const { isSealed, serde: own } of AGGREGATES) {
    const serde = own as unknown as Serde<AnyEvent>;
    for (const type of serde.types)
      it(`${type}: whole sentences, which show no personal data`, () => {
        fc.assert(
          fc.property(anyEventOf([type]), (event) => {
            const data = inReais(event.data);
            const words = wordsOf({ type, data });
            expect(words?.en).to.match(/^\S.*\.$/s);
            expect(words?.en).not.to.match(/undefined|null|NaN|\[object/);
            if (!isSealed) return; // not of payers, so it can't be erased
            const erased = structuredClone(data) as Json;
            serde.putPersonal({ type, version: serde.encode(event).version, data: erased }, null);
            expect(wordsOf({ type, data: erased })).to.deep.equal(words);
          }),
          { numRuns: 20 },
        );
      });
  }
});
