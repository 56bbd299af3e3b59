// Read models as of an earlier moment equal what was live then, on both stores, and the live ones keep working.
import { expect } from 'chai';
import { expectAsSeen, look, playAndLook } from '../support/asOfTrials.ts';
import { onBothStores } from '../world/bothStores.ts';
import type { TestGateway } from '../world/gateway.ts';
import { openReady } from '../world/http.ts';
import { Receiver } from '../world/receiver.ts';

const SEED = Number(process.env['SEED'] ?? Date.now() % 1_000_000_000);
const TRIALS = 4;

onBothStores('read models as of then', (log) => {
  let gateway: TestGateway;
  let receiver: Receiver;
  before(async () => {
    receiver = await Receiver.open();
    gateway = await openReady(log());
  });
  after(async () => {
    await gateway.close();
    await receiver.close();
  });

  it(`equal the live rows of that moment (SEED=${SEED})`, async () => {
    const seen = await playAndLook(gateway, receiver, { trials: TRIALS, seed: SEED });
    await expectAsSeen(gateway, seen);
    // A payout may have been paid meanwhile, so the live rows are compared with the current moment, not with earlier rows.
    await expectAsSeen(gateway, [await look(gateway)]);
    expect(gateway.faults).to.deep.equal([]);
  });
});
