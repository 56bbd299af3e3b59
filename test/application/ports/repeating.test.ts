// The timer loop: rounds never overlap or queue up, errors don’t end it, and stopping waits for the current round.
import { mock } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { type Repeating, repeating } from '../../../application/ports/repeating.ts';

const EVERY_MS = 1_000;

describe('repeating', () => {
  let loop: Repeating;
  let begun: number;
  /** Ends the current round. */
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
  /** Returns whether the promise is already settled. */
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

  it('starts a round after each interval', async () => {
    expect(await pass(EVERY_MS - 1)).to.equal(0);
    expect(await pass(1)).to.equal(1);
    await finish();
    expect(await pass(EVERY_MS)).to.equal(2);
  });
  it('skips intervals that end during a round', async () => {
    expect(await pass(5 * EVERY_MS)).to.equal(1);
    await finish();
    expect(begun).to.equal(1);
    expect(await pass(EVERY_MS)).to.equal(2);
  });
  it('reports synchronous and asynchronous errors of a round and continues', async () => {
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
  it('starts a round on request, and one more after the current round for any number of requests', async () => {
    const first = loop.now();
    const others = [loop.now(), loop.now()];
    expect(begun).to.equal(1);
    await finish();
    expect([await isOver(first), begun]).to.deep.equal([true, 2]);
    expect(await isOver(Promise.race(others))).to.equal(false);
    await finish();
    expect([await isOver(Promise.all(others).then(() => undefined)), begun]).to.deep.equal([true, 2]);
  });
  it('starts a round early at the earliest requested time, and ignores requests after the next interval', async () => {
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
  it('starts a round after the current one if an earlier time was requested during it', async () => {
    await pass(EVERY_MS);
    loop.within(-1);
    expect(await pass(1)).to.equal(1);
    await finish();
    expect(begun).to.equal(2);
  });
  it('stops after the current round and the requested one have ended', async () => {
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
