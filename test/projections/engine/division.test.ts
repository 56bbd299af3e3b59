// How processes divide the work of a role: nothing is nobody's, nothing is led twice, and nobody has much more than another.
import { expect } from 'chai';
import fc from 'fast-check';
import { divided } from '../../../projections/engine/division.ts';

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
const able = fc.subarray(NAMES);
const processes = fc.array(able, { minLength: 1, maxLength: 5 });
const division = (all: readonly (readonly string[])[]) => divided(all.map((names) => ({ able: names })));

describe('the division of a role', () => {
  it('gives all to one process, and the oldest one more if the work can not be halved', () => {
    expect(division([NAMES])).to.deep.equal([NAMES]);
    expect(division([NAMES, NAMES])).to.deep.equal([
      ['a', 'c', 'e', 'g'],
      ['b', 'd', 'f'],
    ]);
    expect(division([['a'], ['a'], ['a']])).to.deep.equal([['a'], [], []]);
    expect(division([])).to.deep.equal([]);
  });

  it('gives work to those that can lead it, and less of the rest to those that lead what few can', () => {
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

  it('gives each piece that any process can lead to one that can', () => {
    fc.assert(
      fc.property(processes, (all) => {
        const shares = division(all);
        expect(shares.flat().toSorted()).to.deep.equal([...new Set(all.flat())].toSorted());
        for (const [n, share] of shares.entries()) expect(all[n]).to.include.members([...share]);
      }),
    );
  });

  it('gives equal parts to processes that can lead the same', () => {
    fc.assert(
      fc.property(able, fc.integer({ min: 1, max: 9 }), (names, count) => {
        const sizes = division(Array.from({ length: count }, () => names)).map(({ length }) => length);
        expect(Math.max(...sizes) - Math.min(...sizes)).to.be.at.most(1);
      }),
    );
  });

  it('is the same in whatever order a process names what it can lead', () => {
    fc.assert(
      fc.property(processes, (all) => {
        expect(division(all.map((names) => names.toReversed()))).to.deep.equal(division(all));
      }),
    );
  });
});
