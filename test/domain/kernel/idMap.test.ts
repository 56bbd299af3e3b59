import { expect } from 'chai';
import fc from 'fast-check';
import { EMPTY_ID_MAP, entryOf, type IdMap, valuesOf, withEntry, withoutEntry } from '../../../domain/kernel/idMap.ts';

/** A small alphabet, so that common prefixes and repeated ids occur often. */
const id = fc.string({ unit: fc.constantFrom('0', 'a', 'z'), maxLength: 5 });
const steps = fc.array(fc.tuple(id, fc.option(fc.nat())), { maxLength: 60 });

describe('an id map', () => {
  it('behaves like a Map, and older versions keep their entries', () => {
    fc.assert(
      fc.property(steps, (all) => {
        const model = new Map<string, number>();
        const held: (readonly [IdMap<number>, ReadonlyMap<string, number>])[] = [[EMPTY_ID_MAP, new Map()]];
        let map: IdMap<number> = EMPTY_ID_MAP;
        for (const [key, value] of all) {
          if (value === null) model.delete(key);
          else model.set(key, value);
          map = value === null ? withoutEntry(map, key) : withEntry(map, key, value);
          held.push([map, new Map(model)]);
        }
        for (const [made, entries] of held) {
          for (const [key] of all) expect(entryOf(made, key)).to.equal(entries.get(key));
          expect([...valuesOf(made)].toSorted()).to.deep.equal([...entries.values()].toSorted());
        }
      }),
    );
  });
  it('returns itself when an absent entry is removed', () => {
    const map = withEntry(withEntry(EMPTY_ID_MAP, 'ab', 1), 'ac', 2);
    for (const absent of ['', 'a', 'ad', 'abc', 'b']) expect(withoutEntry(map, absent)).to.equal(map);
  });
  it('equals the empty map after all entries are removed', () => {
    const map = withEntry(withEntry(EMPTY_ID_MAP, 'ab', 1), 'ac', 2);
    expect(withoutEntry(withoutEntry(map, 'ab'), 'ac')).to.deep.equal(EMPTY_ID_MAP);
  });
});
