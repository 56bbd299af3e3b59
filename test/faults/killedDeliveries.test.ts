// Every webhook arrives and is recorded, wherever kill -9 falls (rules W2, W3). For 10,000 deliveries: test/soak/killedDeliveries.soak.ts.
import { expect } from 'chai';
import { type DeliveriesReport, killDeliveries } from '../support/killedDeliveries.ts';

const CHARGES = 200;
const DELIVERIES = 5 * CHARGES;
/** As many as may come again of the 10,000: what is under way when it is killed is no less among fewer. */
const DUPLICATES_MAX = 100;

describe('kill -9 at a random point of webhook deliveries', () => {
  let report: DeliveriesReport;
  before(async () => {
    report = await killDeliveries(CHARGES, 1);
  });
  const killed = () => `killed after ${report.killedAt} deliveries`;

  it('each event arrives at least once', () => expect(report.missing, killed()).to.deep.equal([]));
  it('under one delivery id and one event id', () =>
    expect([report.deliveries, report.doubled], killed()).to.deep.equal([DELIVERIES, 0]));
  it('few come again, with the same ids and the same body', () => {
    expect(report.duplicates, killed()).to.be.below(DUPLICATES_MAX);
    expect(report.changed, killed()).to.deep.equal([]);
  });
  it('each ends DELIVERED', () => expect(report.statuses, killed()).to.deep.equal({ DELIVERED: DELIVERIES }));
  it('the read models are equal to the replay', () => expect(report.differences, killed()).to.deep.equal([]));
});
