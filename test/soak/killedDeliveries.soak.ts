// kill -9 at random points of 10,000 deliveries. DELIVERIES and KILLS change it; its short form is test/faults/killedDeliveries.test.ts.
// What comes again is what a kill finds sent and not yet in the log: 16 attempts at once, and the outcomes that wait for their append. On a
// busy machine that was 10 to 14 a kill, however many deliveries there are (41 of 10,000 at three): the 1 % is of 10,000.
import { expect } from 'chai';
import { killDeliveries } from '../support/killedDeliveries.ts';

const DELIVERIES = Number(process.env['DELIVERIES'] ?? 10_000);
const KILLS = Number(process.env['KILLS'] ?? 3);
const PER_CHARGE = 5;

describe(`kill -9 at ${KILLS} random points of ${DELIVERIES} deliveries`, () => {
  it('each comes at least once and ends DELIVERED; less than 1 % come again, and the same', async function run() {
    this.timeout(0);
    const { killedAt, duplicates, ...report } = await killDeliveries(DELIVERIES / PER_CHARGE, KILLS);
    console.log(`killed after ${killedAt.join(', ')} deliveries; ${duplicates} came again`);
    expect(report).to.deep.equal({
      deliveries: DELIVERIES,
      missing: [],
      doubled: 0,
      changed: [],
      statuses: { DELIVERED: DELIVERIES },
      differences: [],
    });
    expect(duplicates).to.be.below(DELIVERIES / 100);
  });
});
