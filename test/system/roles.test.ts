// Several processes on one database: API, projector and worker separately, and a second of each.
import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { emptyDatabase, type TestDatabase } from '../world/postgres.ts';
import { cli, freePort, newDataDir, Program, type RoleName, removeDataDir } from '../world/program.ts';
import { Receiver, typeOf } from '../world/receiver.ts';

const SECRETS_KEY = randomBytes(32).toString('base64');

describe('api, projector and worker as separate processes', function suite() {
  let database: TestDatabase;
  let dataDir: string;
  let receiver: Receiver;
  let apikey: string;
  const running: Program[] = [];
  const start = async (role: RoleName): Promise<Program> => {
    const env = { DATABASE_URL: database.connectionString, SECRETS_KEY, WEBHOOK_ALLOW_PRIVATE: 'true' };
    const program = new Program({ dataDir, port: await freePort(), env, role });
    running.push(program);
    return program.ready();
  };
  const call = async (api: Program, method: string, path: string, body?: unknown, key?: string) => {
    const headers = { apikey, 'content-type': 'application/json', ...(key && { 'idempotency-key': key }) };
    const response = await fetch(api.baseUrl + path, {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: (await response.json()) as Record<string, never> };
  };

  /** Reads twice if needed. A read waits at most 1 s for another process’s write (architecture §6), and the API allows two. */
  const read = async (api: Program, path: string, isRight: (answer: Awaited<ReturnType<typeof call>>) => boolean) => {
    const answer = await call(api, 'GET', path);
    return isRight(answer) ? answer : call(api, 'GET', path);
  };

  before(async () => {
    database = await emptyDatabase();
    dataDir = await newDataDir();
    receiver = await Receiver.open();
  });
  after(async () => {
    for (const program of running) await program.kill9();
    await receiver.close();
    await database.drop();
    await removeDataDir(dataDir);
  });

  it('serve payments together, and continue when the leaders are killed', async () => {
    const [projector, worker] = [await start('projector'), await start('worker')];
    const [one, two] = [await start('api'), await start('api')];
    const account = (await cli(dataDir, ['account', 'create', '--name', 'Loja', '--email', 'l@example.com'], {
      DATABASE_URL: database.connectionString,
    })) as { testApiKey: string };
    apikey = account.testApiKey;
    expect(
      (await call(one, 'POST', '/v1/webhooks/endpoints', { url: receiver.url, events: ['charge.paid'] })).status,
    ).to.equal(201);

    const pay = async (first: Program, second: Program, key: string) => {
      const created = await call(first, 'POST', '/v1/charges', { amount: 1000, payment_method: 'pix' }, key);
      expect(created.status).to.equal(201);
      const id = String(created.body['id']);
      // Reads see writes of other processes: the other API finds the charge at once.
      const found = await read(second, `/v1/charges/${id}`, ({ status }) => status === 200);
      expect(found.status).to.equal(200);
      expect((await call(second, 'POST', `/v1/sandbox/charges/${id}/pay`, {})).body['outcome']).to.equal('settled');
      const paid = await read(first, `/v1/charges/${id}`, ({ body }) => body['status'] === 'paid');
      expect(paid.body['status']).to.equal('paid');
      await receiver.until((hit) => typeOf(hit) === 'charge.paid' && JSON.stringify(hit.body).includes(id));
    };
    const beganAt = performance.now();
    await pay(one, two, 'roles-first-1');
    const usualMs = performance.now() - beganAt;

    const [projector2, worker2] = [await start('projector'), await start('worker')];
    await projector.kill9();
    await worker.kill9();
    const killedAt = performance.now();
    await pay(two, one, 'roles-second-2');
    expect(performance.now() - killedAt).to.be.below(5_000 + 4 * usualMs);

    const advanced = await call(one, 'POST', '/v1/sandbox/clock/advance', { seconds: 3600 });
    expect(advanced.status).to.equal(200);
    expect(advanced.body['offset_seconds']).to.equal(3600);
    const verified = (await cli(dataDir, ['projections', 'verify'], {
      DATABASE_URL: database.connectionString,
      SECRETS_KEY,
    })) as {
      differences: unknown[];
    };
    expect(verified.differences).to.deep.equal([]);
    const headers = { apikey, 'x-request-id': 'the-last-request' };
    const last = await Promise.all([one, two].map(({ baseUrl }) => fetch(`${baseUrl}/v1/wallets`, { headers })));
    expect(last.map(({ status }) => status)).to.deep.equal([200, 200]);
    for (const program of [one, two, projector2, worker2])
      expect(await program.stop()).to.deep.equal({ code: 0, signal: null });
    // The request log includes requests answered just before the stop.
    const { requests } = (await cli(dataDir, ['requests', 'show', 'the-last-request'], {
      DATABASE_URL: database.connectionString,
    })) as { requests: readonly { path: string; status: number }[] };
    expect(requests.map(({ path, status }) => [path, status])).to.deep.equal(Array(2).fill(['/v1/wallets', 200]));
  });

  it('require their own database', async () => {
    const program = new Program({ dataDir, port: await freePort(), role: 'worker' });
    expect(await program.exited).to.deep.equal({ code: 2, signal: null });
    expect(program.output).to.equal(
      'quita: DATABASE_URL must be set: the embedded database supports only one process (npm start)\n',
    );
  });
});
