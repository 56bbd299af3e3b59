// Exports and `audit verify` detect every tampering with the database and report its place.
import { expect } from 'chai';
import { verifyLog } from '../../../application/audit/verifyLog.ts';
import { expectDatabaseTamperingsFound } from '../../support/audit/databaseTrial.ts';
import { SealedLog } from '../../support/audit/sealedLog.ts';
import { logKeyOf } from '../../support/audit/syntheticExport.ts';
import { byFunction } from '../../support/audit/verifiers.ts';
import { createPostgresEventLog, type PostgresEventLog } from '../../support/postgresEventLog.ts';

describe('a tampered database', () => {
  it('is detected by the verifier of exports and by `audit verify`', async () => {
    await expectDatabaseTamperingsFound([byFunction], 14);
  });

  describe('whose tiles were changed', () => {
    const KEY = logKeyOf('the log');
    let database: PostgresEventLog;
    let log: SealedLog;
    beforeEach(async () => {
      database = await createPostgresEventLog();
      log = new SealedLog(database.connectionString, await database.connect(), [KEY]);
      await log.append(150, 4, false);
      await log.seal(600);
    });
    afterEach(async () => {
      await log.close();
      await database.dispose();
    });

    for (const [what, change] of [
      ['a root', "UPDATE audit.tiles SET root = decode(repeat('00', 32), 'hex') WHERE index = 1"],
      ['a missing tile', 'DELETE FROM audit.tiles WHERE index = 1'],
    ] as const)
      it(`is detected by \`audit verify\`, which reports ${what}`, async () => {
        await log.query(change);
        const { faults } = await verifyLog(log.needs)({
          signal: new AbortController().signal,
          onEntries: () => undefined,
        });
        expect(faults).to.deep.equal([{ from: 256, to: 511, what: 'tile 1 of level 0 differs from the leaves' }]);
      });
  });
});
