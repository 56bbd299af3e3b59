// The size limit of a cache, and which entries it evicts.
import { expect } from 'chai';
import { boundedCache } from '../../../application/ports/boundedCache.ts';

describe('a bounded cache', () => {
  it('keeps the most recently used entries up to its limit', () => {
    const gone: string[] = [];
    const cache = boundedCache<string, number>(2, { dispose: (_, key) => void gone.push(key) });
    cache.set('a', 1).set('b', 2);
    expect(cache.get('a')).to.equal(1);
    cache.set('c', 3);
    expect([cache.get('a'), cache.get('b'), cache.get('c')]).to.deep.equal([1, undefined, 3]);
    expect([cache.size, gone]).to.deep.equal([2, ['b']]);
    cache.clear();
    expect([cache.size, gone]).to.deep.equal([0, ['b', 'a', 'c']]);
  });

  it('replaces an existing entry without evicting another', () => {
    const cache = boundedCache<string, number>(2);
    cache.set('a', 1).set('b', 2).set('a', 3);
    expect([cache.size, cache.get('a'), cache.get('b')]).to.deep.equal([2, 3, 2]);
  });
});
