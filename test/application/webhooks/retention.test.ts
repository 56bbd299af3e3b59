// When deliveries are deleted, and how many at a time (ADR 0008).
import { expect } from 'chai';
import { DeliveryRetention } from '../../../application/webhooks/retention.ts';
import { DAY_MS, MINUTE_MS } from '../../../domain/kernel/time.ts';

const NOON = Date.UTC(2026, 10, 21, 12);

describe('the pace of the retention', () => {
  let nowMs: number;
  let isClockRight: boolean;
  /** What the next calls delete; null: they may not. */
  let answers: (number | null)[];
  let calls: (readonly [string, number])[];
  /** How long a batch takes, and how long each rest was. */
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

  it('deletes what was recorded before the day that is so many days ago, in UTC', async () => {
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

  it('deletes for half of the time of a run while there is more, and the next run goes on', async () => {
    answers = Array.from({ length: 24 }, () => 256);
    await retention.run();
    expect(calls.length).to.equal(23); // 20 ms each, and 20 ms of rest, in 900 ms
    expect(rests).to.deep.equal(Array.from({ length: 22 }, () => 20));
    await retention.run();
    expect(calls.length).to.equal(25);
  });

  it('rests longer if the database is slow, and deletes one batch in each run at least', async () => {
    answers = Array.from({ length: 4 }, () => 256);
    batchMs = 200;
    await retention.run();
    expect([calls.length, rests]).to.deep.equal([3, [200, 200]]);
    batchMs = 5_000;
    await retention.run();
    expect([calls.length, rests]).to.deep.equal([4, [200, 200]]);
  });

  it('when nothing is left it looks again a minute later', async () => {
    answers = [3];
    await retention.run();
    nowMs += MINUTE_MS - 1;
    await retention.run();
    expect(calls.length).to.equal(1);
    nowMs += 1;
    await retention.run();
    expect(calls.length).to.equal(2);
  });

  it('while it must not delete it looks again with the next turn', async () => {
    answers = [null, 256, null];
    await retention.run();
    expect(calls.length).to.equal(1);
    await retention.run();
    expect(calls.length).to.equal(3);
    await retention.run();
    expect(calls.length).to.equal(4);
  });

  it('does nothing while the clock is off: what is to be kept would be gone', async () => {
    isClockRight = false;
    nowMs += 365 * DAY_MS;
    await retention.run();
    expect(calls).to.deep.equal([]);
    [isClockRight, nowMs] = [true, NOON];
    await retention.run();
    expect(calls.length).to.equal(1);
  });
});
