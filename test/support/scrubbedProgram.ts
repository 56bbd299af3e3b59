// A program on which a payer's data is erased and scrubbed (rules L2, L5): afterwards no file has a trace of the person, and the money is
// the same.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import pg from 'pg';
import { attachToEmbeddedPostgres } from '../../infrastructure/embeddedPostgres/embeddedPostgres.ts';
import type { CallOptions, Reply, TestGateway } from '../world/gateway.ts';
import { newKey } from '../world/gateway.ts';
import { rawIdOf } from '../world/http.ts';
import { Merchant } from '../world/merchant.ts';
import { PERSON, PersonDesk, TRACES } from '../world/personDesk.ts';
import { pollUntil } from '../world/pollUntil.ts';
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

export const until = async (look: () => Promise<boolean>): Promise<void> => {
  const seen = await pollUntil({ onMove: () => () => undefined }, 120_000, async () => ((await look()) ? true : null));
  expect(seen, 'in time').to.equal(true);
};

export class ScrubbedProgram {
  readonly #dataDir: string;
  readonly #port: number;
  readonly #env: Readonly<Record<string, string>>;
  #program: Program;
  #sql: pg.Client;
  readonly desk: PersonDesk;
  #owners: readonly string[] = [];

  private constructor(
    { dataDir, port, env }: { dataDir: string; port: number; env: Readonly<Record<string, string>> },
    program: Program,
    sql: pg.Client,
    desk: PersonDesk,
  ) {
    [this.#dataDir, this.#port, this.#env] = [dataDir, port, env];
    [this.#program, this.#sql, this.desk] = [program, sql, desk];
  }

  /** Opens a program on which the person paid and was paid. */
  static async open(more: Readonly<Record<string, string>> = {}): Promise<ScrubbedProgram> {
    const place = {
      dataDir: await newDataDir(),
      port: await freePort(),
      env: { WEBHOOK_ALLOW_PRIVATE: 'true', ...more },
    };
    const program = await new Program(place).ready();
    const key = (await program.demo()).testApiKey;
    const gateway = remote(program.baseUrl);
    const desk = await PersonDesk.of(gateway, Object.assign(new Merchant(gateway, key), { tenant: {} as never }));
    const opened = new ScrubbedProgram(place, program, await connected(place.dataDir), desk);
    await desk.payInFull();
    await desk.payOut();
    await desk.merchant.flushed();
    opened.#owners = [...desk.payments, rawIdOf(desk.payoutId)];
    return opened;
  }

  /** A connection to the program's database. It ends with the program. */
  get sql(): pg.Client {
    return this.#sql;
  }

  cli(args: readonly string[]): Promise<unknown> {
    return cli(this.#dataDir, args, this.#env);
  }

  /** Returns the outcomes of `privacy erase`. */
  async erase(): Promise<readonly string[]> {
    const words = ['--document', PERSON.document, '--reason', 'request 17', '--despite-retention'];
    const { erased } = (await this.cli(['privacy', 'erase', ...words])) as { erased: { outcome: string }[] };
    return erased.map(({ outcome }) => outcome);
  }

  /** Kills the whole process group with its database, and resolves when the program is ready again. */
  async killAndRestart(): Promise<void> {
    await this.#program.kill9();
    await this.#sql.end().catch(() => undefined);
    this.#program = await new Program({ dataDir: this.#dataDir, port: this.#port, env: this.#env }).ready();
    this.#sql = await connected(this.#dataDir);
  }

  /** Calls `erasing`, waits until the erasure is complete, scrubs, and expects that no file has a trace, and that the money is the same. */
  async expectScrubbedAfter(erasing: () => Promise<void>): Promise<void> {
    expect(await filesWithTraces(this.#dataDir)).to.not.deep.equal([]);
    const ledger = await this.cli(['ledger', 'check']);
    const wallets = (await this.desk.get('/v1/wallets')).body;
    await erasing();
    await this.#untilErased();
    await this.cli(['privacy', 'scrub']);
    expect(await filesWithTraces(this.#dataDir)).to.deep.equal([]);
    expect(this.#program.output).to.satisfy((text: string) => TRACES.every((trace) => !text.includes(trace)));
    const verified = (await this.cli(['projections', 'verify'])) as { differences: readonly unknown[] };
    expect(verified.differences).to.deep.equal([]);
    expect(await this.cli(['ledger', 'check'])).to.deep.equal(ledger);
    expect((await this.desk.get('/v1/wallets')).body).to.deep.equal(wallets);
    const { body } = await this.desk.get(`/v1/charges/${this.desk.chargeId}`);
    expect([body['status'], body['customer']]).to.deep.equal([
      'paid',
      { name: null, document: null, email: null, phone: null },
    ]);
  }

  async close(): Promise<void> {
    await this.#sql.end().catch(() => undefined);
    await this.desk.close();
    await this.#program.kill9();
    await removeDataDir(this.#dataDir);
  }

  async #untilErased(): Promise<void> {
    const done = 'SELECT FROM privacy.data_keys WHERE owner = ANY($1::text[]) AND destroyed_at IS NOT NULL';
    await until(async () => (await this.#sql.query(done, [this.#owners])).rowCount === this.#owners.length);
    const owed = "SELECT FROM operations.owed WHERE queue = 'completeErasure'";
    await until(async () => (await this.#sql.query(owed)).rowCount === 0);
  }
}

const connected = async (dataDir: string): Promise<pg.Client> => {
  const sql = new pg.Client({ connectionString: await attachToEmbeddedPostgres(dataDir) });
  sql.on('error', () => undefined); // its server ends with the program
  await sql.connect();
  return sql;
};
