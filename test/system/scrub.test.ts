// After `privacy erase` and `privacy scrub`, a byte search of all files of a running program finds nothing of the person (rule L5), on both
// event stores.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import pg from 'pg';
import { attachToEmbeddedPostgres } from '../../infrastructure/embeddedPostgres/embeddedPostgres.ts';
import { EventStoreDbServer } from '../support/eventStoreDb/server.ts';
import type { CallOptions, Reply, TestGateway } from '../world/gateway.ts';
import { newKey } from '../world/gateway.ts';
import { rawIdOf } from '../world/http.ts';
import { Merchant } from '../world/merchant.ts';
import { PERSON, PersonDesk, TRACES } from '../world/personDesk.ts';
import { cli, freePort, newDataDir, Program, removeDataDir } from '../world/program.ts';

/** The files that contain any of the person's texts. */
const filesWithTraces = async (folder: string): Promise<readonly string[]> => {
  const found: string[] = [];
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const bytes = await readFile(path).catch(() => Buffer.alloc(0)); // removed meanwhile
    const trace = TRACES.find((text) => bytes.includes(text));
    if (trace !== undefined) found.push(`${path}: ${trace}`);
  }
  return found;
};

/** The part of a test gateway that the desk uses, over a program. */
const remote = (baseUrl: string): TestGateway => {
  const call = async (method: string, path: string, options: CallOptions = {}): Promise<Reply<unknown>> => {
    const { key, body, headers, idempotencyKey } = options;
    const response = await fetch(baseUrl + path, {
      method,
      headers: {
        ...(key != null && { apikey: key }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, body: JSON.parse(text || 'null') as unknown };
  };
  return {
    baseUrl,
    get: (path: string, options?: CallOptions) => call('GET', path, options),
    post: (path: string, body: unknown = {}, options: CallOptions = {}) => call('POST', path, { body, ...options }),
    charge: (body: object, options: CallOptions = {}) =>
      call('POST', '/v1/charges', { body, idempotencyKey: newKey(), ...options }),
    gateway: { projected: { onMove: () => () => undefined } },
  } as unknown as TestGateway;
};

const scrubbed = async (env: Readonly<Record<string, string>>, stored: () => readonly string[]): Promise<void> => {
  const dataDir = await newDataDir();
  const program = await new Program({ dataDir, port: await freePort(), env }).ready();
  const key = (await program.demo()).testApiKey;
  const gateway = remote(program.baseUrl);
  const desk = await PersonDesk.of(gateway, Object.assign(new Merchant(gateway, key), { tenant: {} as never }));
  const sql = new pg.Client({ connectionString: await attachToEmbeddedPostgres(dataDir) });
  await sql.connect();
  try {
    await desk.payInFull();
    await desk.payOut();
    await desk.merchant.flushed();
    const owners = [...desk.payments, rawIdOf(desk.payoutId)];
    expect(await filesWithTraces(dataDir)).to.not.deep.equal([]);
    const ledger = await cli(dataDir, ['ledger', 'check'], env);
    const wallets = (await desk.get('/v1/wallets')).body;
    const words = ['--document', PERSON.document, '--reason', 'request 17', '--despite-retention'];
    const { erased } = (await cli(dataDir, ['privacy', 'erase', ...words], env)) as { erased: { outcome: string }[] };
    expect(erased.map(({ outcome }) => outcome)).to.deep.equal(owners.map(() => 'erased'));
    const done = 'SELECT FROM privacy.data_keys WHERE owner = ANY($1::text[]) AND destroyed_at IS NOT NULL';
    while ((await sql.query(done, [owners])).rowCount !== owners.length) await new Promise((go) => setTimeout(go, 50));
    while ((await sql.query("SELECT FROM operations.owed WHERE queue = 'completeErasure'")).rowCount !== 0)
      await new Promise((go) => setTimeout(go, 50));
    await cli(dataDir, ['privacy', 'scrub'], env);
    expect(await filesWithTraces(dataDir)).to.deep.equal([]);
    expect(stored().filter((text) => TRACES.some((trace) => text.includes(trace)))).to.deep.equal([]);
    expect(program.output).to.satisfy((text: string) => TRACES.every((trace) => !text.includes(trace)));
    const verified = (await cli(dataDir, ['projections', 'verify'], env)) as { differences: readonly unknown[] };
    expect(verified.differences).to.deep.equal([]);
    expect(await cli(dataDir, ['ledger', 'check'], env)).to.deep.equal(ledger);
    expect((await desk.get('/v1/wallets')).body).to.deep.equal(wallets);
    const { body } = await desk.get(`/v1/charges/${desk.chargeId}`);
    expect([body['status'], body['customer']]).to.deep.equal([
      'paid',
      { name: null, document: null, email: null, phone: null },
    ]);
  } finally {
    await sql.end();
    await desk.close();
    await program.kill9();
    await removeDataDir(dataDir);
  }
};

describe('erased and scrubbed', () => {
  it('no file of the program has a trace of the person, with the log in PostgreSQL', () =>
    scrubbed({ WEBHOOK_ALLOW_PRIVATE: 'true' }, () => []));

  it('nor with the log in EventStoreDB, nor does the log itself', async () => {
    const server = await EventStoreDbServer.start();
    const env = { WEBHOOK_ALLOW_PRIVATE: 'true', EVENTSTORE_URL: server.connectionString };
    await scrubbed(env, () => server.events.map(({ data, metadata }) => data + metadata));
    await server.stop();
  });
});
