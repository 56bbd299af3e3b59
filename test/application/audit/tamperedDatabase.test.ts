// Whatever somebody changes in the database itself, an export and `audit verify` find it and name the place.
import { expectDatabaseTamperingsFound } from '../../support/audit/databaseTrial.ts';
import { byFunction } from '../../support/audit/verifiers.ts';

describe('a tampered database', () => {
  it('is found by the verifier of exports and by `audit verify`', async () => {
    await expectDatabaseTamperingsFound([byFunction], 14);
  });
});
