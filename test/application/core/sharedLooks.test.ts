// Callers that wait for the same thing share their looks.
import { expect } from 'chai';
import { SharedLooks } from '../../../application/core/sharedLooks.ts';

interface Look {
  readonly end: (found: number) => void;
  readonly fail: (error: Error) => void;
  readonly ms: number;
}

/** Looks that the test ends, one after another. Pauses end at once, and each counts as its full time unless a move ends it. */
const scene = () => {
  let elapsedMs = 0;
  const pauses: number[] = [];
  const begun: Look[] = [];
  const awaited: (() => void)[] = [];
  const stopwatch = {
    elapsedMs: () => elapsedMs,
    pause: async (ms: number, signal?: AbortSignal) => {
      if (signal?.aborted) return;
      pauses.push(ms);
      elapsedMs += ms;
    },
  };
  const listeners = new Set<() => void>();
  const onMove = (listener: () => void) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  };
  const looks = new SharedLooks<number>({ stopwatch, onMove }, (found) => found === 0);
  const look = (ms: number): Promise<number> =>
    new Promise((end, fail) => {
      begun.push({ end, fail, ms });
      for (const resolve of awaited.splice(0)) resolve();
    });
  return {
    ...{ begun, pauses, listeners },
    until: (key: string, timeoutMs = 5_000) => looks.until(key, timeoutMs, look),
    /** Returns the look of this number, as soon as it has begun. */
    nth: async (count: number) => {
      while (begun.length < count) await new Promise<void>((resolve) => awaited.push(resolve));
      return begun[count - 1] as Look;
    },
  };
};

describe('SharedLooks', () => {
  it('answers all callers of a key by one look', async () => {
    const { until, nth, begun, listeners } = scene();
    const first = until('a');
    const others = [until('a'), until('a')];
    (await nth(1)).end(0);
    expect(await first).to.equal(0);
    (await nth(2)).end(0);
    expect(await Promise.all(others)).to.deep.equal([0, 0]);
    expect(begun).to.have.lengthOf(2);
    expect(listeners.size).to.equal(0);
  });

  it('answers no caller by a look that began before the call', async () => {
    const { until, nth } = scene();
    const answered: string[] = [];
    const first = until('a').then(() => answered.push('first'));
    const begun = await nth(1);
    const second = until('a').then(() => answered.push('second'));
    begun.end(0);
    await first;
    const next = await nth(2);
    expect(answered).to.deep.equal(['first']);
    next.end(0);
    await second;
  });

  it('looks at other keys meanwhile', async () => {
    const { until, nth } = scene();
    const [a, b] = [until('a'), until('b')];
    (await nth(2)).end(0);
    expect(await b).to.equal(0);
    (await nth(1)).end(0);
    expect(await a).to.equal(0);
  });

  it('looks ever more rarely although others move, and at least every 250 ms', async () => {
    const { until, nth, pauses, listeners } = scene();
    const found = until('a');
    for (let n = 1; n <= 8; n++) {
      const { end } = await nth(n);
      for (const move of listeners) move();
      end(n === 8 ? 0 : 1);
    }
    expect(await found).to.equal(0);
    expect(pauses).to.deep.equal([10, 20, 40, 80, 160, 250, 250]);
  });

  it('returns the first result after the timeout of each caller, and lets a look wait as long as any caller does', async () => {
    const { until, nth } = scene();
    const [short, long] = [until('a', 200), until('a', 600)];
    const waits: number[] = [];
    for (const found of [3, 2, 1, 1]) {
      const { end, ms } = await nth(waits.length + 1);
      waits.push(ms);
      end(found);
    }
    expect(await short).to.equal(2);
    expect(await long).to.equal(1);
    expect(waits).to.deep.equal([250, 350, 250, 250]);
  });

  it('reports a failed look to the callers that it was for', async () => {
    const { until, nth } = scene();
    const first = until('a').catch((error: Error) => error.message);
    const { fail } = await nth(1);
    const second = until('a');
    fail(new Error('unavailable'));
    expect(await first).to.equal('unavailable');
    (await nth(2)).end(0);
    expect(await second).to.equal(0);
  });
});
