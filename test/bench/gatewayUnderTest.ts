// The gateway as it is run: a process of its own with its embedded database, and a look into that database from outside.
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { JsonEventCodec } from '../../application/core/eventCodec.ts';
import type { EventStore } from '../../application/ports/eventStore.ts';
import { attachToEmbeddedPostgres } from '../../infrastructure/embeddedPostgres/embeddedPostgres.ts';
import { openEventStoreDb } from '../../infrastructure/eventStore/eventStoreDb/eventStoreDb.ts';
import { openPostgresEventStore } from '../../infrastructure/eventStore/postgres/store.ts';
import { leaderSessions } from '../../infrastructure/postgres/leaderSession.ts';
import { connectionConfig } from '../../infrastructure/postgres/session.ts';
import { verify } from '../../projections/engine/verify.ts';
import { PROJECTIONS } from '../../projections/registry.ts';
import { freePort, newDataDir, Program, removeDataDir } from '../support/program.ts';
import type { EventStoreDbUnderTest } from './logUnderTest.ts';

const LOOK_EVERY_MS = 20;

export class GatewayUnderTest {
  readonly port: number;
  readonly apiKey: string;
  readonly connectionString: string;
  readonly sql: pg.Client;
  readonly store: EventStore;
  readonly #program: Program;

  private constructor(parts: {
    port: number;
    apiKey: string;
    connectionString: string;
    sql: pg.Client;
    store: EventStore;
    program: Program;
  }) {
    this.port = parts.port;
    this.apiKey = parts.apiKey;
    this.connectionString = parts.connectionString;
    this.sql = parts.sql;
    this.store = parts.store;
    this.#program = parts.program;
  }

  /** `eventStoreDb`: holds the log; default: the embedded database. */
  static async start(eventStoreDb: EventStoreDbUnderTest | null = null): Promise<GatewayUnderTest> {
    const dataDir = await newDataDir();
    const port = await freePort();
    const env: Record<string, string> = eventStoreDb === null ? {} : { EVENTSTORE_URL: eventStoreDb.url };
    const program = await new Program({ dataDir, port, env }).ready();
    const { testApiKey: apiKey } = await program.demo();
    const connectionString = await attachToEmbeddedPostgres(dataDir);
    const sql = new pg.Client({ connectionString });
    await sql.connect();
    const store =
      eventStoreDb === null
        ? await openPostgresEventStore({ connectionString, poolSize: 1 })
        : await openEventStoreDb({ connectionString: eventStoreDb.url });
    return new GatewayUnderTest({ port, apiKey, connectionString, sql, store, program });
  }

  async call<T>(path: string, body: unknown, idempotencyKey = ''): Promise<T> {
    const headers = {
      apikey: this.apiKey,
      'content-type': 'application/json',
      ...(idempotencyKey && { 'idempotency-key': idempotencyKey }),
    };
    const response = await fetch(`http://127.0.0.1:${this.port}${path}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
    return (await response.json()) as T;
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

  /** Until the log has grown to that many events and every read model and process has passed them. */
  async levelAt(events: number): Promise<void> {
    for (;;) {
      const { rows } = await this.sql.query<{ least: string | null }>(
        'SELECT min(coalesce(position, $1)) AS least FROM subscriptions.checkpoints',
        ['0'],
      );
      if (Number(rows[0]!.least) >= events && (await this.head()) >= events) return;
      await pause(LOOK_EVERY_MS);
    }
  }

  /** Until every read model and process has passed what the log holds when it is asked. */
  async level(): Promise<void> {
    const head = await this.store.head();
    for (;;) {
      const { rows } = await this.sql.query<{ least: string }>(
        `SELECT min(coalesce(position, '') COLLATE "C") AS least FROM subscriptions.checkpoints`,
      );
      if (head === null || rows[0]!.least >= head) return;
      await pause(LOOK_EVERY_MS);
    }
  }

  /** Rejects unless the read models equal a replay of the log. Returns how many rows were compared. */
  async verified(): Promise<number> {
    const openSession = leaderSessions(connectionConfig(this.connectionString, 'quita bench'));
    const { rows, differences } = await verify(
      PROJECTIONS,
      { store: this.store, codec: new JsonEventCodec() },
      openSession,
    );
    if (differences.length > 0)
      throw new Error(`verify found ${differences.length} differences: ${JSON.stringify(differences[0])}`);
    return rows;
  }

  async stop(): Promise<void> {
    await this.store.close();
    this.sql.on('error', () => undefined);
    await this.sql.end();
    await this.#program.stop();
    await removeDataDir(this.#program.dataDir);
  }
}
