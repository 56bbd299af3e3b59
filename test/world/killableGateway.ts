// Runs the program so that a test can kill it with SIGKILL and restart it on the same data. Its merchant retries each request until it
// succeeds.
import { readFile } from 'node:fs/promises';
import { request } from 'undici';
import { cli, freePort, newDataDir, Program, removeDataDir } from './program.ts';

const ANSWER_MS = 20_000;

export interface Answer {
  readonly status: number;
  readonly text: string;
  readonly replayed: boolean;
}

export class KillableGateway {
  readonly dataDir: string;
  readonly #port: number;
  readonly #env: Readonly<Record<string, string>>;
  readonly #apikey: string;
  readonly #giveUpAtMs: number;
  #program: Program;
  /** Resolves when the program is up again. */
  #up: Promise<unknown> = Promise.resolve();

  private constructor(parts: {
    dataDir: string;
    port: number;
    env: Readonly<Record<string, string>>;
    apikey: string;
    giveUpAtMs: number;
    program: Program;
  }) {
    this.dataDir = parts.dataDir;
    this.#port = parts.port;
    this.#env = parts.env;
    this.#apikey = parts.apikey;
    this.#giveUpAtMs = parts.giveUpAtMs;
    this.#program = parts.program;
  }

  /** After `patienceMs`, `insist` rejects, so that no request continues into later tests. */
  static async open(
    patienceMs: number,
    env: Readonly<Record<string, string>> = {},
    mode: 'test' | 'live' = 'test',
  ): Promise<KillableGateway> {
    const dataDir = await newDataDir();
    const port = await freePort();
    const program = await new Program({ dataDir, port, env }).ready();
    const { testApiKey, liveApiKey } = await program.demo();
    const apikey = mode === 'test' ? testApiKey : liveApiKey;
    return new KillableGateway({ dataDir, port, env, apikey, giveUpAtMs: performance.now() + patienceMs, program });
  }

  get baseUrl(): string {
    return this.#program.baseUrl;
  }

  /** Returns the program's resident memory in MB, without its database. */
  async residentMb(): Promise<number> {
    const status = await readFile(`/proc/${this.#program.process.pid}/status`, 'utf8');
    return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
  }

  /** Kills the whole process group, restarts the program, and resolves when it is ready. */
  async killAndRestart(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#up = promise;
    try {
      await this.#program.kill9();
      this.#program = await new Program({ dataDir: this.dataDir, port: this.#port, env: this.#env }).ready();
    } finally {
      resolve();
    }
  }

  /** Retries the same request until the status is below 500. */
  async insist(method: 'GET' | 'POST', path: string, body?: unknown, key?: string): Promise<Answer> {
    for (;;) {
      if (performance.now() > this.#giveUpAtMs) throw new Error(`${method} ${path} was repeated for too long`);
      const answer = await this.#once(method, path, body, key).catch(() => null);
      if (answer && answer.status < 500) return answer;
      await this.#up; // resolves at once if the program is up and only an old connection failed
    }
  }

  /** Resolves when no delivery is due. */
  async flushDeliveries(): Promise<void> {
    for (let pending = 1; pending > 0; )
      ({ pending } = JSON.parse((await this.insist('POST', '/v1/sandbox/deliveries/flush', {})).text) as {
        pending: number;
      });
  }

  cli(args: readonly string[]): Promise<unknown> {
    // The command line reads the address of the program from the same environment.
    return cli(this.dataDir, args, { PORT: String(this.#port), ...this.#env });
  }

  async close(): Promise<void> {
    await this.#program.stop();
    await removeDataDir(this.dataDir);
  }

  async #once(method: 'GET' | 'POST', path: string, body: unknown, key: string | undefined): Promise<Answer> {
    const answer = await request(`http://127.0.0.1:${this.#port}${path}`, {
      method,
      headers: {
        apikey: this.#apikey,
        ...(key && { 'idempotency-key': key }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      bodyTimeout: ANSWER_MS,
      headersTimeout: ANSWER_MS,
    });
    return {
      status: answer.statusCode,
      text: await answer.body.text(),
      replayed: answer.headers['idempotent-replayed'] === 'true',
    };
  }
}
