// Concurrent payouts from one wallet in four processes (rule Y4): of 40 requests with funds for 10, exactly 10 are granted.
import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { emptyDatabase, type TestDatabase } from '../world/postgres.ts';
import { cli, freePort, newDataDir, Program, removeDataDir } from '../world/program.ts';

const REQUESTS = 40;
const GRANTED = 10;
const SECRETS_KEY = randomBytes(32).toString('base64');

describe('concurrent payouts from one wallet in four processes', () => {
  let database: TestDatabase;
  let dataDir: string;
  const running: Program[] = [];
  let apikey: string;
  before(async function start() {
    this.timeout(300_000);
    database = await emptyDatabase();
    dataDir = await newDataDir();
    const env = { DATABASE_URL: database.connectionString, SECRETS_KEY, PUBLIC_URL: 'https://quita.example' };
    const open = async (role: 'start' | 'api') => {
      const program = new Program({ dataDir, port: await freePort(), env, role });
      running.push(program);
      await program.ready();
    };
    await open('start'); // It creates the tables.
    await Promise.all([open('api'), open('api'), open('api')]);
    const words = ['account', 'create', '--name', 'Loja', '--email', 'ana@example.com'];
    ({ testApiKey: apikey } = (await cli(dataDir, words, env)) as { testApiKey: string });
  });
  after(async () => {
    await Promise.all(running.map((program) => program.kill9()));
    await removeDataDir(dataDir);
    await database.drop();
  });

  const call = async (at: number, method: string, path: string, body?: object, key?: string) => {
    const { baseUrl } = running[at % running.length] as Program;
    const reply = await fetch(baseUrl + path, {
      method,
      headers: {
        apikey,
        ...(body && { 'content-type': 'application/json' }),
        ...(key !== undefined && { 'idempotency-key': key }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status: reply.status, body: (await reply.json()) as { [field: string]: unknown } };
  };
  const newKey = () => `payout-${randomBytes(9).toString('hex')}`;
  /** Repeats requests that get 503, as a merchant would, because a read model may be behind on a loaded machine. */
  const ask = async (at: number, body: object, key: string): Promise<{ status: number; id: unknown }> => {
    for (;;) {
      const { status, body: answer } = await call(at, 'POST', '/v1/payouts', body, key);
      if (status !== 503) return { status, id: answer['id'] };
    }
  };
  const available = async (): Promise<unknown> => (await call(1, 'GET', '/v1/wallets/balance')).body['available'];

  it(`grants exactly ${GRANTED} of ${REQUESTS}, and gives repeated requests the same answer`, async function run() {
    this.timeout(300_000);
    const charged = await call(0, 'POST', '/v1/charges', { amount: 100_000, payment_method: 'pix' }, newKey());
    const paid = await call(0, 'POST', `/v1/sandbox/charges/${String(charged.body['id'])}/pay`, {});
    expect(paid.status).to.equal(200);
    expect((await call(0, 'POST', '/v1/sandbox/settings', { auto_confirm_payouts: false })).status).to.equal(200);
    const balance = (await available()) as number;
    const amount = Math.floor(balance / GRANTED) - 50;
    const keys = Array.from({ length: REQUESTS }, newKey);
    const body = { amount, destination: { pix_key: 'ana@example.com' } };
    // Each request is sent to two processes.
    const [first, second] = await Promise.all(
      [0, 1].map((shift) => Promise.all(keys.map((key, n) => ask(n + shift, body, key)))),
    );
    const granted = first?.filter(({ status }) => status === 201) ?? [];
    expect(granted).to.have.length(GRANTED);
    expect(first?.filter(({ status }) => status === 422)).to.have.length(REQUESTS - GRANTED);
    expect(second).to.deep.equal(first);
    expect(await available()).to.equal(balance - GRANTED * (amount + 50));
  });
});
