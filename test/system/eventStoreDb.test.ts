// The whole program on EventStoreDB (the test server): the same rounds of kill -9 as on Postgres, with the same results.
import { expect } from 'chai';
import { type ServerProcess, startServerProcess } from '../support/eventStoreDb/serverProcess.ts';
import { type KillReport, killRounds } from '../support/killRounds.ts';

describe('the program on EventStoreDB, killed under 40 clients', () => {
  let server: ServerProcess;
  let report: KillReport;
  before(async function run() {
    this.timeout(200_000);
    server = await startServerProcess();
    report = await killRounds(1, 100, { EVENTSTORE_URL: server.connectionString });
  });
  after(() => server.stop());

  it('was killed between charges', () => {
    expect(report.kills).to.equal(1);
    expect(report.charges).to.be.at.least(200);
  });
  it('replays the original answer for every repeated request', () => expect(report.otherReplays).to.deep.equal([]));
  it('keeps every acknowledged charge, paid by its own Pix', () => expect(report.unpaid).to.deep.equal([]));
  it('counts every payment once', () => expect(report.wallet.available).to.equal(report.wallet.expected));
  it('delivers every event at least once', () => expect(report.undelivered).to.deep.equal([]));
  it('has read models equal to the replay', () => expect(report.verify.differences).to.deep.equal([]));
  it('has a ledger that sums to zero', () => expect(report.ledger.sums.map(({ sum }) => sum)).to.deep.equal([0]));
});
