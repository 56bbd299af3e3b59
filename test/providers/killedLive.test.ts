// A short version of `npm run soak:providers`: kill -9 while the institution handles a call.
import { randomInt } from 'node:crypto';
import { assertNothingLost, liveKills } from '../support/liveKills.ts';

const RUNS = 3;
const SEED = Number(process.env['SEED'] ?? randomInt(2 ** 31));

describe(`live mode under kill -9, SEED=${SEED}`, () => {
  it('loses and doubles nothing', async () => {
    assertNothingLost(await liveKills(RUNS, SEED));
  }).timeout(240_000);
});
