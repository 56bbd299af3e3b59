// The gateway as in production: a process of its own with its embedded database, which the bench also reads directly.

import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import type { EventLog } from '../../application/ports/eventCodec.ts';
import type { EventStore } from '../../application/ports/eventStore.ts';
import { attachToEmbeddedPostgres } from '../../infrastructure/embeddedPostgres/embeddedPostgres.ts';
import { openEventStoreDb } from '../../infrastructure/eventStore/eventStoreDb/eventStoreDb.ts';
import { openPostgresEventStore } from '../../infrastructure/eventStore/postgres/store.ts';
import { leaderSessions } from '../../infrastructure/postgres/leaderSession.ts';
import { connectionConfig } from '../../infrastructure/postgres/session.ts';
import { verify } from '../../projections/engine/verify.ts';
import { PROJECTIONS } from '../../projections/registry.ts';
import { runWordsIn } from '../support/cli.ts';
import { type ProgramCodec, programCodec } from '../support/programLog.ts';
import { freePort, newDataDir, Program, removeDataDir } from '../world/program.ts';
import { openTenants, type TestTenant } from '../world/tenants.ts';
import { cpuMsOf, cpuMsWithChildren, parentOf } from './cpu.ts';
import type { EventStoreDbUnderTest } from './logUnderTest.ts';

const LOOK_EVERY_MS = 20;
const WAITING_REACTORS = "pg_stat_activity WHERE application_name = 'quita reactor' AND wait_event_type = 'Lock'";

export class GatewayUnderTest {
  readonly port: number;
  readonly apiKey: string;
  readonly liveApiKey: string;
  /** The owner of the demo account. */
  readonly user: { readonly email: string; readonly password: string };
  readonly connectionString: string;
  readonly sql: pg.Client;
  readonly store: EventStore;
  readonly #program: Program;
  readonly #codec: ProgramCodec;

  private constructor(parts: {
    port: number;
    apiKey: string;
    liveApiKey: string;
    user: { readonly email: string; readonly password: string };
    connectionString: string;
    sql: pg.Client;
    store: EventStore;
    program: Program;
    codec: ProgramCodec;
  }) {
    this.port = parts.port;
    this.apiKey = parts.apiKey;
    this.liveApiKey = parts.liveApiKey;
    this.user = parts.user;
    this.connectionString = parts.connectionString;
    this.sql = parts.sql;
    this.store = parts.store;
    this.#program = parts.program;
    this.#codec = parts.codec;
  }

  /** `eventStoreDb` holds the log. Default: the embedded database. */
  static async start(eventStoreDb: EventStoreDbUnderTest | null = null): Promise<GatewayUnderTest> {
    const dataDir = await newDataDir();
    const port = await freePort();
    const env: Record<string, string> = eventStoreDb === null ? {} : { EVENTSTORE_URL: eventStoreDb.url };
    const program = await new Program({ dataDir, port, env }).ready();
    const { testApiKey: apiKey, liveApiKey, email, password } = await program.demo();
    const user = { email, password };
    const connectionString = await attachToEmbeddedPostgres(dataDir);
    const sql = new pg.Client({ connectionString });
    await sql.connect();
    const store =
      eventStoreDb === null
        ? await openPostgresEventStore({ connectionString, poolSize: 1 })
        : await openEventStoreDb({ connectionString: eventStoreDb.url });
    const codec = await programCodec(connectionString, dataDir, eventStoreDb === null);
    return new GatewayUnderTest({ port, apiKey, liveApiKey, user, connectionString, sql, store, program, codec });
  }

