// Read models as of a moment equal what was live at that moment, in 100 random trials (`npm run soak -- asOf`; set TRIALS and SEED to
// change the run).
import { expect } from 'chai';
import { expectAsSeen, playAndLook } from '../support/asOfTrials.ts';
import { onBothStores } from '../world/bothStores.ts';
import { openReady } from '../world/http.ts';
import { Receiver } from '../world/receiver.ts';

/** Half of them run on each store. */
const TRIALS = Number(process.env['TRIALS'] ?? 100);
const SEED = Number(process.env['SEED'] ?? Date.now() % 1_000_000_000);

onBothStores('read models as of then', (log) => {
  it(`equal the live ones of that moment, in ${TRIALS / 2} random trials (SEED=${SEED})`, async () => {
    const receiver = await Receiver.open();
    const gateway = await openReady(log());
    const seen = await playAndLook(gateway, receiver, { trials: TRIALS / 2, seed: SEED });
    const byTime = await expectAsSeen(gateway, seen);
    const rows = Object.values(seen.at(-1)?.rows ?? {}).reduce((sum, { length }) => sum + length, 0);
    console.log(`      ${seen.length} trials, ${byTime} of them by time, the last with ${rows} rows`);
    expect(byTime).to.be.at.least(TRIALS / 10);
    expect(gateway.faults).to.deep.equal([]);
    await gateway.close();
    await receiver.close();
  });
});
