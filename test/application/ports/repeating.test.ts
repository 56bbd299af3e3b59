// The timer loop: rounds never overlap or pile up, errors don't end it, and stopping waits for the round that runs.
import { mock } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { type Repeating, repeating } from '../../../application/ports/repeating.ts';

const EVERY_MS = 1_000;

describe('repeating', () => {
  let loop: Repeating;
  let begun: number;
  /** Ends the round that runs. */
  let end: PromiseWithResolvers<void>;
  const errors: string[] = [];
  const start = (): void => {
    const round = () => {
      begun += 1;
      end = Promise.withResolvers();
      return end.promise;
    };
    loop = repeating(EVERY_MS, round, { onError: ({ message }) => errors.push(message) });
  };
  const pass = async (ms: number): Promise<number> => {
    mock.timers.tick(ms);
    await turn();
    return begun;
  };
  const finish = async (error?: Error): Promise<void> => {
    if (error) end.reject(error);
    else end.resolve();
    await turn();
  };
  /** Whether the promise is settled by now. */
  const isOver = async (promise: Promise<void>): Promise<boolean> => {
    let over = false;
    void promise.then(() => {
      over = true;
    });
    await turn();
    return over;
  };
  beforeEach(() => {
    mock.timers.enable({ apis: ['setInterval', 'setTimeout'] });
    begun = 0;
    errors.length = 0;
    start();
  });
  afterEach(() => mock.timers.reset());

  it('begins a round each time the interval has passed', async () => {
    expect(await pass(EVERY_MS - 1)).to.equal(0);
    expect(await pass(1)).to.equal(1);
    await finish();
    expect(await pass(EVERY_MS)).to.equal(2);
  });
  it('drops the beats that come while a round runs', async () => {
    expect(await pass(5 * EVERY_MS)).to.equal(1);
    await finish();
    expect(begun).to.equal(1);
    expect(await pass(EVERY_MS)).to.equal(2);
  });
  it('reports what a round throws, at once or later, and goes on', async () => {
    await pass(EVERY_MS);
    await finish(new Error('later'));
    await loop.stop();
    loop = repeating(
      EVERY_MS,
      () => {
        begun += 1;
        throw new Error('at once');
      },
      { onError: ({ message }) => errors.push(message) },
    );
    await pass(EVERY_MS);
    expect(await pass(EVERY_MS)).to.equal(3);
    expect(errors).to.deep.equal(['later', 'at once', 'at once']);
  });
  it('begins a round when asked to, and one more after the one that runs, however often it is asked', async () => {
    const first = loop.now();
    const others = [loop.now(), loop.now()];
    expect(begun).to.equal(1);
    await finish();
    expect([await isOver(first), begun]).to.deep.equal([true, 2]);
    expect(await isOver(Promise.race(others))).to.equal(false);
    await finish();
    expect([await isOver(Promise.all(others).then(() => undefined)), begun]).to.deep.equal([true, 2]);
  });
  it('begins a round sooner, at the earliest time that was asked for, and none for a time after the next beat', async () => {
    loop.within(EVERY_MS);
    loop.within(300);
    loop.within(200);
    loop.within(250);
    expect(await pass(199)).to.equal(0);
    expect(await pass(1)).to.equal(1);
    await finish();
    expect(await pass(EVERY_MS - 201)).to.equal(1);
    expect(await pass(1)).to.equal(2);
  });
  it('begins a round after the one that runs when its earlier time comes meanwhile', async () => {
    await pass(EVERY_MS);
    loop.within(-1);
    expect(await pass(1)).to.equal(1);
    await finish();
    expect(begun).to.equal(2);
  });
  it('stops when the round that runs has ended, and the one that was asked for', async () => {
    await pass(EVERY_MS);
    void loop.now();
    const stopped = loop.stop();
    await finish();
    expect([await isOver(stopped), begun]).to.deep.equal([false, 2]);
    await finish();
    expect(await isOver(stopped)).to.equal(true);
    await loop.now();
    loop.within(0);
    expect(await pass(3 * EVERY_MS)).to.equal(2);
  });
});
