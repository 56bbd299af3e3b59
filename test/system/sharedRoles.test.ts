// Two projectors and two workers share the consumers of the log (ADR 0020), some of them partitioned by account (ADR 0021), also while one
// is killed, or stopped and resumed.
import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { PROJECTIONS } from '../../projections/registry.ts';
import { emptyDatabase, type TestDatabase } from '../world/postgres.ts';
import { cli, freePort, newDataDir, Program, type RoleName, removeDataDir } from '../world/program.ts';
import { Receiver, typeOf } from '../world/receiver.ts';

const SECRETS_KEY = randomBytes(32).toString('base64');
/** Matches a consumer in the metrics and the number of its partitions that the process leads. */
const LEADING = /^quita_subscription_leading\{group="\w+",consumer="([^"]+)"\} (\d+)$/gm;
const DIVIDED = ['payments', 'webhookDeliveries', 'process/webhookFanOut'];
/** A stopped process loses its partitions after 5 to 7 s; a busy machine gets more time. */
const FROZEN_MS_MAX = 20_000;

describe('two projectors and two workers that share their roles', () => {
  let database: TestDatabase;
  let dataDir: string;
  let receiver: Receiver;
  let api: Program;
  let apikey: string;
  const running: Program[] = [];
  /** Number of partitions of each consumer in DIVIDED. */
  let partitions = 1;
  const paid: string[] = [];
  const start = async (role: RoleName): Promise<Program> => {
    const env = { DATABASE_URL: database.connectionString, SECRETS_KEY, WEBHOOK_ALLOW_PRIVATE: 'true' };
    const program = new Program({ dataDir, port: await freePort(), env, role });
    running.push(program);
    return program.ready();
  };
  const call = async (method: string, path: string, body?: unknown, key?: string) => {
    const headers = { apikey, 'content-type': 'application/json', ...(key && { 'idempotency-key': key }) };
    const response = await fetch(api.baseUrl + path, {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: (await response.json()) as Record<string, never> };
  };
  const divide = async (count: number): Promise<void> => {
    const env = { DATABASE_URL: database.connectionString };
    for (const name of DIVIDED)
      expect(await cli(dataDir, ['projections', 'partition', name, String(count)], env)).to.deep.equal({
        ...{ consumer: name, partitions: count, isEven: true },
      });
    partitions = count;
  };
  /** Returns the consumers that the process leads, once per partition, and those it could lead. */
  const leading = async (program: Program) => {
    const metrics = await (await fetch(`${program.baseUrl}/metrics`)).text();
    const all = [...metrics.matchAll(LEADING)].map(([, consumer, is]) => ({ consumer: consumer as string, is }));
    return {
      all: all.map(({ consumer }) => consumer),
      led: all.flatMap(({ consumer, is }) => Array.from({ length: Number(is) }, () => consumer)),
    };
  };
  /** Waits until these processes lead each partition of their role once, in about equal numbers. */
  const share = async (programs: readonly Program[], timeoutMs = 30_000) => {
    for (const end = performance.now() + timeoutMs; ; ) {
      const said = await Promise.all(programs.map(leading));
      const led = said.flatMap((one) => one.led).toSorted();
      const counts = said.map((one) => one.led.length);
      const all = said[0]?.all.flatMap((name) => (DIVIDED.includes(name) ? Array(partitions).fill(name) : [name]));
      const isShared = led.join() === all?.toSorted().join() && Math.max(...counts) - Math.min(...counts) <= 1;
      if (isShared) return said;
      if (performance.now() > end) throw new Error(`led: ${JSON.stringify(said.map((one) => one.led))}`);
    }
  };
  /** Creates and pays a charge. Returns once the merchant has read it and received its webhook, with the time in milliseconds. */
  const pay = async (): Promise<number> => {
    const beganAt = performance.now();
    const created = await call(
      'POST',
      '/v1/charges',
      { amount: 1000, payment_method: 'pix' },
      `shared-${paid.length}-key`,
    );
    expect(created.status).to.equal(201);
    const id = String(created.body['id']);
    const { body } = await call('POST', `/v1/sandbox/charges/${id}/pay`, {});
    expect(body['outcome']).to.equal('settled');
    for (let found = ''; found !== 'paid'; ) found = String((await call('GET', `/v1/charges/${id}`)).body['status']);
    paid.push(id);
    await receiver.until((hit) => typeOf(hit) === 'charge.paid' && JSON.stringify(hit.body).includes(id));
    return performance.now() - beganAt;
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

  it('process every event once, whichever process leads', async () => {
    const projectors = [await start('projector'), await start('projector')];
    const workers = [await start('worker'), await start('worker')];
    api = await start('api');
    const account = (await cli(dataDir, ['account', 'create', '--name', 'Loja', '--email', 'l@example.com'], {
      DATABASE_URL: database.connectionString,
    })) as { testApiKey: string };
    apikey = account.testApiKey;
    const endpoint = { url: receiver.url, events: ['charge.paid'] };
    expect((await call('POST', '/v1/webhooks/endpoints', endpoint)).status).to.equal(201);
    const [first] = await share(projectors);
    expect(first?.all.toSorted()).to.deep.equal(PROJECTIONS.map(({ name }) => name).toSorted());
    await share(workers);
    const usualMs = await pay();
    await divide(4);
    await pay();
    await Promise.all([share(projectors), share(workers)]);

    // One of each is killed. The other leads everything, and shares again with its replacement.
    await Promise.all([projectors.shift()?.kill9(), workers.shift()?.kill9()]);
    expect(await pay(), 'after a kill').to.be.below(5_000 + 4 * usualMs);
    await Promise.all([share(projectors), share(workers)]);
    projectors.push(await start('projector'));
    workers.push(await start('worker'));
    await Promise.all([share(projectors), share(workers)]);
    await pay();

    // One of each is stopped and resumes after another has taken over. It must not commit what it had begun.
    const [still, going] = [[projectors[0], workers[0]] as Program[], [projectors[1], workers[1]] as Program[]];
    for (const program of still) program.signal('SIGSTOP');
    await Promise.all(going.map((program) => share([program], FROZEN_MS_MAX)));
    await pay();
    for (const program of still) program.signal('SIGCONT');
    await pay();
    await Promise.all([share(projectors), share(workers)]);
    await pay();
    await divide(2);
    await pay();
    await divide(1);
    await pay();
    await Promise.all([share(projectors), share(workers)]);

    const env = { DATABASE_URL: database.connectionString, SECRETS_KEY };
    const verified = (await cli(dataDir, ['projections', 'verify'], env)) as { differences: unknown[] };
    expect(verified.differences).to.deep.equal([]);
    const { sums } = (await cli(dataDir, ['ledger', 'check'], env)) as { sums: { sum: number }[] };
    expect(sums.map(({ sum }) => sum)).to.deep.equal(sums.map(() => 0));
    expect((await call('GET', '/v1/wallets')).status).to.equal(200);
    for (const program of [api, ...projectors, ...workers])
      expect(await program.stop()).to.deep.equal({ code: 0, signal: null });
    // A killed attempt may be repeated, but with the same delivery id.
    const told = receiver.got.filter((hit) => typeOf(hit) === 'charge.paid');
    for (const id of paid) {
      const ofCharge = told.filter(({ rawBody }) => rawBody.includes(id));
      expect(new Set(ofCharge.map(({ headers }) => headers['x-acme-delivery-id'])), id).to.have.property('size', 1);
    }
  });
});
