// `doctor` finds payments that lost their data keys (ADR 0017).
import { expect } from 'chai';
import type { PaymentId } from '../../../domain/kernel/ids.ts';
import { runWords } from '../../support/cli.ts';
import { TestGateway } from '../../world/gateway.ts';
import { rawIdOf } from '../../world/http.ts';
import { migratedDatabase, type TestDatabase } from '../../world/postgres.ts';

interface Findings {
  readonly findings: readonly { readonly check: string; readonly isGood: boolean; readonly says: string }[];
}

const dataKeysOf = async (database: TestDatabase) => {
  const { json } = await runWords<Findings>(database.connectionString, 'doctor', '--json');
  const found = json.findings.find(({ check }) => check === 'data keys');
  return [found?.isGood, found?.says];
};

describe('doctor on data keys', () => {
  let database: TestDatabase;
  beforeEach(async () => {
    database = await migratedDatabase();
  });
  afterEach(() => database.drop());

  it('finds nothing in a new database', async () => {
    expect(await dataKeysOf(database)).to.deep.equal([true, 'none: no projector has run on this database yet']);
  });

  it('counts payments that lost their keys, but not erased ones or those without personal data', async () => {
    const gateway = await TestGateway.open({ database });
    const { operations, dataKeys } = gateway.storage;
    const sold = async (customer: object): Promise<PaymentId> =>
      rawIdOf((await gateway.charge<{ id: string }>({ customer })).body.id) as PaymentId;
    try {
      const [lost, erased] = [await sold({ name: 'Maria' }), await sold({ name: 'Ana' })];
      await sold({ name: 'Rita' });
      await sold({});
      await dataKeys.destroy([erased]);
      await gateway.untilProjected();
      expect(await dataKeysOf(database)).to.deep.equal([true, 'none is missing (4 payments sampled)']);
      await operations.query('DELETE FROM privacy.data_keys WHERE owner = $1', [lost]);
      expect(await dataKeysOf(database)).to.deep.equal([
        false,
        '1 of 4 sampled payments have lost their data keys, so their personal data reads as erased: restore the table privacy.data_keys',
      ]);
    } finally {
      await gateway.close();
    }
  });
});
