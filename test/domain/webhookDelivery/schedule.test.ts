import { expect } from 'chai';
import fc from 'fast-check';
import { JITTER, MAX_ATTEMPTS, retryDelayMs } from '../../../domain/webhookDelivery/schedule.ts';

/** W3, written out in seconds: the delay after attempt 1, 2, … 14. */
const W3_SECONDS = [5, 30, 120, 300, 900, 1800, 3600, 7200, 14_400, 21_600, 28_800, 43_200, 43_200, 43_200];
const HALF = 0.5; // in the middle of the jitter

describe('the schedule of W3', () => {
  it('has 15 attempts', () => expect(MAX_ATTEMPTS).to.equal(15));
  it('waits these times between them', () => {
    const delays = W3_SECONDS.map((_, i) => retryDelayMs(i + 1, HALF, null));
    expect(delays).to.deep.equal(W3_SECONDS.map((seconds) => seconds * 1000));
  });
  it('strays by 20 % at most, in both directions', () => {
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
  it('is prolonged by a Retry-After: up to 20 % is added to that, nothing taken off', () => {
    expect(retryDelayMs(1, 0, 60_000)).to.equal(60_000);
    expect(retryDelayMs(1, HALF, 60_000)).to.equal(66_000);
    expect(retryDelayMs(1, HALF, 86_400_000)).to.equal(86_400_000);
  });
  it('is never shortened by one: the later of both, at most 24 h', () => {
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
  it('has nothing after the last attempt', () => {
    expect(() => retryDelayMs(15, HALF, null)).to.throw(RangeError);
    expect(() => retryDelayMs(0, HALF, null)).to.throw(RangeError);
  });
});
