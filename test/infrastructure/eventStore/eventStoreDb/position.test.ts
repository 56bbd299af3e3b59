import { expect } from 'chai';
import fc from 'fast-check';
import type { Position } from '../../../../application/ports/eventStore.ts';
import { later, logPositionOf, positionOf } from '../../../../infrastructure/eventStore/eventStoreDb/messages.ts';

const place = fc.record({ commit: fc.bigInt(0n, 2n ** 63n - 1n), prepare: fc.bigInt(0n, 2n ** 63n - 1n) });
const shown = ({ commit, prepare }: { commit: bigint; prepare: bigint }): Position =>
  positionOf(String(commit), String(prepare)) as Position;

describe('positions of EventStoreDB', () => {
  it('are two numbers of 20 digits', () => {
    expect(positionOf('1234', '5')).to.equal('00000000000000001234/00000000000000000005');
  });

  it('sort as text in log order, and convert back', () => {
    const order = fc.property(place, place, (a, b) => {
      const before = a.commit < b.commit || (a.commit === b.commit && a.prepare < b.prepare);
      expect(shown(a) < shown(b)).to.equal(before);
      expect(logPositionOf(shown(a))).to.deep.equal(a);
    });
    fc.assert(order);
  });

  it('are null if the server returns -1, the end, or nothing', () => {
    const none = [
      ['18446744073709551615', '18446744073709551615'],
      ['9223372036854775808', '0'],
      ['-1', '-1'],
      ['', ''],
    ] as const;
    expect(none.map(([commit, prepare]) => positionOf(commit, prepare))).to.deep.equal([null, null, null, null]);
  });

  it('of another store are rejected', () => {
    for (const text of ['0000000000000000012', '', '1/2', 'x', '00000000000000001234/0000000000000000000x']) {
      expect(() => logPositionOf(text as Position), text).to.throw(RangeError, 'not a position of this event store');
    }
  });

  it('sort after null', () => {
    const [low, high] = [shown({ commit: 1n, prepare: 1n }), shown({ commit: 2n, prepare: 0n })];
    const pairs = [later(null, null), later(null, low), later(low, null), later(low, high), later(high, low)];
    expect(pairs).to.deep.equal([null, low, low, high, high]);
  });
});
