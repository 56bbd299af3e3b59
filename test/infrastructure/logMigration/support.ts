// A database, an EventStoreDB test server, and moves between them that end where a test wants.
import type { EventStore, Position } from '../../../application/ports/eventStore.ts';
import type { LeaderSession } from '../../../application/ports/sql.ts';
import { openMigratableEventStoreDbLog } from '../../../infrastructure/eventStore/eventStoreDb/eventStoreDb.ts';
import type { MigratableLog } from '../../../infrastructure/eventStore/logState.ts';
import { openMigratablePostgresLog } from '../../../infrastructure/eventStore/postgres/migratableLog.ts';
import { named } from '../../../infrastructure/logMigration/alone.ts';
import { type MoveProgress, type MoveReport, moveLog } from '../../../infrastructure/logMigration/moveLog.ts';
import { leaderSessions } from '../../../infrastructure/postgres/leaderSession.ts';
import { connectionConfig } from '../../../infrastructure/postgres/session.ts';
import { readAllCheckpoints } from '../../../projections/engine/checkpoints.ts';
import { EventStoreDbServer } from '../../support/eventStoreDb/server.ts';
import { loseFacts } from '../../support/lostFacts.ts';
import { migratedDatabase, type TestDatabase } from '../../world/postgres.ts';
import { movedEvent } from '../eventStore/movedEvents.ts';

export type Direction = 'to' | 'from';
export interface Logs {
  readonly postgres: MigratableLog;
  readonly eventStoreDb: MigratableLog;
}
export const sourceAndTarget = (
  direction: Direction,
  { postgres, eventStoreDb }: Logs,
): [MigratableLog, MigratableLog] => (direction === 'to' ? [postgres, eventStoreDb] : [eventStoreDb, postgres]);

const nobody = (): void => undefined;
const closeBoth = async ({ postgres, eventStoreDb }: Logs): Promise<void> => {
  await Promise.all([postgres.close(), eventStoreDb.close()]);
};

export class MovingWorld {
  readonly database: TestDatabase;
  readonly session: LeaderSession;
  #server: EventStoreDbServer;
  #logs: Logs | null = null;

  private constructor(database: TestDatabase, session: LeaderSession, server: EventStoreDbServer) {
    this.database = database;
    this.session = session;
    this.#server = server;
  }

  static async open(): Promise<MovingWorld> {
    const database = await migratedDatabase();
    const session = await leaderSessions(connectionConfig(named(database.connectionString), 'test'))('test');
    return new MovingWorld(database, session, await EventStoreDbServer.start());
  }

  get server(): EventStoreDbServer {
    return this.#server;
  }

  /** Resets both logs to empty logs with new identities. */
  async reset(): Promise<void> {
    await this.leave();
    await this.#server.stop();
    this.#server = await EventStoreDbServer.start();
    await loseFacts(this.session, 'TRUNCATE event_store.events, subscriptions.checkpoints');
    await this.session.query(
      "UPDATE event_store.store SET id = gen_random_uuid()::text, use = 'inUse', other_id = NULL, other_address = NULL",
    );
  }

  async close(): Promise<void> {
    await this.leave();
    await this.session.close();
    await this.server.stop();
    await this.database.drop();
  }

  /** Runs `work` with both logs, to fill and to read them. */
  async with<T>(work: (logs: Logs) => Promise<T>): Promise<T> {
    this.#logs ??= await this.#open();
    return await work(this.#logs);
  }

  /** Runs one move, which opens both logs as a separate process does. If `onProgress` throws, the move ends there. */
  async run(
    direction: Direction,
    onProgress: (progress: MoveProgress) => void = nobody,
    { signal } = new AbortController(),
  ): Promise<MoveReport> {
    const logs = await this.#open();
    try {
      const [source, target] = sourceAndTarget(direction, logs);
      const alone = async (): Promise<void> => undefined;
      return await moveLog({ source, target, session: this.session, assertAlone: alone, signal, onProgress });
    } finally {
      await closeBoth(logs);
    }
  }

  /** Appends the events `from` to `to` (exclusive) as a program would. */
  async fill({ store }: MigratableLog, from: number, to: number): Promise<Position[]> {
    const positions: Position[] = [];
    for (let n = from; n < to; n++) {
      const { stream, revision, id, type, data, metadata } = movedEvent(n);
      const result = await store.append(stream, revision - 1, [{ id, type, data, metadata }]);
      if (!result.ok || result.position === null) throw new Error(`event ${n} was not appended`);
      positions.push(result.position);
    }
    return positions;
  }

  /** Closes the logs that `with` opened. */
  async leave(): Promise<void> {
    if (this.#logs !== null) await closeBoth(this.#logs);
    this.#logs = null;
  }

  async #open(): Promise<Logs> {
    const [postgres, eventStoreDb] = await Promise.all([
      openMigratablePostgresLog(this.database.connectionString, nobody),
      openMigratableEventStoreDbLog(this.server.connectionString, nobody),
    ]);
    return { postgres, eventStoreDb };
  }

  /** Returns the checkpoints as `name: store id @ position, event id`. */
  async checkpoints(): Promise<string[]> {
    return (await readAllCheckpoints(this.session)).map(
      (each) => `${each.name}: ${each.storeId} @ ${each.position}, ${each.eventId}`,
    );
  }
}

/** Returns all events without their positions. */
export const eventsOf = async (store: EventStore) => {
  const events = [];
  for await (const batch of store.subscribe({ after: null, categories: null, signal: new AbortController().signal })) {
    if (batch.kind === 'events') events.push(...batch.events.map(({ position: _, ...event }) => event));
    if (batch.kind === 'caughtUp') break;
  }
  return events;
};
