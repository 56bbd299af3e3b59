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
  let retention: DeliveryRetention;
  beforeEach(() => {
    [nowMs, isClockRight, answers, calls] = [NOON, true, [], []];
    retention = new DeliveryRetention({
      expired: {
        deleteSome: async (recordedBefore, limit) => {
          calls.push([recordedBefore, limit]);
          return answers.length > 0 ? (answers.shift() as number | null) : 0;
        },
        deleted: async () => 7,
      },
      clock: { now: () => nowMs },
      retentionDays: 90,
      mayWork: () => isClockRight,
    });
  });

  it('deletes what was recorded before the day that is so many days ago, in UTC', async () => {
    await retention.run();
    expect(calls).to.deep.equal([['2026-08-23', 64]]);
    nowMs = Date.UTC(2026, 10, 22) - 1;
    await retention.run();
    nowMs = Date.UTC(2026, 10, 22);
    await retention.run();
    expect(calls.map(([day]) => day)).to.deep.equal(['2026-08-23', '2026-08-23']);
    nowMs += MINUTE_MS;
    await retention.run();
    expect(calls.at(-1)).to.deep.equal(['2026-08-24', 64]);
    expect(await retention.deleted()).to.equal(7);
  });

  it('four batches a turn while there is more, and the next turn goes on', async () => {
    answers = [64, 64, 64, 64, 64, 3];
    await retention.run();
    expect(calls.length).to.equal(4);
    await retention.run();
    expect(calls.length).to.equal(6);
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
    answers = [null, 64, null];
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
