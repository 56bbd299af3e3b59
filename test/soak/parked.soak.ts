// A hundred poisoned payments among ten thousand (`mocha --no-config --exit test/soak/parked.soak.ts`). PAYMENTS and POISONED change the
// numbers.
import { expect } from 'chai';
import { TestGateway } from '../world/gateway.ts';
import { playPoisoned } from '../world/poison.ts';

const PAYMENTS = Number(process.env['PAYMENTS'] ?? 10_000);
const POISONED = Number(process.env['POISONED'] ?? 100);

describe(`${POISONED} poisoned payments among ${PAYMENTS}`, function suite() {
  this.timeout(3_600_000);

  it('are exactly the parked ones, and the webhooks, wallets and refunds of other merchants are unaffected', async () => {
    const gateway = await TestGateway.open();
    const started = performance.now();
    const size = { payments: PAYMENTS, poisoned: POISONED, atOnce: 16, patienceMs: 120_000 };
    await playPoisoned(gateway, gateway.tenant, size);
    const seconds = (performance.now() - started) / 1_000;
    console.log(`${PAYMENTS} payments in ${seconds.toFixed(0)} s`);
    expect(gateway.faults).to.deep.equal([]);
    await gateway.close();
  });
});
