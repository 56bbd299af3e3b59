import { expect } from 'chai';
import fc from 'fast-check';
import { JITTER, MAX_ATTEMPTS, retryDelayMs } from '../../../domain/webhookDelivery/schedule.ts';

/** The delays of W3, spelled out: seconds after attempts 1 to 14. */
const W3_SECONDS = [5, 30, 120, 300, 900, 1800, 3600, 7200, 14_400, 21_600, 28_800, 43_200, 43_200, 43_200];
const HALF = 0.5; // the middle of the jitter

describe('the schedule of W3', () => {
  it('has 15 attempts', () => expect(MAX_ATTEMPTS).to.equal(15));
  it('waits this long between attempts', () => {
    const delays = W3_SECONDS.map((_, i) => retryDelayMs(i + 1, HALF, null));
    expect(delays).to.deep.equal(W3_SECONDS.map((seconds) => seconds * 1000));
  });
  it('varies by at most 20% in either direction', () => {
    expect(JITTER).to.equal(0.2);
    expect(retryDelayMs(1, 0, null)).to.equal(4_000);
    expect(retryDelayMs(14, 0, null)).to.equal(34_560_000);
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 14 }),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (failed, random) => {
          const planned = (W3_SECONDS[failed - 1] as number) * 1000;
          expect(retryDelayMs(failed, random, null)).to.be.within(planned * 0.8, planned * 1.2);
        },
      ),
    );
  });
  it('waits for a longer Retry-After plus up to 20%, at most 24 hours', () => {
    expect(retryDelayMs(1, 0, 60_000)).to.equal(60_000);
    expect(retryDelayMs(1, HALF, 60_000)).to.equal(66_000);
    expect(retryDelayMs(1, HALF, 86_400_000)).to.equal(86_400_000);
  });
  it('never waits less than the schedule because of a Retry-After, and never more than 24 hours', () => {
    expect(retryDelayMs(3, HALF, 1_000)).to.equal(120_000);
    expect(retryDelayMs(14, HALF, 1_000)).to.equal(43_200_000);
    expect(retryDelayMs(1, HALF, 0)).to.equal(5_000);
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 14 }),
        fc.integer({ min: 0, max: 86_400_000 }),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (failed, after, random) => {
          const planned = retryDelayMs(failed, random, null);
          const delay = retryDelayMs(failed, random, after);
          expect(delay).to.be.within(Math.max(planned, after), Math.max(planned, Math.round(after * 1.2)));
          expect(delay).to.be.at.most(86_400_000);
        },
      ),
    );
  });
  it('throws after the last attempt and for attempt 0', () => {
    expect(() => retryDelayMs(15, HALF, null)).to.throw(RangeError);
    expect(() => retryDelayMs(0, HALF, null)).to.throw(RangeError);
  });
});
