import { expect } from 'chai';
import { KeyedLock } from '../../../application/core/keyedLock.ts';
import { LruMap } from '../../../domain/kernel/lruMap.ts';

const deferred = () => {
  let open = (): void => undefined;
  const promise = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { promise, open };
};

describe('KeyedLock', () => {
  it('runs one at a time per key, in order of arrival', async () => {
    const lock = new KeyedLock();
    const gate = deferred();
    const told: string[] = [];
    const work = (name: string, until: Promise<void>) => async () => {
      told.push(`${name} begins`);
      await until;
      told.push(`${name} ends`);
      return name;
    };
    const all = [
      lock.run('k', work('a', gate.promise)),
      lock.run('k', work('b', Promise.resolve())),
      lock.run('k', work('c', Promise.resolve())),
    ];
    expect(await lock.run('other', work('x', Promise.resolve()))).to.equal('x');
    expect(told).to.deep.equal(['a begins', 'x begins', 'x ends']);
    gate.open();
    expect(await Promise.all(all)).to.deep.equal(['a', 'b', 'c']);
    expect(told.slice(3)).to.deep.equal(['a ends', 'b begins', 'b ends', 'c begins', 'c ends']);
  });
  it('goes on after a failure, which only its own caller sees', async () => {
    const lock = new KeyedLock();
    const failing = lock.run('k', () => Promise.reject(new Error('mine')));
    const next = lock.run('k', () => Promise.resolve('fine'));
    const error = await failing.then(
      () => null,
      (reason: Error) => reason.message,
    );
    expect([error, await next]).to.deep.equal(['mine', 'fine']);
  });
  it('is busy exactly while somebody holds or awaits the key', async () => {
    const lock = new KeyedLock();
    const gate = deferred();
    const held = lock.run('k', () => gate.promise);
    expect([lock.isBusy('k'), lock.isBusy('other')]).to.deep.equal([true, false]);
    gate.open();
    await held;
    expect(lock.isBusy('k')).to.equal(false);
  });
});

describe('LruMap', () => {
  const filled = () => {
    const map = new LruMap<string, number>(2);
    map.set('a', 1);
    map.set('b', 2);
    return map;
  };
  const shown = (map: LruMap<string, number>) => ['a', 'b', 'c'].map((key) => map.get(key));
  it('forgets what was used least recently', () => {
    const map = filled();
    map.set('c', 3);
    expect(shown(map)).to.deep.equal([undefined, 2, 3]);
  });
  it('reading is using', () => {
    const map = filled();
    map.get('a');
    map.set('c', 3);
    expect(shown(map)).to.deep.equal([1, undefined, 3]);
  });
  it('setting again replaces and is using', () => {
    const map = filled();
    map.set('a', 9);
    map.set('c', 3);
    expect(shown(map)).to.deep.equal([9, undefined, 3]);
  });
  it('deletes and clears', () => {
    const map = filled();
    map.delete('a');
    expect(shown(map)).to.deep.equal([undefined, 2, undefined]);
    map.clear();
    expect(shown(map)).to.deep.equal([undefined, undefined, undefined]);
  });
});
