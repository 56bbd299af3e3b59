// A program on which a payer’s data is erased and scrubbed (rules L2, L5). Afterwards no file contains a trace of the person, and the
// money is unchanged.
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import pg from 'pg';
import { dump } from '../../infrastructure/databaseCopy/dump.ts';
import { attachToEmbeddedPostgres } from '../../infrastructure/embeddedPostgres/embeddedPostgres.ts';
import { connectionConfig, PgPool } from '../../infrastructure/postgres/session.ts';
import type { CallOptions, Reply, TestGateway } from '../world/gateway.ts';
import { newKey } from '../world/gateway.ts';
import { rawIdOf } from '../world/http.ts';
import { Merchant } from '../world/merchant.ts';
import { PERSON, PersonDesk, TRACES } from '../world/personDesk.ts';
import { pollUntil } from '../world/pollUntil.ts';
import { cli, freePort, newDataDir, Program, removeDataDir } from '../world/program.ts';

/** Returns the files that contain any of the person’s texts. */
const filesWithTraces = async (folder: string): Promise<readonly string[]> => {
  const found: string[] = [];
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const bytes = await readFile(path).catch(() => Buffer.alloc(0)); // The file was removed meanwhile.
    const trace = TRACES.find((text) => bytes.includes(text));
    if (trace !== undefined) found.push(`${path}: ${trace}`);
  }
  return found;
};

/** Implements the part of a test gateway that the desk uses, on a running program. */
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

/** Longer than a job waits twice after many kills (two minutes each): on a busy machine, an attempt may fail once more. */
const UNTIL_MS_MAX = 360_000;

export const until = async (look: () => Promise<boolean>): Promise<void> => {
  const seen = await pollUntil({ onMove: () => () => undefined }, UNTIL_MS_MAX, async () =>
    (await look()) ? true : null,
  );
  expect(seen, 'in time').to.equal(true);
};

export class ScrubbedProgram {
  readonly #dataDir: string;
  readonly #port: number;
  readonly #env: Readonly<Record<string, string>>;
  #program: Program;
  #sql: pg.Client | null = null;
  readonly desk: PersonDesk;
  #owners: readonly string[] = [];

  private constructor(
    { dataDir, port, env }: { dataDir: string; port: number; env: Readonly<Record<string, string>> },
    program: Program,
    desk: PersonDesk,
  ) {
    [this.#dataDir, this.#port, this.#env] = [dataDir, port, env];
    [this.#program, this.desk] = [program, desk];
  }

  /** Opens a program on which the person has paid and has received a payout. */
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
    const opened = new ScrubbedProgram(place, program, desk);
    await desk.payInFull();
    await desk.payOut();
    await desk.merchant.flushed();
    opened.#owners = [...desk.payments, rawIdOf(desk.payoutId)];
    return opened;
  }

  /** Runs a statement. Returns null if the database can’t be reached because it is stopping or starting. */
  async query<Row extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<readonly Row[] | null> {
    try {
      this.#sql ??= await connected(this.#dataDir);
      return (await this.#sql.query<Row>(text, values)).rows;
    } catch {
      this.#sql = null;
      return null;
    }
  }

  cli(args: readonly string[], signal?: AbortSignal): Promise<unknown> {
    return cli(this.#dataDir, args, this.#env, signal);
  }

  /** Returns the outcomes of `privacy erase`. `signal` kills the command. */
  async erase(signal?: AbortSignal): Promise<readonly string[]> {
    const words = ['--document', PERSON.document, '--reason', 'request 17', '--despite-retention'];
    const { erased } = (await this.cli(['privacy', 'erase', ...words], signal)) as { erased: { outcome: string }[] };
    return erased.map(({ outcome }) => outcome);
  }

  /** Kills the whole process group, ends sleeping database sessions, and starts the program again. */
  async killAndRestart(): Promise<void> {
    await this.#program.kill9();
    // The next start may adopt the database before its guard stops it.
    await this.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep'");
    this.#program = new Program({ dataDir: this.#dataDir, port: this.#port, env: this.#env });
  }

  /** Resolves when the program is ready, which it isn’t while something blocks its work. */
  async ready(): Promise<void> {
    await this.#program.ready();
  }

  /** Returns the texts of the person in a fresh backup by `npm run dump`. */
  async #tracesInDump(): Promise<readonly string[]> {
    const folder = await mkdtemp(join(tmpdir(), 'quita-dump-'));
    const pool = new PgPool(
      connectionConfig(await attachToEmbeddedPostgres(this.#dataDir), 'dump'),
      1,
      () => undefined,
    );
    try {
      const file = join(folder, 'dump');
      await dump(pool, file);
      const bytes = gunzipSync(await readFile(file));
      return TRACES.filter((text) => bytes.includes(text) || bytes.includes(Buffer.from(text).toString('hex')));
    } finally {
      await pool.close();
      await rm(folder, { recursive: true });
    }
  }

  /**
   * Calls `erasing`, waits until the erasure is complete, and scrubs. Expects that no file and no fresh backup contains a trace, and that
   * the money is unchanged.
   */
  async expectScrubbedAfter(erasing: () => Promise<void>): Promise<void> {
    expect(await filesWithTraces(this.#dataDir)).to.not.deep.equal([]);
    expect(await this.#tracesInDump()).to.not.deep.equal([]);
    const ledger = await this.cli(['ledger', 'check']);
    const wallets = (await this.desk.get('/v1/wallets')).body;
    await erasing();
    await this.#untilErased();
    await this.cli(['privacy', 'scrub']);
    expect(await filesWithTraces(this.#dataDir)).to.deep.equal([]);
    expect(await this.#tracesInDump()).to.deep.equal([]);
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
    await this.#sql?.end().catch(() => undefined);
    await this.desk.close();
    await this.#program.kill9();
    await removeDataDir(this.#dataDir);
  }

  async #untilErased(): Promise<void> {
    const done = 'SELECT FROM privacy.data_keys WHERE owner = ANY($1::text[]) AND destroyed_at IS NOT NULL';
    await until(async () => (await this.query(done, [[...this.#owners]]))?.length === this.#owners.length);
    const owed = "SELECT FROM operations.owed WHERE queue = 'completeErasure'";
    await until(async () => (await this.query(owed))?.length === 0);
  }
}

const connected = async (dataDir: string): Promise<pg.Client> => {
  const sql = new pg.Client({ connectionString: await attachToEmbeddedPostgres(dataDir) });
  sql.on('error', () => undefined); // The server ends with the program.
  await sql.connect();
  return sql;
};
