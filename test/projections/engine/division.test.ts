// How processes divide the work of a role: each item has one leader, and the shares are about equal.
import { expect } from 'chai';
import fc from 'fast-check';
import { divided } from '../../../projections/engine/division.ts';

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
const able = fc.subarray(NAMES);
const processes = fc.array(able, { minLength: 1, maxLength: 5 });
const division = (all: readonly (readonly string[])[]) => divided(all.map((names) => ({ able: names })));

describe('the division of a role', () => {
  it('gives everything to a single process, and an odd item to the oldest', () => {
    expect(division([NAMES])).to.deep.equal([NAMES]);
    expect(division([NAMES, NAMES])).to.deep.equal([
      ['a', 'c', 'e', 'g'],
      ['b', 'd', 'f'],
    ]);
    expect(division([['a'], ['a'], ['a']])).to.deep.equal([['a'], [], []]);
    expect(division([])).to.deep.equal([]);
  });

  it('gives items only to processes that can lead them, and fewer shared items to those that lead rare ones', () => {
    expect(division([NAMES.slice(0, 4), NAMES])).to.deep.equal([
      ['a', 'b', 'c', 'd'],
      ['e', 'f', 'g'],
    ]);
    expect(
      division([
        ['a', 'b', 'c', 'd'],
        ['a', 'b'],
      ]),
    ).to.deep.equal([
      ['c', 'd'],
      ['a', 'b'],
    ]);
  });

  it('gives each item to exactly one process that can lead it', () => {
    fc.assert(
      fc.property(processes, (all) => {
        const shares = division(all);
        expect(shares.flat().toSorted()).to.deep.equal([...new Set(all.flat())].toSorted());
        for (const [n, share] of shares.entries()) expect(all[n]).to.include.members([...share]);
      }),
    );
  });

  it('gives equal shares to processes that can lead the same items', () => {
    fc.assert(
      fc.property(able, fc.integer({ min: 1, max: 9 }), (names, count) => {
        const sizes = division(Array.from({ length: count }, () => names)).map(({ length }) => length);
        expect(Math.max(...sizes) - Math.min(...sizes)).to.be.at.most(1);
      }),
    );
  });

  it('does not depend on the order in which a process lists its items', () => {
    fc.assert(
      fc.property(processes, (all) => {
        expect(division(all.map((names) => names.toReversed()))).to.deep.equal(division(all));
      }),
    );
  });
});
