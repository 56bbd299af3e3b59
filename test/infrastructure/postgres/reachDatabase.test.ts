// The error of a start with an unusable database. For the other reasons see test/isolation/unreachable.test.ts.
import { expect } from 'chai';
import { DatabaseUnreachable, reachDatabase } from '../../../infrastructure/postgres/database.ts';
import { emptyDatabase, type TestDatabase } from '../../world/postgres.ts';
import { startPostgresProxy } from '../../world/tcpProxy.ts';

describe('reachDatabase', () => {
  let database: TestDatabase;
  before(async () => {
    database = await emptyDatabase();
  });
  after(() => database.drop());

  /** Connects through a proxy that changes the server's major version to `major`. */
  const reach = async (major: string): Promise<unknown> => {
    const proxy = await startPostgresProxy(
      database.connectionString,
      (pass) => (bytes) => pass(Buffer.from(bytes.toString('latin1').replaceAll(/\b18(?=\.\d)/g, major), 'latin1')),
    );
    try {
      return await reachDatabase(proxy.connectionString).catch((error: unknown) => error);
    } finally {
      await proxy.close();
    }
  };

  it('requires PostgreSQL 14 or newer', async () => {
    expect(await reach('14')).to.equal(undefined);
    const error = await reach('13');
    expect(error).to.be.instanceOf(DatabaseUnreachable);
    expect((error as Error).message).to.match(
      /^DATABASE_URL: the server at \S+ is PostgreSQL 13\.\d+, and Quita needs PostgreSQL 14 or newer$/,
    );
  });
});
