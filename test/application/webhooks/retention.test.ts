// When expired deliveries are deleted, and how many at a time (ADR 0008).
import { expect } from 'chai';
import { DeliveryRetention } from '../../../application/webhooks/retention.ts';
import type { DeliveryId } from '../../../domain/kernel/ids.ts';
import { DAY_MS, MINUTE_MS } from '../../../domain/kernel/time.ts';

const NOON = Date.UTC(2026, 10, 21, 12);

describe('the retention of deliveries', () => {
  let nowMs: number;
  let isClockRight: boolean;
  /** The number of deliveries that each call deletes, the deliveries that it keeps, or null if it may not delete. */
  let answers: (number | readonly DeliveryId[] | null)[];
  let calls: (readonly [string, number])[];
  /** The deliveries that each call leaves out. */
  let exceptions: (readonly DeliveryId[])[];
  /** The duration of a batch, and the duration of each pause. */
  let batchMs: number;
  let rests: number[];
  let retention: DeliveryRetention;
  beforeEach(() => {
    [nowMs, isClockRight, answers, calls, exceptions] = [NOON, true, [], [], []];
    [batchMs, rests] = [20, []];
    let elapsedMs = 0;
    retention = new DeliveryRetention({
      expired: {
        deleteSome: async (recordedBefore, limit, except) => {
          calls.push([recordedBefore, limit]);
          exceptions.push([...except]);
          elapsedMs += batchMs;
          const answer = answers.shift();
          if (answer === null) return null;
          return typeof answer === 'object'
            ? { deleted: limit - answer.length, kept: answer }
            : { deleted: answer ?? 0, kept: [] };
        },
        deleted: async () => 7,
      },
      clock: { now: () => nowMs },
      stopwatch: {
        elapsedMs: () => elapsedMs,
        pause: async (ms) => {
          rests.push(ms);
          elapsedMs += ms;
        },
      },
      retentionDays: 90,
      mayWork: () => isClockRight,
    });
  });

  it('deletes deliveries recorded before the UTC day that is `retentionDays` ago', async () => {
    await retention.run();
    expect(calls).to.deep.equal([['2026-08-23', 256]]);
    nowMs = Date.UTC(2026, 10, 22) - 1;
    await retention.run();
    nowMs = Date.UTC(2026, 10, 22);
    await retention.run();
    expect(calls.map(([day]) => day)).to.deep.equal(['2026-08-23', '2026-08-23']);
    nowMs += MINUTE_MS;
    await retention.run();
    expect(calls.at(-1)).to.deep.equal(['2026-08-24', 256]);
    expect(await retention.deleted()).to.equal(7);
  });

  it('deletes for half of a run’s time while there are more, and continues in the next run', async () => {
    answers = Array.from({ length: 24 }, () => 256);
    await retention.run();
    expect(calls.length).to.equal(23); // In 900 ms, each batch takes 20 ms and is followed by a pause of 20 ms.
    expect(rests).to.deep.equal(Array.from({ length: 22 }, () => 20));
    await retention.run();
    expect(calls.length).to.equal(25);
  });

  it('pauses longer if the database is slow, but deletes at least one batch per run', async () => {
    answers = Array.from({ length: 4 }, () => 256);
    batchMs = 200;
    await retention.run();
    expect([calls.length, rests]).to.deep.equal([3, [200, 200]]);
    batchMs = 5_000;
    await retention.run();
    expect([calls.length, rests]).to.deep.equal([4, [200, 200]]);
  });

  it('looks again after a minute if nothing is left', async () => {
    answers = [3];
    await retention.run();
    nowMs += MINUTE_MS - 1;
    await retention.run();
    expect(calls.length).to.equal(1);
    nowMs += 1;
    await retention.run();
    expect(calls.length).to.equal(2);
  });

  it('deletes the others while some can’t be deleted, and tries those again after the pause', async () => {
    const [all, one] = [Array.from({ length: 256 }, (_, n) => `${n}` as DeliveryId), 'x' as DeliveryId];
    answers = [all, [one], null];
    await retention.run();
    await retention.run();
    nowMs += MINUTE_MS;
    await retention.run();
    expect(exceptions).to.deep.equal([[], all, [...all, one], [...all, one], []]);
  });

  it('tries again in the next run if it may not delete', async () => {
    answers = [null, 256, null];
    await retention.run();
    expect(calls.length).to.equal(1);
    await retention.run();
    expect(calls.length).to.equal(3);
    await retention.run();
    expect(calls.length).to.equal(4);
  });

  it('does nothing while the clock is wrong, so that no delivery is deleted too early', async () => {
    isClockRight = false;
    nowMs += 365 * DAY_MS;
    await retention.run();
    expect(calls).to.deep.equal([]);
    [isClockRight, nowMs] = [true, NOON];
    await retention.run();
    expect(calls.length).to.equal(1);
  });
});
