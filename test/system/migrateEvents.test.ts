// A deployment’s log moves from Postgres to EventStoreDB (the test server) and back, and clients see no difference.
import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { LogNotInUse } from '../../application/ports/eventStore.ts';
import { openEventStoreDb } from '../../infrastructure/eventStore/eventStoreDb/eventStoreDb.ts';
import { runMigrateEvents } from '../../infrastructure/logMigration/migrateEvents.ts';
import { verify } from '../../projections/engine/verify.ts';
import { PROJECTIONS } from '../../projections/registry.ts';
import { EventStoreDbServer } from '../support/eventStoreDb/server.ts';
import { TestGateway, type TestTenant } from '../world/gateway.ts';
import { migratedDatabase, type TestDatabase } from '../world/postgres.ts';
import { freePort, newDataDir, Program, removeDataDir } from '../world/program.ts';
import { Receiver, typeOf } from '../world/receiver.ts';

const SECRETS_KEY = randomBytes(32);
const SEEN = ['/v1/wallets/balance', '/v1/wallets', '/v1/webhooks/endpoints', '/v1/webhooks/deliveries'];
const PUBLIC_URL = 'https://pay.example.com';

describe('an event log that moves between stores', function suite() {
  let database: TestDatabase;
  let server: EventStoreDbServer;
  let receiver: Receiver;
  let tenant: TestTenant;
  let running: TestGateway | null = null;
  const charges: string[] = [];
  let seenFirst: readonly string[];

  const migrate = async (...words: string[]) => {
    const said: string[] = [];
    const out = { write: (text: string) => said.push(text) };
    const env = { DATABASE_URL: database.connectionString };
    const code = await runMigrateEvents(words, env, out, out, new AbortController().signal);
    return { code, said: said.join('') };
  };
  const open = async (eventStoreUrl?: string): Promise<TestGateway> => {
    const settings = { database, secretsKey: SECRETS_KEY, publicUrl: PUBLIC_URL };
    running = await TestGateway.open({ ...settings, ...(eventStoreUrl !== undefined && { eventStoreUrl }) });
    tenant ??= running.tenant;
    return running;
  };
  /** Creates and pays a charge, and waits for its webhook. */
  const sell = async (test: TestGateway, idempotencyKey: string): Promise<void> => {
    const key = tenant.testKey;
    const { status, body } = await test.charge<{ id: string }>({ amount: 5_000 }, { key, idempotencyKey });
    expect(status).to.equal(201);
    charges.push(body.id);
    const paid = await test.post<{ outcome: string }>(`/v1/sandbox/charges/${body.id}/pay`, {}, { key });
    expect(paid.body.outcome).to.equal('settled');
    await receiver.until((hit) => typeOf(hit) === 'charge.paid' && hit.rawBody.includes(body.id));
  };
  /** Returns the merchant’s view once all deliveries are flushed. */
  const seen = async (test: TestGateway): Promise<string[]> => {
    const key = tenant.testKey;
    expect((await test.post('/v1/sandbox/deliveries/flush', {}, { key })).status).to.equal(200);
    const answers: string[] = [];
    for (const path of [...SEEN, ...charges.map((id) => `/v1/charges/${id}`)]) {
      const { status, text } = await test.get(path, { key });
      answers.push(`${path}: ${status} ${text}`);
    }
    expect(test.faults).to.deep.equal([]);
    return answers;
  };
  const differences = async ({ storage, gateway }: TestGateway) => {
    await gateway.projected.caughtUp(30_000);
    return (await verify(PROJECTIONS, storage, storage.openSession)).differences;
  };
  const startError = async (env: Record<string, string>): Promise<{ code: number | null; output: string }> => {
    const dataDir = await newDataDir();
    const all = { DATABASE_URL: database.connectionString, SECRETS_KEY: SECRETS_KEY.toString('base64'), ...env };
    const program = new Program({ dataDir, port: await freePort(), role: 'api', env: all });
    const { code } = await program.exited;
    await removeDataDir(dataDir);
    return { code, output: program.output };
  };

  const stop = async (): Promise<void> => {
    await running?.close();
    running = null;
  };

  before(async () => {
    database = await migratedDatabase();
    server = await EventStoreDbServer.start();
    receiver = await Receiver.open();
    const test = await open();
    const endpoint = { url: receiver.url, events: ['charge.paid'] };
    expect((await test.post('/v1/webhooks/endpoints', endpoint)).status).to.equal(201);
    await sell(test, 'sold-on-postgres-1');
    await sell(test, 'sold-on-postgres-2');
    const pending = await test.charge<{ id: string }>({ amount: 777 });
    charges.push(pending.body.id);
    seenFirst = await seen(test);
    await stop();
  });
  afterEach(stop);
  after(async () => {
    await receiver.close();
    await server.stop();
    await database.drop();
  });

  it('moves to EventStoreDB with a report and the next step', async () => {
    const { code, said } = await migrate('--to', server.connectionString);
    expect(said).to.match(/^The log is sealed/);
    expect(said).to.match(
      /Done: (\d+) events copied, \1 compared, \d+ checkpoints translated\. Now start the program /,
    );
    expect(said.endsWith(`with EVENTSTORE_URL=${server.connectionString}\n`)).to.equal(true);
    expect(code).to.equal(0);
  });

  it('is not changed by a second migration', async () => {
    const written = server.events;
    expect(await migrate('--to', server.connectionString)).to.deep.equal({
      code: 0,
      said: `The log was already moved; nothing was changed. Now start the program with EVENTSTORE_URL=${server.connectionString}\n`,
    });
    expect(server.events).to.deep.equal(written);
  });

  it('can’t be opened in Postgres any more: the start exits with code 2 and one line', async () => {
    expect(await startError({})).to.deep.equal({
      code: 2,
      output: `quita: this event log has moved to ${server.connectionString}: start the program with EVENTSTORE_URL set to it\n`,
    });
  });

  it('gives the same answers in EventStoreDB, accepts new requests, and its read models equal a replay', async () => {
    const test = await open(server.connectionString);
    expect(await seen(test)).to.deep.equal(seenFirst);
    const again = { key: tenant.testKey, idempotencyKey: 'sold-on-postgres-1' };
    const replayed = await test.charge<{ id: string }>({ amount: 5_000 }, again);
    expect([replayed.status, replayed.headers.get('idempotent-replayed')]).to.deep.equal([201, 'true']);
    expect((await test.charge({ amount: 5_001 }, again)).status).to.equal(409);
    await sell(test, 'sold-on-eventstoredb-1');
    seenFirst = await seen(test);
    expect(await differences(test)).to.deep.equal([]);
  });

  it('moves back to Postgres and continues there', async () => {
    const { code, said } = await migrate('--from', server.connectionString, '--json');
    const report = JSON.parse(said.split('\n').at(-2) as string) as Record<string, unknown>;
    expect(code).to.equal(0);
    expect(report).to.include({ wasDone: false, next: 'start the program without EVENTSTORE_URL' });
    expect(report['copied']).to.be.below(report['compared'] as number); // Events that came from Postgres are not copied again.
    const test = await open();
    expect(await seen(test)).to.deep.equal(seenFirst);
    await sell(test, 'sold-at-home-1');
    expect(await differences(test)).to.deep.equal([]);
  });

  it('can’t be opened in EventStoreDB any more', async () => {
    const refusal = await openEventStoreDb({ connectionString: server.connectionString }).catch((error) => error);
    expect(refusal).to.be.instanceOf(LogNotInUse);
    expect(refusal.message).to.match(
      /has moved to postgres:\/\/[^:@/]+:\d+\/\w+: start the program without EVENTSTORE_URL$/,
    );
    const { code, output } = await startError({ EVENTSTORE_URL: server.connectionString });
    expect([code, output]).to.deep.equal([2, `quita: ${refusal.message}\n`]);
  });

  it('moves to the same EventStoreDB again', async () => {
    expect((await migrate('--to', server.connectionString)).code).to.equal(0);
    const test = await open(server.connectionString);
    await sell(test, 'sold-on-eventstoredb-2');
    expect(await differences(test)).to.deep.equal([]);
  });
});
