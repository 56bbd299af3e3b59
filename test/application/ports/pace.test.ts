import { expect } from 'chai';
import fc from 'fast-check';
import { Pace } from '../../../application/ports/pace.ts';

const RHYTHM = { everyMs: 15, burst: 3 };

describe('the rate of turns', () => {
  it('allows a burst at once, and then one turn per interval', () => {
    const pace = new Pace(RHYTHM);
    expect(Array.from({ length: 6 }, () => pace.waitMs(1_000))).to.deep.equal([0, 0, 0, 15, 30, 45]);
  });

  it('regains one turn per interval, up to a full burst', () => {
    const pace = new Pace(RHYTHM);
    for (let n = 0; n < 3; n++) pace.waitMs(0);
    expect([pace.waitMs(15), pace.waitMs(22.5)]).to.deep.equal([0, 7.5]);
    expect(Array.from({ length: 4 }, () => pace.waitMs(10_000))).to.deep.equal([0, 0, 0, 15]);
  });

  it('never delays turns that arrive at the interval', () => {
    const pace = new Pace(RHYTHM);
    for (let nowMs = 0; nowMs < 1_500; nowMs += 15) expect(pace.waitMs(nowMs)).to.equal(0);
  });

  it('never exceeds one turn per interval plus a burst if turns wait as told', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 40 }), { maxLength: 200 }), (gaps) => {
        const pace = new Pace(RHYTHM);
        let nowMs = 0;
        const turns = gaps.map((gap) => {
          nowMs += gap;
          nowMs += pace.waitMs(nowMs);
          return nowMs;
        });
        for (const [n, first] of turns.entries()) {
          const within = turns.slice(n).filter((at) => at < first + 150).length;
          expect(within).to.be.at.most(150 / 15 + RHYTHM.burst);
        }
      }),
    );
  });
});
