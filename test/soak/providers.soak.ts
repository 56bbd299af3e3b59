// 200 runs in live mode, each with kill -9 between an intent and its record (`npm run soak:providers`). SEED repeats a run.
import { randomInt } from 'node:crypto';
import { assertNothingLost, liveKills } from '../support/liveKills.ts';

const RUNS = Number(process.env['RUNS'] ?? 200);
const SEED = Number(process.env['SEED'] ?? randomInt(2 ** 31));
const RUN_MS = 60_000;

describe(`live mode under kill -9, ${RUNS} runs, SEED=${SEED}`, () => {
  it('loses and duplicates nothing', async () => {
    assertNothingLost(await liveKills(RUNS, SEED));
  }).timeout(RUNS * RUN_MS);
});
