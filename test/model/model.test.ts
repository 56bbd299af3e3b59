import { expect } from 'chai';
import { TestGateway } from '../world/gateway.ts';
import { expectVerified, playHistories } from './histories.ts';

const SEED = Number(process.env['SEED'] ?? Date.now() % 1_000_000_000);

describe('random operations against an independent model', function suite() {
  let gateway: TestGateway;
  before(async () => {
    gateway = await TestGateway.open();
  });
  after(() => gateway.close());

  it(`match the model’s statuses, wallets and refunds at every check, and verify finds no difference (SEED=${SEED})`, async () => {
    const played = await playHistories(gateway, { merchants: 4, operationsEach: 60, seed: SEED, checkEvery: 20 });
    expect([...played.keys()].sort()).to.deep.equal([
      'acquirer',
      'cancel',
      'clock',
      'create',
      'endRefund',
      'pay',
      'refund',
    ]);
    expect(gateway.faults).to.deep.equal([]);
    await expectVerified(gateway);
  });
});
