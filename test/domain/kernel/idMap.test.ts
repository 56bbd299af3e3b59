import { expect } from 'chai';
import fc from 'fast-check';
import { EMPTY_ID_MAP, entryOf, type IdMap, valuesOf, withEntry, withoutEntry } from '../../../domain/kernel/idMap.ts';

/** Few characters: paths that begin alike, ids that others begin with, and the same id again are frequent. */
const id = fc.string({ unit: fc.constantFrom('0', 'a', 'z'), maxLength: 5 });
const steps = fc.array(fc.tuple(id, fc.option(fc.nat())), { maxLength: 60 });

describe('a map by id', () => {
  it('holds what a Map holds, and each older one what it held', () => {
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
  it('without an entry that it does not have is itself', () => {
    const map = withEntry(withEntry(EMPTY_ID_MAP, 'ab', 1), 'ac', 2);
    for (const absent of ['', 'a', 'ad', 'abc', 'b']) expect(withoutEntry(map, absent)).to.equal(map);
  });
  it('that loses all of its entries is empty again', () => {
    const map = withEntry(withEntry(EMPTY_ID_MAP, 'ab', 1), 'ac', 2);
    expect(withoutEntry(withoutEntry(map, 'ab'), 'ac')).to.deep.equal(EMPTY_ID_MAP);
  });
});
