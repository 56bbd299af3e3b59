// Every webhook arrives and is recorded, whenever kill -9 happens (rules W2, W3). For 10,000 deliveries see
// test/soak/killedDeliveries.soak.ts.
import { expect } from 'chai';
import { type DeliveriesReport, killDeliveries } from '../support/killedDeliveries.ts';

const CHARGES = 200;
const DELIVERIES = 5 * CHARGES;
/** The same maximum as for 10,000 deliveries, because as many are in progress when the process is killed. */
const DUPLICATES_MAX = 100;

describe('webhook deliveries after kill -9 at a random point', () => {
  let report: DeliveriesReport;
  before(async () => {
    report = await killDeliveries(CHARGES, 1);
  });
  const killed = () => `killed after ${report.killedAt} deliveries`;

  it('reach their endpoint at least once for each event', () => expect(report.missing, killed()).to.deep.equal([]));
  it('have one delivery id and one event id each', () =>
    expect([report.deliveries, report.doubled], killed()).to.deep.equal([DELIVERIES, 0]));
  it('are rarely repeated, and only with the same ids and body', () => {
    expect(report.duplicates, killed()).to.be.below(DUPLICATES_MAX);
    expect(report.changed, killed()).to.deep.equal([]);
  });
  it('all end as DELIVERED', () => expect(report.statuses, killed()).to.deep.equal({ DELIVERED: DELIVERIES }));
  it('have read models equal to the replay', () => expect(report.differences, killed()).to.deep.equal([]));
});
