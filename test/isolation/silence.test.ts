// Processes that are stopped (SIGSTOP) and networks that drop everything: other processes take over within 10 s, and nothing happens twice.
import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { emptyDatabase, type TestDatabase } from '../world/postgres.ts';
import { cli, freePort, newDataDir, Program, type RoleName, removeDataDir } from '../world/program.ts';
import { Receiver, typeOf } from '../world/receiver.ts';
import { type PostgresProxy, startPostgresProxy } from '../world/tcpProxy.ts';

const SECRETS_KEY = randomBytes(32).toString('base64');
const TAKEOVER_MS_MAX = 10_000;

describe('processes that freeze or lose their network', function suite() {
  let database: TestDatabase;
  let dataDir: string;
  let receiver: Receiver;
  let apikey: string;
  let api: Program;
  let first: readonly Program[];
  let apiProxy: PostgresProxy;
  let secondProxy: PostgresProxy;
  const running: Program[] = [];
  const paid: string[] = [];
  /** Usual duration of a payment on this machine; the limits are added to it. */
  let usualMs: number;

  const start = async (role: RoleName, connectionString = database.connectionString): Promise<Program> => {
    const env = { DATABASE_URL: connectionString, SECRETS_KEY, WEBHOOK_ALLOW_PRIVATE: 'true' };
    const program = new Program({ dataDir, port: await freePort(), env, role });
    running.push(program);
    return program.ready();
  };
  /** Repeats a request, as a merchant would, until the answer is right. */
  const insist = async (
    method: string,
    path: string,
    isRight: (answer: { status: number; body: Record<string, unknown> }) => boolean,
    body?: unknown,
    key?: string,
  ): Promise<Record<string, unknown>> => {
    const headers = { apikey, 'content-type': 'application/json', ...(key && { 'idempotency-key': key }) };
    for (const endMs = performance.now() + 4 * TAKEOVER_MS_MAX; ; ) {
      const response = await fetch(api.baseUrl + path, {
        method,
        headers,
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const answer = { status: response.status, body: (await response.json()) as Record<string, unknown> };
      if (isRight(answer)) return answer.body;
      if (performance.now() > endMs) throw new Error(`${method} ${path}: ${JSON.stringify(answer)}`);
    }
  };
  /** Creates and pays a charge, and waits for its status and webhook. Returns the duration in milliseconds. */
  const pay = async (key: string): Promise<number> => {
    const beganAtMs = performance.now();
    const charge = { amount: 1000, payment_method: 'pix' };
    const { id } = await insist('POST', '/v1/charges', ({ status }) => status === 201, charge, key);
    await insist('POST', `/v1/sandbox/charges/${id}/pay`, ({ status }) => status < 300, {});
    await insist('GET', `/v1/charges/${id}`, ({ body }) => body['status'] === 'paid');
    await receiver.until((hit) => typeOf(hit) === 'charge.paid' && hit.rawBody.includes(String(id)), 20_000);
    paid.push(String(id));
    return performance.now() - beganAtMs;
  };

  before(async () => {
    database = await emptyDatabase();
    dataDir = await newDataDir();
    receiver = await Receiver.open();
    const { connectionString } = database;
    [apiProxy, secondProxy] = [await startPostgresProxy(connectionString), await startPostgresProxy(connectionString)];
    first = await Promise.all([start('projector'), start('worker')]);
    api = await start('api', apiProxy.connectionString);
    const account = (await cli(dataDir, ['account', 'create', '--name', 'Loja', '--email', 'l@example.com'], {
      DATABASE_URL: database.connectionString,
    })) as { testApiKey: string };
    apikey = account.testApiKey;
    const endpoint = { url: receiver.url, events: ['charge.paid'] };
    await insist('POST', '/v1/webhooks/endpoints', ({ status }) => status === 201, endpoint);
    await pay('silence-warm-1');
    usualMs = await pay('silence-warm-2');
    // These are standbys; the first processes lead.
    await Promise.all([
      start('projector', secondProxy.connectionString),
      start('worker', secondProxy.connectionString),
    ]);
  });
  after(async () => {
    for (const program of running) await program.kill9();
    for (const proxy of [apiProxy, secondProxy]) await proxy.close();
    await receiver.close();
    await database.drop();
    await removeDataDir(dataDir);
  });

  it('lose leadership within 10 s of being stopped', async () => {
    for (const program of first) program.signal('SIGSTOP');
    expect(await pay('silence-stopped-1')).to.be.below(TAKEOVER_MS_MAX + 4 * usualMs);
    for (const program of first) program.signal('SIGCONT');
    expect(await pay('silence-stopped-2')).to.be.below(5_000 + 4 * usualMs);
  });

  it('lose leadership within 10 s of being cut off, to the ones that were stopped before', async () => {
    secondProxy.blackHole();
    expect(await pay('silence-cut-off-1')).to.be.below(TAKEOVER_MS_MAX + 4 * usualMs);
    secondProxy.heal();
    expect(await pay('silence-cut-off-2')).to.be.below(5_000 + 4 * usualMs);
  });

  it('serve again within 10 s after all connections of the API became silent', async () => {
    expect(apiProxy.silence()).to.be.above(5);
    expect(await pay('silence-api-1')).to.be.below(TAKEOVER_MS_MAX + 4 * usualMs);
    expect(await pay('silence-api-2')).to.be.below(5_000 + 4 * usualMs);
  });

  it('did nothing twice', async () => {
    // A delivery may be repeated if its worker was stopped between sending and recording, but under the same delivery id.
    const deliveries = new Map(receiver.got.map(({ headers, rawBody }) => [headers['x-acme-delivery-id'], rawBody]));
    const told = [...deliveries.values()].map((rawBody) => paid.find((id) => rawBody.includes(id)));
    expect(told.toSorted()).to.deep.equal(paid.toSorted());
    const wallet = await insist('GET', '/v1/wallets/balance', ({ status }) => status === 200);
    expect(wallet['available']).to.equal(paid.length * 980);
    for (const program of running) expect(await program.stop()).to.deep.equal({ code: 0, signal: null });
    const verified = (await cli(dataDir, ['projections', 'verify'], {
      DATABASE_URL: database.connectionString,
      SECRETS_KEY,
    })) as {
      differences: unknown[];
    };
    expect(verified.differences).to.deep.equal([]);
  });
});
