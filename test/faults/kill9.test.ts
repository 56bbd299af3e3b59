// Nothing acknowledged is lost and nothing counts twice, whenever kill -9 happens (README "What it promises").
import { expect } from 'chai';
import { type KillReport, killRounds } from '../support/killRounds.ts';

describe('the program after kill -9 of its process group under 40 clients', () => {
  let report: KillReport;
  before(async function run() {
    this.timeout(320_000);
    report = await killRounds(3, 120);
  });

  it('was killed three times between charges', () => {
    expect(report.kills).to.equal(3);
    expect(report.charges).to.be.at.least(480);
  });
  it('replays the original answer for every repeated request', () => expect(report.otherReplays).to.deep.equal([]));
  it('keeps every acknowledged charge, paid by its own Pix', () => expect(report.unpaid).to.deep.equal([]));
  it('counts every payment once', () => expect(report.wallet.available).to.equal(report.wallet.expected));
  it('delivers every event at least once', () => expect(report.undelivered).to.deep.equal([]));
  it('has read models equal to the replay', () => expect(report.verify.differences).to.deep.equal([]));
  it('has a ledger that sums to zero', () => expect(report.ledger.sums.map(({ sum }) => sum)).to.deep.equal([0]));
});
