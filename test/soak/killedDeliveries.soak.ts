// kill -9 at random points of 10,000 deliveries. DELIVERIES and KILLS change the run. The short form is
// test/faults/killedDeliveries.test.ts. Deliveries are repeated if a kill hits them after sending and before the log has them: up to 16
// concurrent attempts, and outcomes waiting for their append. On a busy machine that was 10 to 14 per kill, whatever the number of
// deliveries (41 of 10,000 with three kills), so the 1 % refers to 10,000.
import { expect } from 'chai';
import { killDeliveries } from '../support/killedDeliveries.ts';

const DELIVERIES = Number(process.env['DELIVERIES'] ?? 10_000);
const KILLS = Number(process.env['KILLS'] ?? 3);
const PER_CHARGE = 5;

describe(`kill -9 at ${KILLS} random points of ${DELIVERIES} deliveries`, () => {
  it('ends every delivery as DELIVERED, with less than 1 % sent again and none changed', async function run() {
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
