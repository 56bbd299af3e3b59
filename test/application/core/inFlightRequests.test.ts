import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import { InFlightRequests } from '../../../application/core/inFlightRequests.ts';
import type { Rejection } from '../../../domain/kernel/rejection.ts';
import { systemStopwatch } from '../../../infrastructure/system/system.ts';

const LATE: Rejection = {
  rejected: true,
  code: 'idempotency_request_in_progress',
  message: 'A request with this Idempotency-Key is still running.',
  param: 'Idempotency-Key',
};

describe('InFlightRequests', () => {
  /** Resolves the waits of all requests: their time is over. */
  let endWaits: () => void;
  const paused: number[] = [];
  const opened = (): InFlightRequests => {
    const { promise: over, resolve } = Promise.withResolvers<void>();
    endWaits = resolve;
    const pause = async (ms: number) => {
      paused.push(ms);
      await over;
    };
    return new InFlightRequests({ ...systemStopwatch, pause }, 'Idempotency-Key');
  };
  beforeEach(() => paused.splice(0));

  it('runs requests with the same key one after the other, in the order of their arrival', async () => {
    const requests = opened();
    const first = Promise.withResolvers<string>();
    const told: string[] = [];
    const work = (name: string) => async () => {
      told.push(name);
      return name;
    };
    const all = [requests.run('id', () => first.promise), ...['b', 'c'].map((name) => requests.run('id', work(name)))];
    expect(await requests.run('other', work('x'))).to.equal('x');
    expect([told, paused]).to.deep.equal([['x'], [10_000, 10_000]]);
    first.resolve('a');
    expect(await Promise.all(all)).to.deep.equal(['a', 'b', 'c']);
    expect(told).to.deep.equal(['x', 'b', 'c']);
  });
  it('does nothing for requests that waited too long, and runs the next one', async () => {
    const requests = opened();
    const first = Promise.withResolvers<string>();
    let ran = 0;
    const count = async () => {
      ran += 1;
      return 'counted';
    };
    const running = requests.run('id', () => first.promise);
    const waiting = Array.from({ length: 1_000 }, () => requests.run('id', count));
    endWaits();
    expect(new Set((await Promise.all(waiting)).map((late) => JSON.stringify(late)))).to.deep.equal(
      new Set([JSON.stringify(LATE)]),
    );
    first.resolve('done');
    expect(await running).to.equal('done');
    await setImmediate();
    expect(ran).to.equal(0);
    expect([await requests.run('id', count), ran]).to.deep.equal(['counted', 1]);
  });
  it('returns the outcome of a request that began in time, however long it runs', async () => {
    const requests = opened();
    const [first, second] = [Promise.withResolvers<string>(), Promise.withResolvers<string>()];
    const running = requests.run('id', () => first.promise);
    const begun = requests.run('id', () => second.promise);
    first.resolve('one');
    expect(await running).to.equal('one');
    endWaits();
    await setImmediate();
    second.resolve('two');
    expect(await begun).to.equal('two');
  });
  it('runs the next request after a failure, which only its own caller receives', async () => {
    const requests = opened();
    const failing = requests.run('id', () => Promise.reject(new Error('mine')));
    const next = requests.run('id', async () => 'fine');
    const error = await failing.catch((reason: Error) => reason.message);
    expect([error, await next]).to.deep.equal(['mine', 'fine']);
  });
});
