import { expect } from 'chai';
import { HeadWatch } from '../../../../infrastructure/eventStore/postgres/logMemory.ts';

const LONG_MS = 60_000;
const never = new AbortController().signal;

describe('head watch', () => {
  it('reports only newer valid positions', () => {
    const watch = new HeadWatch(5, () => undefined);
    const heard: number[] = [];
    watch.onHead((place) => heard.push(place));
    for (const place of [5, 4, 7, 7, 6, Number.NaN, 7.5, 8]) watch.learn(place);
    expect(heard).to.deep.equal([7, 8]);
    expect(watch.known).to.equal(8);
  });

  it('wakes waiters for lower positions, and at once if the position has passed', async () => {
    const watch = new HeadWatch(5, () => undefined);
    await watch.wait(4, LONG_MS, never);
    const woken: string[] = [];
    const low = watch.wait(5, LONG_MS, never).then(() => woken.push('beyond 5'));
    const high = watch.wait(9, LONG_MS, never).then(() => woken.push('beyond 9'));
    watch.learn(9);
    await low;
    expect(woken).to.deep.equal(['beyond 5']);
    watch.learn(10);
    await high;
    expect(woken).to.deep.equal(['beyond 5', 'beyond 9']);
  });

  it('stops waiting at the timeout or the signal, before or during the wait', async () => {
    const watch = new HeadWatch(0, () => undefined);
    await watch.wait(0, 1, never);
    await watch.wait(0, LONG_MS, AbortSignal.abort());
    const abort = new AbortController();
    const waiting = watch.wait(0, LONG_MS, abort.signal);
    abort.abort();
    await waiting;
  });

  it('reports a listener that throws and calls the others; a listener added twice is called twice until removed', () => {
    const errors: unknown[] = [];
    const watch = new HeadWatch(0, (error) => errors.push(error));
    const fault = new Error('listener');
    const heard: number[] = [];
    const listener = (place: number): void => {
      heard.push(place);
    };
    watch.onHead(() => {
      throw fault;
    });
    const undo = watch.onHead(listener);
    watch.onHead(listener);
    watch.learn(1);
    undo();
    undo();
    watch.learn(2);
    expect(heard).to.deep.equal([1, 1, 2]);
    expect(errors).to.deep.equal([fault, fault]);
  });
});
