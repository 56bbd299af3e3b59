// 1,000 random manipulations of exports and of the database. Both stand-alone verifiers must find and name each of them. TRIALS changes
// the number.
import { expectDatabaseTamperingsFound } from '../support/audit/databaseTrial.ts';
import { expectTamperingsFound } from '../support/audit/tamperingTrial.ts';
import { byNode, byPython } from '../support/audit/verifiers.ts';

const TRIALS = Number(process.env['TRIALS'] ?? 1_000);

describe(`${TRIALS} manipulations`, () => {
  it('of exports are found by both verifiers', async () => {
    await expectTamperingsFound([byNode, byPython], Math.ceil(TRIALS / 2));
  });
  it('of the database are found by both verifiers and by `audit verify`', async () => {
    await expectDatabaseTamperingsFound([byNode, byPython], Math.floor(TRIALS / 2));
  });
});
