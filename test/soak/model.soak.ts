// Ten thousand random operations of twenty merchants, compared with an independent model (`npm run soak:model`). OPERATIONS and SEED
// change the run.

import { expectVerified, playHistories } from '../model/histories.ts';
import { TestGateway } from '../world/gateway.ts';

const OPERATIONS = Number(process.env['OPERATIONS'] ?? 10_000);
const SEED = Number(process.env['SEED'] ?? Date.now() % 1_000_000_000);
const MERCHANTS = 20;

describe(`${OPERATIONS} random operations against an independent model`, function suite() {
  this.timeout(3_600_000);

  it(`agree with it at every check, and verify finds no differences (SEED=${SEED})`, async () => {
    const gateway = await TestGateway.open();
    const operationsEach = Math.ceil(OPERATIONS / MERCHANTS);
    const played = await playHistories(gateway, { merchants: MERCHANTS, operationsEach, seed: SEED, checkEvery: 25 });
    await expectVerified(gateway);
    console.log(`played: ${[...played].map(([kind, count]) => `${count} ${kind}`).join(', ')}`);
    await gateway.close();
  });
});
