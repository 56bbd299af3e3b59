// The gateway of any checkout, used from outside only: programs, environment, HTTP and command line. So every commit since 07ad746 can be
// measured. This tree starts the embedded server for its database.
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { openStorage } from '../../infrastructure/boot/storage.ts';
import {
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from '../../infrastructure/embeddedPostgres/embeddedPostgres.ts';
import { SecretsKeyring } from '../../infrastructure/secrets/keyring.ts';
import { eachOf } from '../world/eachOf.ts';
import { freePort, newDataDir, Program, type RoleName, removeDataDir } from '../world/program.ts';
import { openTenants } from '../world/tenants.ts';
import type { Checkout } from './checkout.ts';
import { cpuMsOf, cpuMsWithChildren, parentOf } from './cpu.ts';

const run = promisify(execFile);
const CONNECTIONS = 32;
const IDLE_LOOK_MS = 250;
/** Maximum CPU of processes without work in that time: two ticks of /proc. */
const IDLE_CPU_MS = 20;
const LOOKS_IDLE = 3;

export interface Cpu {
  readonly node: number;
  readonly postgres: number;
}

export interface Deployment {
  /** Default: all roles in one process. */
  readonly roles?: readonly RoleName[];
  readonly env?: Readonly<Record<string, string>>;
  /** Number of accounts that sell, besides the first. Only for this tree, because they are appended to its log. Default: only the first. */
  readonly accounts?: number | null;
}

/** A charge and its account’s key. */
export interface Sold {
  readonly id: string;
  readonly apiKey: string;
}

export class Side {
  readonly checkout: Checkout;
  readonly sql: pg.Client;
  readonly port: number;
  readonly #dataDir: string;
  readonly #server: EmbeddedPostgres;
  readonly #env: Readonly<Record<string, string>>;
  readonly #programs: readonly Program[];
  /** Keys of the accounts that sell. */
  apiKeys: readonly string[] = [];

  private constructor(
    checkout: Checkout,
    parts: { dataDir: string; ports: readonly number[]; server: EmbeddedPostgres },
    { roles = ['start'], env = {} }: Deployment,
  ) {
    this.checkout = checkout;
    this.port = parts.ports[0] as number;
    this.#dataDir = parts.dataDir;
    this.#server = parts.server;
    this.#env = {
      DATABASE_URL: parts.server.connectionString,
      SECRETS_KEY: randomBytes(32).toString('base64'),
      WEBHOOK_ALLOW_PRIVATE: 'true',
      PUBLIC_URL: `http://127.0.0.1:${this.port}`,
      ...env,
    };
    this.sql = new pg.Client({ connectionString: parts.server.connectionString });
    const dataDir = join(parts.dataDir, '../program');
    this.#programs = roles.map(
      (role, n) => new Program({ dataDir, port: parts.ports[n] as number, env: this.#env, root: checkout.root, role }),
    );
  }

  static async open(checkout: Checkout, deployment: Deployment = {}): Promise<Side> {
    const dataDir = await newDataDir();
    const server = await startEmbeddedPostgres({ dataDir });
    const ports = await Promise.all((deployment.roles ?? ['start']).map(freePort));
    const side = new Side(checkout, { dataDir, ports, server }, deployment);
    await side.sql.connect();
    await Promise.all(side.#programs.map((program) => program.ready()));
    const owner = ['--name', 'Loja', '--email', 'loja@example.com'];
    const account = JSON.parse(await side.cli('account', 'create', ...owner, '--json')) as { testApiKey: string };
    side.apiKeys = [account.testApiKey];
    if (deployment.accounts) await side.#openAccounts(deployment.accounts);
    return side;
  }

  async #openAccounts(count: number): Promise<void> {
    const keyring = new SecretsKeyring([Buffer.from(this.#env['SECRETS_KEY'] as string, 'base64')]);
    const log = this.#env['EVENTSTORE_URL'] ?? null;
    const storage = await openStorage(this.connectionString, log, keyring, (error) =>
      process.stderr.write(`${error}\n`),
    );
    const tenants = await openTenants(storage, count);
    await storage.close();
    await this.idle();
    this.apiKeys = tenants.map(({ testKey }) => testKey);
  }

  get connectionString(): string {
    return this.#server.connectionString;
  }

  /** Returns the output of the checkout’s command line. Rejects unless it exits with 0. */
  async cli(...words: readonly string[]): Promise<string> {
    const { root } = this.checkout;
    const env = { PATH: process.env['PATH'] ?? '', DATA_DIR: this.#programs[0]!.dataDir, ...this.#env };
    const args = [join(root, 'infrastructure/boot/cli.ts'), ...words];
    return (await run(process.execPath, args, { cwd: root, env })).stdout;
  }

  /** Sends a GET if `body` is undefined, otherwise a POST. */
  async call<T>(path: string, body?: object, headers: Readonly<Record<string, string>> = {}): Promise<T> {
    const response = await fetch(`http://127.0.0.1:${this.port}${path}`, {
      headers: {
        'content-type': 'application/json',
        ...('authorization' in headers ? {} : { apikey: this.apiKeys[0] as string }),
        ...headers,
      },
      ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${this.checkout.name}: ${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as T;
  }

  /** Creates this many Pix charges, of all accounts in turn. */
  async createCharges(count: number, name: string): Promise<readonly Sold[]> {
    return eachOf(
      Array.from({ length: count }, (_, n) => n),
      CONNECTIONS,
      async (n) => {
        const body = { amount: 1_000 + (n % 9_000), payment_method: 'pix', metadata: { order_id: `order-${n}` } };
        const apiKey = this.apiKeys[n % this.apiKeys.length] as string;
        const headers = { apikey: apiKey, 'idempotency-key': `${name}-key-of-charge-${n}` };
        const { id } = await this.call<{ id: string }>('/v1/charges', body, headers);
        return { id, apiKey };
      },
    );
  }

  /** Pays charges in the sandbox. Resolves when all are settled. */
  async pay(charges: readonly Sold[]): Promise<void> {
    await eachOf(charges, CONNECTIONS, async ({ id, apiKey: apikey }) => {
      await this.call(`/v1/sandbox/charges/${id}/pay`, {}, { apikey });
      const status = async () =>
        (await this.call<{ status: string }>(`/v1/charges/${id}`, undefined, { apikey })).status;
      while ((await status()) !== 'paid') await pause(IDLE_LOOK_MS);
    });
  }

  /**
   * Blocks the processes’ reactions to all events during `prepare`. Returns a function that unblocks them. Each process’s current batch
   * waits for its checkpoint, which is locked, and later batches don’t start.
   */
  async heldBack(prepare: () => Promise<void>): Promise<() => Promise<void>> {
    const found = await this.sql.query<{ schema: string }>(
      "SELECT schemaname AS schema FROM pg_tables WHERE tablename = 'checkpoints'",
    );
    await this.sql.query('BEGIN');
    const held = await this.sql.query(
      `SELECT FROM ${found.rows[0]!.schema}.checkpoints WHERE name LIKE 'process/%' FOR UPDATE`,
    );
    if (held.rowCount === 0) throw new Error(`${this.checkout.name} has no checkpoints of processes`);
    await prepare();
    return async () => void (await this.sql.query('COMMIT'));
  }

  /** Returns the CPU time of the gateway’s processes and its database, in milliseconds. */
  async cpuMs(): Promise<Cpu> {
    const { rows } = await this.sql.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    const postmaster = await parentOf(rows[0]!.pid);
    const nodes = await Promise.all(this.#programs.map(({ process }) => cpuMsOf(process.pid!)));
    return { node: nodes.reduce((sum, ms) => sum + ms, 0), postgres: await cpuMsWithChildren(postmaster) };
  }

  /** Runs `work` with all its effects. Returns its result with the CPU in µs for each of the things that `countOf` counts. */
  async withCpu<T>(work: () => Promise<T>, countOf: (result: T) => number): Promise<T & Cpu> {
    const before = await this.cpuMs();
    const result = await work();
    await this.idle();
    const after = await this.cpuMs();
    const each = (part: keyof Cpu): number => ((after[part] - before[part]) * 1_000) / countOf(result);
    return { ...result, node: each('node'), postgres: each('postgres') };
  }

  /** Returns the metric from each process that has it. */
  async metric(name: string): Promise<readonly number[]> {
    const texts = await Promise.all(
      this.#programs.map(async ({ baseUrl }) => (await fetch(`${baseUrl}/metrics`)).text()),
    );
    return texts.flatMap((text) => new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.slice(1).map(Number) ?? []);
  }

  /** Resolves when the gateway and its database are almost idle. */
  async idle(): Promise<void> {
    let before = await this.cpuMs();
    for (let looks = 0; looks < LOOKS_IDLE; ) {
      await pause(IDLE_LOOK_MS);
      const now = await this.cpuMs();
      looks = now.node + now.postgres - before.node - before.postgres <= IDLE_CPU_MS ? looks + 1 : 0;
      before = now;
    }
  }

  async count(text: string): Promise<number> {
    const { rows } = await this.sql.query<{ count: string }>(`SELECT count(*) AS count FROM ${text}`);
    return Number(rows[0]!.count);
  }

  /** Stops the program. The database keeps running. */
  async stopProgram(): Promise<void> {
    await Promise.all(this.#programs.map((program) => program.stop()));
  }

  /** Closes everything. Rejects if the read models differ from a replay of the log: the command line then doesn’t exit with 0. */
  async close(): Promise<void> {
    await this.cli('projections', 'verify');
    await this.discard();
  }

  /** Closes everything without verification. */
  async discard(): Promise<void> {
    await this.stopProgram();
    this.sql.on('error', () => undefined);
    await this.sql.end();
    await this.#server.stop();
    await removeDataDir(this.#dataDir);
  }
}
