// Exports and `audit verify` detect every tampering with the database and report its place.
import { expectDatabaseTamperingsFound } from '../../support/audit/databaseTrial.ts';
import { byFunction } from '../../support/audit/verifiers.ts';

describe('a tampered database', () => {
  it('is detected by the verifier of exports and by `audit verify`', async () => {
    await expectDatabaseTamperingsFound([byFunction], 14);
  });
});
