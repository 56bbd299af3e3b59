// Starting on an existing data directory (rules S2, S4, S6).
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import pg from 'pg';
import type { DemoAccount } from '../../../infrastructure/demo/demoAccount.ts';
import { startEmbeddedPostgres } from '../../../infrastructure/embeddedPostgres/embeddedPostgres.ts';
import { freePort, newDataDir, Program, removeDataDir } from '../../world/program.ts';

describe('npm start on an existing data directory', function suite() {
  let dataDir: string;
  let port: number;
  let demo: DemoAccount;
  let program: Program;
  const start = (env: Record<string, string> = {}): Program => {
    program = new Program({ dataDir, port, env });
    return program;
  };
  const wallets = async (apikey: string) => {
    const answer = await fetch(`http://127.0.0.1:${port}/v1/wallets`, { headers: { apikey } });
    return { status: answer.status, body: await answer.json() };
  };
  const EMPTY = [{ currency: 'BRL', walletType: 'OPERATIONAL', balance: 0, pendingBalance: 0 }];

  before(async () => {
    dataDir = await newDataDir();
    port = await freePort();
    demo = await (await start().ready()).demo();
    await program.stop();
  });
  afterEach(() => program.kill9());
  after(() => removeDataDir(dataDir));

  it('keeps demo.json and the account', async () => {
    await start().ready();
    expect(await program.demo()).to.deep.equal(demo);
    expect(await wallets(demo.testApiKey)).to.deep.equal({ status: 200, body: EMPTY });
    expect(await program.stop()).to.deep.equal({ code: 0, signal: null });
  });

  it('completes the account if only demo.json was written', async () => {
    const draft = { ...demo, testApiKey: `ak_test_${'t'.repeat(32)}`, liveApiKey: `ak_live_${'l'.repeat(32)}` };
    await writeFile(join(dataDir, 'demo.json'), JSON.stringify(draft), { mode: 0o600 });
    await start().ready();
    expect(await wallets(draft.testApiKey)).to.deep.equal({ status: 200, body: EMPTY });
    await program.stop();
  });

  it('reports a damaged demo.json in one line and exits with code 2', async () => {
    await writeFile(join(dataDir, 'demo.json'), '{"baseUrl":', { mode: 0o600 });
    expect(await start().exited).to.deep.equal({ code: 2, signal: null });
    expect(program.output).to.match(/^quita: DATA_DIR: .*demo\.json is damaged: [^\n]+\n$/);
    await writeFile(join(dataDir, 'demo.json'), JSON.stringify(demo), { mode: 0o600 });
  });

  it('rejects a SECRETS_KEY other than the one that sealed its secrets (S6)', async () => {
    const other = randomBytes(32).toString('base64');
    expect(await start({ SECRETS_KEY: other }).exited).to.deep.equal({ code: 2, signal: null });
    expect(program.output).to.equal('quita: SECRETS_KEY is not the key that sealed this database’s secrets\n');
  });

  const inDatabase = async (text: string) => {
    const postgres = await startEmbeddedPostgres({ dataDir });
    const client = new pg.Client({ connectionString: postgres.connectionString });
    await client.connect();
    await client.query(text);
    await client.end();
    await postgres.stop();
  };

  it('reports job tables of a newer version (S4)', async () => {
    await inDatabase('UPDATE jobs.version SET version = 99');
    expect(await start().exited).to.deep.equal({ code: 2, signal: null });
    expect(program.output).to.equal(
      'quita: the job tables (schema "jobs") have version 99, but this program needs version 43: a newer version of the program used this database\n',
    );
    await inDatabase('UPDATE jobs.version SET version = 43');
  });

  it('reports a log written by another version (S4)', async () => {
    await inDatabase(
      'UPDATE event_store.events SET metadata = replace(metadata, \'{"account"\', \'{"v":2,"account"\') WHERE position = 1',
    );
    expect(await start().exited).to.deep.equal({ code: 2, signal: null });
    expect(program.output).to.equal(
      "quita: the event store holds a log of another version: its first event can't be read " +
        '(AccountOpened: expected a version from 1 to 1, not 2). Start the version that wrote it, or set EVENTSTORE_URL to an empty event store and DATABASE_URL to an empty database\n',
    );
    await inDatabase("UPDATE event_store.events SET metadata = replace(metadata, '\"v\":2,', '') WHERE position = 1");
  });

  for (const [now, before] of [
    ['0001_event_log', '0001_events'],
    ['0001_event_log', '0001_event_store'],
    ['0004_sandbox_provider', '0004_sandbox_bank'],
    ['0004_sandbox_provider', '0004_sandbox'],
  ])
    it(`reports a data directory of a build before the first release (S4): ${before}`, async () => {
      await inDatabase(`UPDATE schema_migrations SET name = '${before}' WHERE name = '${now}'`);
      expect(await start().exited).to.deep.equal({ code: 2, signal: null });
      expect(program.output).to.equal(
        'quita: the database was created by a build before the first release, whose events this version does not read. ' +
          'Embedded database: remove the data directory, or set DATA_DIR to another folder. Otherwise: set DATABASE_URL to an empty database\n',
      );
      await inDatabase(`UPDATE schema_migrations SET name = '${now}' WHERE name = '${before}'`);
    });

  it('runs on a database to which a newer version has only added', async () => {
    await inDatabase("INSERT INTO schema_migrations (name, batch, migration_time) VALUES ('9998_future', 99, now())");
    start();
    await program.ready();
    await program.stop();
  });

  it('reports a database that a newer version has contracted (S4)', async () => {
    await inDatabase(
      "INSERT INTO schema_migrations (name, batch, migration_time) VALUES ('9999_future_contract', 99, now())",
    );
    expect(await start().exited).to.deep.equal({ code: 2, signal: null });
    expect(program.output).to.equal(
      'quita: the database has the schema of a newer version (9999_future_contract): start that version\n',
    );
  });
});
