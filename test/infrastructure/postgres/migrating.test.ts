// A database is migrated while another version of the program uses it (docs/upgrading.md).
import { expect } from 'chai';
import pg from 'pg';
import { MIGRATIONS, MigrationHeldUp, migrate } from '../../../infrastructure/postgres/migrate.ts';
import { emptyDatabase, type TestDatabase } from '../../world/postgres.ts';
import { type Backends, watchBackends } from './backends.ts';

describe('a migration of a table that another session reads', () => {
  let database: TestDatabase;
  let backends: Backends;
  let clients: pg.Client[];
  beforeEach(async () => {
    database = await emptyDatabase();
    clients = [];
    // The next migration adds columns to subscriptions.checkpoints.
    await migrate(database.connectionString, MIGRATIONS.slice(0, MIGRATIONS.indexOf('0034_partitions')));
    backends = await watchBackends(database.connectionString);
  });
  afterEach(async () => {
    for (const client of clients) await client.end();
    await backends.close();
    await database.drop();
  });

  const connect = async (): Promise<pg.Client> => {
    const client = new pg.Client({ connectionString: database.connectionString, statement_timeout: 10_000 });
    clients.push(client);
    await client.connect();
    return client;
  };

  const done = async (client: pg.Client): Promise<readonly string[]> =>
    (await client.query('SELECT name FROM schema_migrations ORDER BY name')).rows.map(({ name }) => name);

  it('lets the running version read and write meanwhile, and ends after that session', async () => {
    const [backup, running] = [await connect(), await connect()];
    await running.query(
      "INSERT INTO subscriptions.checkpoints (name, version, store_id) VALUES ('of a test', 1, 'store')",
    );
    await backup.query('BEGIN; SELECT FROM subscriptions.checkpoints');
    const migrated = migrate(database.connectionString);
    await backends.until(async () => {
      const text = `SELECT FROM pg_locks WHERE relation = 'subscriptions.checkpoints'::regclass AND NOT granted`;
      return (await running.query(text)).rowCount === 1;
    });
    expect((await running.query('SELECT name FROM subscriptions.checkpoints')).rows).to.deep.equal([
      { name: 'of a test' },
    ]);
    expect((await running.query('UPDATE subscriptions.checkpoints SET moved_at = now()')).rowCount).to.equal(1);
    expect((await done(running)).length).to.be.below(MIGRATIONS.length);
    await backup.query('COMMIT');
    await migrated;
    expect(await done(running)).to.deep.equal(MIGRATIONS);
  });

  it('fails if its connections are cut, and continues at the next start', async () => {
    const [backup, other] = [await connect(), await connect()];
    await backup.query('BEGIN; SELECT FROM subscriptions.checkpoints');
    const migrated = migrate(database.connectionString).catch((thrown: unknown) => thrown);
    await backends.until(async () => {
      const waits = `SELECT FROM pg_locks WHERE relation = 'subscriptions.checkpoints'::regclass AND NOT granted`;
      return (await other.query(waits)).rowCount === 1;
    });
    expect(await backends.cut('quita migrate')).to.equal(2);
    expect(await migrated).to.be.instanceOf(Error);
    await backup.query('COMMIT');
    await migrate(database.connectionString);
    expect(await done(other)).to.deep.equal(MIGRATIONS);
  });

  it('waits for the migrations of another process until they end or it is stopped', async () => {
    const [other, watching] = [await connect(), await connect()];
    await other.query('SELECT pg_advisory_lock(1903520116, 1)');
    const stop = new AbortController();
    const stopped = migrate(database.connectionString, MIGRATIONS, { signal: stop.signal }).catch(
      (thrown: unknown) => thrown,
    );
    const migrated = migrate(database.connectionString);
    await backends.until(async () => {
      const waiting = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'quita migrate'
        AND query LIKE 'SELECT pg_try_advisory_lock%'`;
      return (await watching.query(waiting)).rowCount === 2;
    });
    stop.abort();
    expect(await stopped).to.include({ name: 'AbortError' });
    expect((await done(watching)).length).to.be.below(MIGRATIONS.length);
    await other.query('SELECT pg_advisory_unlock_all()');
    await migrated;
    expect(await done(watching)).to.deep.equal(MIGRATIONS);
  });

  it('fails with a clear error if that session doesn’t end, and continues at the next start', async () => {
    const backup = await connect();
    await backup.query('BEGIN; SELECT FROM subscriptions.checkpoints');
    const error = await migrate(database.connectionString, MIGRATIONS, { heldUpMsMax: 0 }).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).to.be.instanceOf(MigrationHeldUp);
    await backup.query('COMMIT');
    await migrate(database.connectionString);
    expect(await done(backup)).to.deep.equal(MIGRATIONS);
  });
});
