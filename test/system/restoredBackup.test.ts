// PostgreSQL is restored to a backup under a running program, whose memory must not affect the restored state.
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
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
import { EventStoreDbServer } from '../support/eventStoreDb/server.ts';
import { loseFacts } from '../support/lostFacts.ts';
import { cli, freePort, newDataDir, Program, removeDataDir } from '../world/program.ts';
import { Receiver, typeOf } from '../world/receiver.ts';

const run = promisify(execFile);

const SECRETS_KEY = randomBytes(32).toString('base64');

describe('a program whose database is restored to a backup', () => {
  let folder: string;
  let dataDir: string;
  let database: EmbeddedPostgres;
  let program: Program;
  let receiver: Receiver;
  let apikey: string;
  let env: Readonly<Record<string, string>>;
  const pgDir = () => join(folder, 'pg');
  const backup = () => join(folder, 'backup');

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'quita-restored-'));
    await run('chmod', ['755', folder]);
    dataDir = await newDataDir();
    receiver = await Receiver.open();
    database = await startEmbeddedPostgres({ dataDir: pgDir() });
  });
  const open = async (more: Readonly<Record<string, string>> = {}): Promise<void> => {
    env = { DATABASE_URL: database.connectionString, SECRETS_KEY, WEBHOOK_ALLOW_PRIVATE: 'true', ...more };
    program = await new Program({ dataDir, port: await freePort(), env }).ready();
    const account = await cli(dataDir, ['account', 'create', '--name', 'Loja', '--email', 'l@example.com'], env);
    apikey = (account as { testApiKey: string }).testApiKey;
    const endpoint = await call('POST', '/v1/webhooks/endpoints', { url: receiver.url, events: ['charge.paid'] });
    expect(endpoint.status).to.equal(201);
  };
  afterEach(async () => {
    await program.kill9();
    await database.stop();
    await receiver.close();
    await removeDataDir(dataDir);
    await rm(folder, { recursive: true, force: true });
  });

  const call = async (method: string, path: string, body?: unknown, key?: string) => {
    const headers = { apikey, 'content-type': 'application/json', ...(key && { 'idempotency-key': key }) };
    const answer = await fetch(program.baseUrl + path, {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  };
  /** Repeats a request that gets 503 while the database restarts, as a merchant would. */
  const untilServed: typeof call = async (...request) => {
    let answer = await call(...request);
    while (answer.status === 503) answer = await call(...request);
    return answer;
  };
  /** Creates and pays a charge, and waits for its webhook. */
  const sell = async (key: string, customer: object = {}): Promise<string> => {
    const created = await untilServed('POST', '/v1/charges', { amount: 1000, payment_method: 'pix', customer }, key);
    expect(created.status).to.equal(201);
    const id = String(created.body['id']);
    const paid = await untilServed('POST', `/v1/sandbox/charges/${id}/pay`, {});
    expect(paid.body['outcome']).to.equal('settled');
    await receiver.until((hit) => typeOf(hit) === 'charge.paid' && JSON.stringify(hit.body).includes(id));
    return id;
  };
  const statusOf = async (id: string) => {
    const { status, body } = await untilServed('GET', `/v1/charges/${id}`);
    return status === 200 ? body['status'] : status;
  };
  /** Returns the head once the delivery is recorded and every consumer has processed it. */
  const untilAllIsTaken = async (sql: pg.Client): Promise<number> => {
    const text = `SELECT max(e.position) AS head, (SELECT min(position) FROM subscriptions.checkpoints)::bigint AS taken
      FROM event_store.events e HAVING bool_or(e.stream LIKE 'webhookDelivery-%')`;
    for (;;) {
      const [row] = (await sql.query<{ head: string; taken: string }>(text)).rows;
      if (row !== undefined && row.head === row.taken) return Number(row.head);
    }
  };
  const whileStopped = async (work: () => Promise<unknown>): Promise<void> => {
    await database.stop();
    await work();
    database = await startEmbeddedPostgres({ dataDir: pgDir() });
  };

  const backUp = () => whileStopped(() => run('cp', ['-a', pgDir(), backup()]));
  const restore = () =>
    whileStopped(async () => {
      await rm(pgDir(), { recursive: true });
      await run('cp', ['-a', backup(), pgDir()]);
    });

  it('continues from the restored state: lost charges are unknown, new ones are sold, delivered and counted once', async () => {
    await open();
    const kept = await sell('kept-charge-1');
    await backUp();
    const lost = [await sell('lost-charge-1'), await sell('lost-charge-2')];
    await restore();
    expect(await statusOf(kept)).to.equal('paid');
    for (const id of lost) expect(await statusOf(id)).to.equal(404);
    const sold = [await sell('new-charge-1'), await sell('new-charge-2'), await sell('new-charge-3')];
    for (const id of [kept, ...sold]) expect(await statusOf(id)).to.equal('paid');
    expect(await sell('lost-charge-1'), 'the same key makes the same charge').to.equal(lost[0]);

    const verified = await cli(dataDir, ['projections', 'verify'], env);
    expect(verified).to.deep.include({ differenceCount: 0 });
    expect(program.output).to.contain('event log restored or taken over');
  });

  it('reads personal data as erased if its key was lost because EventStoreDB is newer than the backup', async () => {
    const server = await EventStoreDbServer.start();
    await open({ EVENTSTORE_URL: server.connectionString });
    await backUp();
    const id = await sell('between-charge-1', { name: 'Maria' });
    await restore();
    expect(await statusOf(id)).to.equal('paid');
    const refund = {
      ...{ amount: 100, reason: 'O violão azul', destinationKey: 'ana@example.com' },
      idempotencyKey: 'refund-between-1',
    };
    const asked = await untilServed('POST', `/v1/payments/${id.slice('ch_'.length)}/refund`, refund);
    expect(asked.status, JSON.stringify(asked.body)).to.equal(201);
    const { body } = await untilServed('GET', `/v1/charges/${id}`);
    expect(body['customer']).to.deep.equal({ name: null, document: null, email: null, phone: null });
    const { body: refunds } = await untilServed('GET', `/v1/payments/${id.slice('ch_'.length)}/refunds`);
    expect(JSON.stringify(refunds)).to.contain(refund.reason);
    const verified = await cli(dataDir, ['projections', 'verify'], env);
    expect(verified).to.deep.include({ differenceCount: 0, parked: [] });
    await program.kill9();
    await server.stop();
  });

  it('exits with code 2 and one line if only the log is restored', async () => {
    await open();
    await sell('kept-charge-1');
    const sql = new pg.Client({ connectionString: database.connectionString, application_name: 'test' });
    await sql.connect();
    const head = await untilAllIsTaken(sql);
    await loseFacts(sql, 'DELETE FROM event_store.events WHERE position > $1', [head - 3]);
    await sql.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend' AND application_name <> 'test'",
    );
    await sql.end();
    expect(await program.exited).to.deep.equal({ code: 2, signal: null });
    const lines = program.output.split('\n').filter((line) => line.startsWith('quita: '));
    expect(lines).to.have.length(1);
    const place = (n: number) => String(n).padStart(19, '0');
    expect(lines[0]).to.match(
      new RegExp(
        `has followed the event store up to ${place(head)}, but it ends at ${place(head - 3)}: was a backup restored`,
      ),
    );
  });
});
