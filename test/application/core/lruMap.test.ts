import { expect } from 'chai';
import fc from 'fast-check';
import { LruMap } from '../../../domain/kernel/lruMap.ts';

describe('LruMap', () => {
  it('gives what was set last, or nothing, and never more than its bound', () => {
    const max = 6;
    const keys = fc.integer({ min: 0, max: 9 });
    const steps = fc.array(fc.tuple(fc.constantFrom('set', 'get', 'delete'), keys), { maxLength: 200 });
    fc.assert(
      fc.property(steps, (list) => {
        const map = new LruMap<number, string>(max);
        const model = new Map<number, string>();
        list.forEach(([what, key], n) => {
          if (what === 'delete') {
            map.delete(key);
            model.delete(key);
          } else if (what === 'set') {
            map.set(key, `${n}`);
            model.set(key, `${n}`);
          } else {
            const value = map.get(key);
            if (value !== undefined) expect(value).to.equal(model.get(key));
          }
        });
        const left = Array.from({ length: 10 }, (_, key) => key).filter((key) => map.get(key) !== undefined);
        expect(left.length).to.be.at.most(max);
      }),
    );
  });

  it('remembers the half of its bound that was used last, reads included', () => {
    const map = new LruMap<number, number>(4);
    for (const key of [1, 2]) map.set(key, key);
    expect(map.get(1)).to.equal(1);
    map.set(3, 3); // a new generation
    expect(map.get(1)).to.equal(1); // moved to it
    map.set(4, 4); // and another one: 2 was not used since the one before the last began
    expect([1, 4, 2].map((key) => map.get(key))).to.deep.equal([1, 4, undefined]);
  });

  it('forgets all when it is cleared', () => {
    const map = new LruMap<string, number>(4);
    map.set('a', 1);
    map.clear();
    expect(map.get('a')).to.equal(undefined);
  });
});
