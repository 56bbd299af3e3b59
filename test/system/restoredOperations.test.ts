// PostgreSQL is restored to a state older than the log, on both stores. `doctor --after-restore` finds what is missing, and deliveries of
// the lost period are not sent again.
import { execFile } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import pg from 'pg';
import {
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from '../../infrastructure/embeddedPostgres/embeddedPostgres.ts';
import { startServerProcess } from '../support/eventStoreDb/serverProcess.ts';
import { loseFacts } from '../support/lostFacts.ts';
import { cli, freePort, newDataDir, Program, removeDataDir } from '../world/program.ts';
import { Receiver, typeOf } from '../world/receiver.ts';

const run = promisify(execFile);
const CLI = join(import.meta.dirname, '../../infrastructure/boot/cli.ts');

interface Finding {
  readonly check: string;
  readonly isGood: boolean;
  readonly says: string;
}

for (const storeName of ['PostgreSQL', 'EventStoreDB'])
  describe(`PostgreSQL restored to a state older than the log on ${storeName}`, () => {
    let folder: string;
    let dataDir: string;
    let database: EmbeddedPostgres;
    let program: Program;
    let receiver: Receiver;
    let env: Record<string, string>;
    let stopServer: () => Promise<void> = async () => undefined;
    const pgDir = () => join(folder, 'pg');
    const backup = () => join(folder, 'backup');

    beforeEach(async () => {
      folder = await mkdtemp(join(tmpdir(), 'quita-restored-'));
      await run('chmod', ['755', folder]);
      dataDir = await newDataDir();
      receiver = await Receiver.open();
      database = await startEmbeddedPostgres({ dataDir: pgDir() });
      env = {
        DATABASE_URL: database.connectionString,
        SECRETS_KEY: randomBytes(32).toString('base64'),
        WEBHOOK_ALLOW_PRIVATE: 'true',
      };
      if (storeName === 'EventStoreDB') {
        const server = await startServerProcess();
        stopServer = () => server.stop();
        env['EVENTSTORE_URL'] = server.connectionString;
      }
      await start();
    });
    afterEach(async () => {
      await program.kill9();
      await database.stop();
      await stopServer();
      await receiver.close();
      await removeDataDir(dataDir);
      await rm(folder, { recursive: true, force: true });
    });

    const start = async () => {
      program = await new Program({ dataDir, port: await freePort(), env }).ready();
    };
    const call = async (apikey: string, path: string, body: unknown) => {
      const headers = { apikey, 'content-type': 'application/json', 'idempotency-key': randomUUID() };
      const answer = await fetch(program.baseUrl + path, { method: 'POST', headers, body: JSON.stringify(body) });
      const text = await answer.text();
      expect(answer.status, text).to.be.oneOf([200, 201]);
      return JSON.parse(text) as Record<string, unknown>;
    };
    const openShop = async (email: string) => {
      const account = await cli(dataDir, ['account', 'create', '--name', 'Loja', '--email', email], env);
      return (account as { testApiKey: string }).testApiKey;
    };
    const endpointOf = (apikey: string) =>
      call(apikey, '/v1/webhooks/endpoints', { url: receiver.url, events: ['charge.paid'] });
    /** Creates and pays a charge, and waits for its webhook. */
    const sell = async (apikey: string): Promise<string> => {
      const id = String((await call(apikey, '/v1/charges', { amount: 1000, payment_method: 'pix' }))['id']);
      await call(apikey, `/v1/sandbox/charges/${id}/pay`, {});
      await receiver.until((hit) => typeOf(hit) === 'charge.paid' && JSON.stringify(hit.body).includes(id));
      return id;
    };
    const inDatabase = async <T>(work: (sql: pg.Client) => Promise<T>): Promise<T> => {
      const sql = new pg.Client({ connectionString: database.connectionString });
      await sql.connect();
      try {
        return await work(sql);
      } finally {
        await sql.end();
      }
    };
    const doctor = async (): Promise<{ readonly code: number; readonly findings: readonly Finding[] }> =>
      new Promise((resolve) => {
        const options = { env: { PATH: process.env['PATH'] ?? '', DATA_DIR: dataDir, ...env } };
        execFile(process.execPath, [CLI, 'doctor', '--after-restore', '--json'], options, (error, stdout) =>
          resolve({ code: Number(error?.code ?? 0), ...(JSON.parse(stdout) as { findings: readonly Finding[] }) }),
        );
      });
    /** Restores everything except the log. */
    const restore = async () => {
      const text = 'SELECT json_agg(e)::text AS events FROM event_store.events e';
      const log = await inDatabase(async (sql) => (await sql.query<{ events: string }>(text)).rows[0]?.events);
      await database.stop();
      await rm(pgDir(), { recursive: true });
      await run('cp', ['-a', backup(), pgDir()]);
      database = await startEmbeddedPostgres({ dataDir: pgDir() });
      const insert = `INSERT INTO event_store.events SELECT * FROM json_populate_recordset(NULL::event_store.events, $1) ON CONFLICT DO NOTHING`;
      if (storeName === 'PostgreSQL') await inDatabase((sql) => loseFacts(sql, insert, [log]));
    };
    /** Returns the received webhooks by delivery. */
    const received = () => Map.groupBy(receiver.got, ({ headers }) => String(headers['x-acme-delivery-id']));

    it('gets its gaps reported by doctor, and sends nothing twice', async () => {
      const shop = await openShop('l@example.com');
      await endpointOf(shop);
      await sell(shop);
      await program.stop();
      await database.stop();
      await run('cp', ['-a', pgDir(), backup()]);
      database = await startEmbeddedPostgres({ dataDir: pgDir() });
      await start();
      await inDatabase((sql) =>
        sql.query(
          "INSERT INTO operations.sessions (id, user_id, password_id, expires_at) VALUES ('s', 'u', 'p', now() + interval '1 h')",
        ),
      );
      const lost = String((await endpointOf(await openShop('m@example.com')))['id']);
      const sold = [await sell(shop), await sell(shop)];
      await program.stop();
      await restore();
      await inDatabase((sql) =>
        sql.query(
          "INSERT INTO operations.sessions (id, user_id, password_id, expires_at) VALUES ('old', 'u', 'p', now() + interval '1 h')",
        ),
      );

      const { code, findings } = await doctor();
      expect(code).to.equal(1);
      const bad = findings.filter(
        ({ isGood, check }) => !isGood && !['read models and processes', 'audit log'].includes(check),
      );
      expect(bad.map(({ check }) => check)).to.deep.equal(['webhook secrets', 'passwords', 'lost data keys']);
      expect(bad[0]?.says).to.match(new RegExp(`^missing for ${lost}: its merchant must rotate the secret`));
      expect(bad[1]?.says).to.match(/^missing for usr_\w+: the user must ask for a password link$/);
      expect(bad[2]?.says).to.match(new RegExp(`^missing for ${sold.join(', ')}: restore their rows`));
      const good = new Map(findings.map(({ check, says }) => [check, says]));
      expect(good.get('email addresses')).to.equal('all 2 stored');
      expect(good.get('sessions')).to.equal('1 ended: users log in again');
      const again = await inDatabase((sql) =>
        sql.query("SELECT user_id FROM operations.user_emails WHERE email = 'm@example.com'"),
      );
      expect(again.rowCount, 'the address is taken as before').to.equal(1);

      const before = receiver.got.length;
      await start();
      sold.push(await sell(shop));
      await inDatabase(async (sql) => {
        const open = 'SELECT FROM operations.scheduled_deliveries WHERE endpoint_id IS NOT NULL LIMIT 1';
        while ((await sql.query(open)).rowCount !== 0);
      });
      expect(receiver.got.length - before, 'only the new one').to.equal(1);
      expect([...received().values()].map(({ length }) => length)).to.deep.equal([1, 1, 1, 1]);
      const verified = await cli(dataDir, ['projections', 'verify'], env);
      expect(verified).to.deep.include({ differenceCount: 0 });
    });
  });
