import { expect } from 'chai';
import { KeyedLock } from '../../../application/core/keyedLock.ts';

const deferred = () => {
  let open = (): void => undefined;
  const promise = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { promise, open };
};

describe('KeyedLock', () => {
  it('runs one task at a time per key, in order of arrival', async () => {
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
  it('continues after a failure, which only its own caller receives', async () => {
    const lock = new KeyedLock();
    const failing = lock.run('k', () => Promise.reject(new Error('mine')));
    const next = lock.run('k', () => Promise.resolve('fine'));
    const error = await failing.then(
      () => null,
      (reason: Error) => reason.message,
    );
    expect([error, await next]).to.deep.equal(['mine', 'fine']);
  });
});