  get log(): EventLog {
    return { store: this.store, codec: this.#codec.codec };
  }

  /** Opens this many accounts and returns their keys; null: returns the demo account’s key. */
  async tenants(count: number | null): Promise<readonly Pick<TestTenant, 'testKey' | 'liveKey'>[]> {
    return count === null ? [{ testKey: this.apiKey, liveKey: this.liveApiKey }] : this.openTenants(count);
  }

  async openTenants(count: number): Promise<readonly TestTenant[]> {
    const tenants = await openTenants(this.log, count);
    await this.projected();
    return tenants;
  }

  /** Sends a GET if `body` is undefined, otherwise a POST. `apiKey`: default the demo account’s key. */
  async call<T>(path: string, body?: unknown, options: { idempotencyKey?: string; apiKey?: string } = {}): Promise<T> {
    const { idempotencyKey, apiKey = this.apiKey } = options;
    const headers = {
      apikey: apiKey,
      'content-type': 'application/json',
      ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
    };
    const response = await fetch(`http://127.0.0.1:${this.port}${path}`, {
      headers,
      ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
    return (await response.json()) as T;
  }

  /** Returns the JSON that the command line prints. */
  async cli<T>(...words: readonly string[]): Promise<T> {
    const { code, err, json } = await runWordsIn<T>({ DATA_DIR: this.#program.dataDir }, ...words, '--json');
    if (code !== 0) throw new Error(`${words.join(' ')}: ${err}`);
    return json;
  }

  async count(text: string): Promise<number> {
    const { rows } = await this.sql.query<{ count: string }>(`SELECT count(*) AS count FROM ${text}`);
    return Number(rows[0]!.count);
  }

  async head(): Promise<number> {
    const { rows } = await this.sql.query<{ head: string }>(
      'SELECT coalesce(max(position), 0) AS head FROM event_store.events',
    );
    return Number(rows[0]!.head);
  }

  /** Resolves when the log has this many events and all read models and processes have handled them. */
  async caughtUpAt(events: number): Promise<void> {
    for (;;) {
      const { rows } = await this.sql.query<{ least: string | null }>(
        'SELECT min(coalesce(position, $1)) AS least FROM subscriptions.checkpoints WHERE partitions IS NULL',
        ['0'],
      );
      if (Number(rows[0]!.least) >= events && (await this.head()) >= events) return;
      await pause(LOOK_EVERY_MS);
    }
  }

  /** Resolves when all read models and processes have handled every event that the log has at the call. */
  async caughtUp(): Promise<void> {
    const head = await this.store.head();
    for (;;) {
      const { rows } = await this.sql.query<{ least: string }>(
        `SELECT min(coalesce(position, '') COLLATE "C") AS least FROM subscriptions.checkpoints WHERE partitions IS NULL`,
      );
      if (head === null || rows[0]!.least >= head) return;
      await pause(LOOK_EVERY_MS);
    }
  }

  /** Resolves when all read models have handled every event that the log has at the call. Processes may be behind. */
  async projected(): Promise<void> {
    const head = await this.store.head();
    const names = PROJECTIONS.map(({ name }) => name);
    for (;;) {
      const { rows } = await this.sql.query<{ behind: string }>(
        `SELECT count(*) AS behind FROM subscriptions.checkpoints
          WHERE coalesce(consumer, name) = ANY ($1) AND partitions IS NULL AND coalesce(position, '') COLLATE "C" < $2`,
        [names, head ?? ''],
      );
      if (Number(rows[0]!.behind) === 0) return;
      await pause(LOOK_EVERY_MS);
    }
  }

  /**
   * Blocks all processes’ reactions to the events that `prepare` appends. Returns a function that unblocks them. `first` appends an event
   * that every process handles without effect. That event’s batch waits for its checkpoint, and no later batch starts.
   */
  async heldBack(first: () => Promise<void>, prepare: () => Promise<void>): Promise<() => Promise<void>> {
    await this.sql.query('BEGIN');
    await this.sql.query("SELECT FROM subscriptions.checkpoints WHERE name LIKE 'process/%' FOR UPDATE");
    await first();
    while ((await this.count(WAITING_REACTORS)) === 0) await pause(LOOK_EVERY_MS);
    await prepare();
    return async () => void (await this.sql.query('COMMIT'));
  }

  /** Returns the CPU time of the gateway’s process and its database, in milliseconds. */
  async cpuMs(): Promise<{ readonly node: number; readonly postgres: number }> {
    const { rows } = await this.sql.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    const postmaster = await parentOf(rows[0]!.pid);
    return { node: await cpuMsOf(this.#program.process.pid!), postgres: await cpuMsWithChildren(postmaster) };
  }

  /** Rejects if the read models differ from a replay of the log. Returns the number of rows compared. */
  async verified(): Promise<number> {
    const openSession = leaderSessions(connectionConfig(this.connectionString, 'quita bench'));
    const { rows, differences } = await verify(PROJECTIONS, this.log, openSession);
    if (differences.length > 0)
      throw new Error(`verify found ${differences.length} differences: ${JSON.stringify(differences[0])}`);
    return rows;
  }

  async stop(): Promise<void> {
    await this.store.close();
    await this.#codec.close();
    this.sql.on('error', () => undefined);
    await this.sql.end();
    await this.#program.stop();
    await removeDataDir(this.#program.dataDir);
  }
}
