// `account create` on a migrated database, before a program has made the read models (rule O1).
import { expect } from 'chai';
import { runWords } from '../../support/cli.ts';
import { migratedDatabase } from '../../world/postgres.ts';

describe('the first account', () => {
  it('can be created before the program has ever run', async () => {
    const database = await migratedDatabase();
    const words = ['account', 'create', '--name', 'Loja', '--email', 'ana@example.com', '--json'];
    const { code, err } = await runWords(database.connectionString, ...words);
    await database.drop();
    expect(code, err).to.equal(0);
  });
});
