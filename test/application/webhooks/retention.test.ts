// When expired deliveries are deleted, and how many at a time (ADR 0008).
import { expect } from 'chai';
import { DeliveryRetention } from '../../../application/webhooks/retention.ts';
import { DAY_MS, MINUTE_MS } from '../../../domain/kernel/time.ts';

const NOON = Date.UTC(2026, 10, 21, 12);

describe('the retention of deliveries', () => {
  let nowMs: number;
  let isClockRight: boolean;
  /** The number of deliveries that each call deletes, or null if it may not delete. */
  let answers: (number | null)[];
  let calls: (readonly [string, number])[];
  /** The duration of a batch, and the duration of each pause. */
  let batchMs: number;
  let rests: number[];
  let retention: DeliveryRetention;
  beforeEach(() => {
    [nowMs, isClockRight, answers, calls] = [NOON, true, [], []];
    [batchMs, rests] = [20, []];
    let elapsedMs = 0;
    retention = new DeliveryRetention({
      expired: {
        deleteSome: async (recordedBefore, limit) => {
          calls.push([recordedBefore, limit]);
          elapsedMs += batchMs;
          return answers.length > 0 ? (answers.shift() as number | null) : 0;
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
