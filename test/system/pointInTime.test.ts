// Restores each store to an earlier moment: PostgreSQL from a base backup and archived log files, EventStoreDB from its own log.
import { execFile } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import pg from 'pg';
import type { Position } from '../../application/ports/eventStore.ts';
import {
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from '../../infrastructure/embeddedPostgres/embeddedPostgres.ts';
import { openEventStoreDb } from '../../infrastructure/eventStore/eventStoreDb/eventStoreDb.ts';
import { EventStoreDbServer } from '../support/eventStoreDb/server.ts';
import { cli, freePort, newDataDir, Program, removeDataDir } from '../world/program.ts';
import { Receiver, typeOf } from '../world/receiver.ts';

const run = promisify(execFile);
const CLI = join(import.meta.dirname, '../../infrastructure/boot/cli.ts');

interface Finding {
  readonly check: string;
  readonly isGood: boolean;
  readonly says: string;
}

describe('a restore to an earlier moment', () => {
  let folder: string;
  let dataDir: string;
  let database: EmbeddedPostgres;
  let server: EventStoreDbServer | null;
  let program: Program;
  let receiver: Receiver;
  let env: Record<string, string>;
  let shop: string;
  const pgDir = () => join(folder, 'pg');
  const base = () => join(folder, 'base');
  const archive = () => join(folder, 'archive');

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'quita-moment-'));
    await run('chmod', ['755', folder]);
    await mkdir(archive());
    await chmod(archive(), 0o777); // PostgreSQL runs as another user if root runs the test.
    dataDir = await newDataDir();
    receiver = await Receiver.open();
    server = null;
  });
  afterEach(async () => {
    await program.kill9();
    await database.stop();
    await server?.stop();
    await receiver.close();
    await removeDataDir(dataDir);
    await rm(folder, { recursive: true, force: true });
  });

  /** Starts a database that archives its log files. */
  const startArchiving = async () => {
    const archiving = { wal_level: 'replica', archive_mode: 'on', archive_command: `cp %p ${archive()}/%f` };
    database = await startEmbeddedPostgres({ dataDir: pgDir(), instead: archiving });
  };
  const start = async () => {
    program = await new Program({ dataDir, port: await freePort(), env }).ready();
  };
  const stop = async () => expect(await program.stop()).to.deep.equal({ code: 0, signal: null });
  const open = async () => {
    await startArchiving();
    env = {
      DATABASE_URL: database.connectionString,
      SECRETS_KEY: randomBytes(32).toString('base64'),
      WEBHOOK_ALLOW_PRIVATE: 'true',
      ...(server && { EVENTSTORE_URL: server.connectionString }),
    };
    await start();
    shop = await openShop('l@example.com');
    await endpointOf(shop);
  };
  const call = async (apikey: string, method: string, path: string, body?: object) => {
    const headers = { apikey, 'content-type': 'application/json', 'idempotency-key': randomUUID() };
    const answer = await fetch(program.baseUrl + path, {
      method,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  };
  const openShop = async (email: string) => {
    const account = await cli(dataDir, ['account', 'create', '--name', 'Loja', '--email', email], env);
    return (account as { testApiKey: string }).testApiKey;
  };
  const endpointOf = async (apikey: string) => {
    const wish = { url: receiver.url, events: ['charge.paid'] };
    return String((await call(apikey, 'POST', '/v1/webhooks/endpoints', wish)).body['id']);
  };
  /** Creates and pays a charge, and waits for its webhook. */
  const sell = async (): Promise<string> => {
    const { body } = await call(shop, 'POST', '/v1/charges', { amount: 1000, payment_method: 'pix' });
    const id = String(body['id']);
    expect((await call(shop, 'POST', `/v1/sandbox/charges/${id}/pay`, {})).body['outcome']).to.equal('settled');
    await receiver.until((hit) => typeOf(hit) === 'charge.paid' && JSON.stringify(hit.body).includes(id));
    return id;
  };
  const statusOf = async (id: string) => {
    const { status, body } = await call(shop, 'GET', `/v1/charges/${id}`);
    return status === 200 ? body['status'] : status;
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
  const now = () =>
    inDatabase(
      async (sql) => (await sql.query<{ now: string }>('SELECT clock_timestamp()::text AS now')).rows[0]?.now as string,
    );
  /** Takes a base backup by copying the files while all programs are stopped. */
  const backUp = async () => {
    await stop();
    await database.stop();
    await run('cp', ['-a', pgDir(), base()]);
    await startArchiving();
    await start();
  };
  const restorePostgres = async (moment: string) => {
    await database.stop(); // This archives the last log file.
    await rm(pgDir(), { recursive: true });
    await run('cp', ['-a', base(), pgDir()]);
    await writeFile(join(pgDir(), 'postgres', 'recovery.signal'), '');
    const recovering = {
      restore_command: `cp ${archive()}/%f %p`,
      recovery_target_time: moment,
      recovery_target_action: 'promote',
    };
    database = await startEmbeddedPostgres({ dataDir: pgDir(), instead: recovering });
  };
  const doctor = (): Promise<{ readonly code: number; readonly bad: readonly string[] }> =>
    new Promise((resolve) => {
      const options = { env: { PATH: process.env['PATH'] ?? '', DATA_DIR: dataDir, ...env } };
      execFile(process.execPath, [CLI, 'doctor', '--after-restore', '--json'], options, (error, stdout) => {
        const { findings } = JSON.parse(stdout) as { findings: readonly Finding[] };
        const bad = findings.filter(({ isGood }) => !isGood).map(({ check, says }) => `${check}: ${says}`);
        resolve({ code: Number(error?.code ?? 0), bad });
      });
    });
  /** Returns the received webhooks by delivery. */
  const received = () => Map.groupBy(receiver.got, ({ headers }) => String(headers['x-acme-delivery-id']));
  const expectSound = async () => {
    expect(await cli(dataDir, ['projections', 'verify'], env)).to.deep.include({ differenceCount: 0, parked: [] });
    expect(await cli(dataDir, ['audit', 'verify'], env)).to.deep.include({ faults: [] });
  };

  it('of PostgreSQL with the log in it brings log and read models to that moment', async () => {
    await open();
    await backUp();
    const kept = await sell();
    const moment = await now();
    const lost = await sell();
    await openShop('m@example.com');
    await stop();
    await restorePostgres(moment);
    const { bad } = await doctor();
    expect(bad.filter((line) => !line.startsWith('read models and processes'))).to.deep.equal([]);
    await start();
    expect([await statusOf(kept), await statusOf(lost)]).to.deep.equal(['paid', 404]);
    expect(await statusOf(await sell())).to.equal('paid');
    await expectSound();
  });

  it('of PostgreSQL under a newer log in EventStoreDB reports what is missing, and sends nothing twice', async () => {
    server = await EventStoreDbServer.start();
    await open();
    await backUp();
    const kept = await sell();
    const moment = await now();
    const later = await sell();
    const endpoint = await endpointOf(await openShop('m@example.com'));
    await stop();
    await restorePostgres(moment);
    const { code, bad } = await doctor();
    expect(code).to.equal(1);
    const named = bad.filter((line) => !/^(read models and processes|audit log)/.test(line));
    expect(named).to.have.length(3);
    expect(named[0]).to.match(new RegExp(`^webhook secrets: missing for ${endpoint}: its merchant must rotate`));
    expect(named[1]).to.match(/^passwords: missing for usr_\w+: the user must ask for a password link$/);
    expect(named[2]).to.match(new RegExp(`^lost data keys: missing for ${later}: restore their rows`));
    await start();
    expect([await statusOf(kept), await statusOf(later)]).to.deep.equal(['paid', 'paid']);
    expect(await statusOf(await sell())).to.equal('paid');
    expect([...received().values()].map(({ length }) => length)).to.deep.equal([1, 1, 1]);
    await expectSound();
  });

  it('of EventStoreDB under a newer PostgreSQL stops the program until PostgreSQL is restored to that moment too', async () => {
    server = await EventStoreDbServer.start();
    await open();
    await backUp();
    const kept = await sell();
    const moment = await now();
    const store = await openEventStoreDb({ connectionString: server.connectionString });
    const head = (await store.head()) as Position;
    await store.close();
    const lost = await sell();
    await stop();
    await server.restore(head);
    program = new Program({ dataDir, port: await freePort(), env });
    expect(await program.exited).to.deep.equal({ code: 2, signal: null });
    const lines = program.output.split('\n').filter((line) => line.startsWith('quita: '));
    expect(lines).to.have.length(1);
    expect(lines[0]).to.match(/ has followed the event store up to \S+, but it ends at \S+: was a backup restored/);
    const { code, bad } = await doctor();
    expect(code).to.equal(1);
    expect(bad.join('\n')).to.contain('has followed the event store up to');

    await restorePostgres(moment);
    await doctor();
    await start();
    expect([await statusOf(kept), await statusOf(lost)]).to.deep.equal(['paid', 404]);
    expect(await statusOf(await sell())).to.equal('paid');
    await expectSound();
  });
});
