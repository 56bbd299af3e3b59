// A log with real payments, and consumers that record in a table what they take. Its primary key allows each event only once.

import { randomBytes, randomUUID } from 'node:crypto';
import type { LogConsumer } from '../../../application/ports/consumers.ts';
import type { EventStore, Position } from '../../../application/ports/eventStore.ts';
import type { LoggedEvent } from '../../../application/ports/loggedEvent.ts';
import type { LeaderSession, OpenLeaderSession, Sql } from '../../../application/ports/sql.ts';
import { type AccountId, encodeRawId, type PaymentId, type StreamName } from '../../../domain/kernel/ids.ts';
import { PAYMENT } from '../../../domain/payment/aggregate.ts';
import type { PaymentEvent } from '../../../domain/payment/payment.ts';
import { leaderSessions } from '../../../infrastructure/postgres/leaderSession.ts';
import { LOCK_CLASS } from '../../../infrastructure/postgres/leases.ts';
import { NotificationListener } from '../../../infrastructure/postgres/notificationListener.ts';
import { connectionConfig } from '../../../infrastructure/postgres/session.ts';
import { LogProgress } from '../../../infrastructure/subscriptions/progress.ts';
import type { CheckpointMismatch } from '../../../projections/engine/checkpoints.ts';
import type { ParkedStream } from '../../../projections/engine/parkedStreams.ts';
import { Subscriptions } from '../../../projections/engine/subscriptions.ts';
import type { SubscriptionsOptions } from '../../../projections/engine/subscriptionsOptions.ts';
import { appendUntilAnswered } from '../../conformance/eventStore/harness.ts';
import { type Backends, watchBackends } from '../../infrastructure/postgres/backends.ts';
import { testCodec } from '../../support/dataKeys.ts';
import { createPostgresEventLog, type PostgresEventLog } from '../../support/postgresEventLog.ts';
import { ACCOUNT_ID, created, issued, settled } from '../../support/samples.ts';

export const newPaymentId = (): PaymentId => encodeRawId(randomBytes(16)) as PaymentId;

/** The positions that each consumer took. */
const TAKEN = `CREATE TABLE taken (consumer text, position text COLLATE "C", PRIMARY KEY (consumer, position))`;

export class Scene {
  readonly log: PostgresEventLog;
  readonly store: EventStore;
  readonly codec = testCodec();
  readonly backends: Backends;
  readonly openSession: OpenLeaderSession;

  private constructor(log: PostgresEventLog, store: EventStore, backends: Backends) {
    this.log = log;
    this.store = store;
    this.backends = backends;
    this.openSession = leaderSessions(connectionConfig(log.connectionString, 'test'));
  }

  static async open(): Promise<Scene> {
    const log = await createPostgresEventLog();
    await log.sql.query(TAKEN);
    return new Scene(log, await log.connect(), await watchBackends(log.connectionString));
  }

  async close(): Promise<void> {
    await this.backends.close();
    await this.log.dispose();
  }

  /** Opens the same log as another process would: events appended there are not in this store’s memory. */
  async elsewhere(): Promise<Scene> {
    return new Scene(this.log, await this.log.connect(), this.backends);
  }

  /** Listens to the notices of this database. */
  async listen(): Promise<{ readonly notices: NotificationListener; readonly close: () => Promise<void> }> {
    const notices = new NotificationListener(connectionConfig(this.log.connectionString, 'notices'));
    await notices.open();
    return { notices, close: () => notices.close() };
  }

  /** Appends one payment: created, issued and settled, or the given events, the first of which must create it. */
  async appendPayment(paymentId = newPaymentId(), over: readonly PaymentEvent[] | null = null): Promise<PaymentId> {
    const events = over ?? [created({ paymentId }), issued(), settled()];
    await this.append(PAYMENT.stream(paymentId), -1, events);
    return paymentId;
  }

  async append(
    stream: StreamName,
    expected: number,
    events: readonly PaymentEvent[],
    account: AccountId = ACCOUNT_ID,
  ): Promise<void> {
    const why = {
      account,
      mode: 'test' as const,
      actor: 'operator:test',
      requestId: null,
      correlationId: 'x',
      causationId: 'x',
    };
    const append = {
      serde: PAYMENT.serde,
      stream,
      after: expected,
      events,
      commandId: randomUUID(),
      metadata: why,
    } as const;
    const answer = await appendUntilAnswered(this.store, stream, expected, await this.codec.encode(append));
    if (!answer.ok) throw new Error(`${stream} stands at ${answer.actual}`);
  }

  async appendPayments(count: number): Promise<void> {
    await Promise.all(Array.from({ length: count }, () => this.appendPayment()));
  }

  /** Returns all positions of the log, or those of one category. */
  async positions(category = '%'): Promise<string[]> {
    const text = `SELECT lpad(position::text, 19, '0') AS position FROM event_store.events WHERE split_part(stream, '-', 1) LIKE $1 ORDER BY 1`;
    return (await this.log.sql.query<{ position: string }>(text, [category])).rows.map(({ position }) => position);
  }

  async taken(consumer: string): Promise<string[]> {
    const text = 'SELECT position FROM taken WHERE consumer = $1 ORDER BY position';
    return (await this.log.sql.query<{ position: string }>(text, [consumer])).rows.map(({ position }) => position);
  }

  async checkpoint(name: string): Promise<string | null | undefined> {
    const text = 'SELECT position FROM subscriptions.checkpoints WHERE name = $1';
    return (await this.log.sql.query<{ position: string | null }>(text, [name])).rows[0]?.position;
  }

  /** Returns the id of the event at the checkpoint. */
  async eventId(name: string): Promise<string | null | undefined> {
    const text = 'SELECT event_id FROM subscriptions.checkpoints WHERE name = $1';
    return (await this.log.sql.query<{ event_id: string | null }>(text, [name])).rows[0]?.event_id;
  }

  /** Ends the database connection of the projector that leads this consumer. Returns false if no process leads it. */
  async cutLeader(consumer: string): Promise<boolean> {
    const text = `SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted AND classid = $1
      AND objid = (hashtext($2)::bigint & 4294967295)::oid AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
    return ((await this.log.sql.query(text, [LOCK_CLASS, `projector ${consumer}`])).rowCount ?? 0) > 0;
  }
}

/** Returns a consumer that records payments in `taken`. `before` runs first, in the same transaction. */
export const taker = (
  name: string,
  before: (events: readonly LoggedEvent[], tx: Sql) => Promise<void> | void = () => undefined,
): LogConsumer => ({
  name,
  categories: ['payment'],
  reset: async () => undefined,
  apply: async (events, tx) => {
    await before(events, tx);
    await tx.query('INSERT INTO taken SELECT $1, unnest($2::text[])', [name, events.map(({ position }) => position)]);
  },
});

/** Runs subscriptions and records everything that they report. */
export class Followed {
  readonly subscriptions: Subscriptions;
  readonly faults: string[] = [];
  readonly restarts: Error[] = [];
  readonly moves: Position[] = [];
  readonly parked: ParkedStream[] = [];
  /** Streams whose retry took all their events. */
  readonly taken: string[] = [];
  readonly mismatch: Promise<CheckpointMismatch>;
  readonly #progress: LogProgress;
  readonly #store: EventStore;

  constructor(scene: Scene, options: Partial<SubscriptionsOptions> & Pick<SubscriptionsOptions, 'consumers'>) {
    this.#store = scene.store;
    this.#progress = new LogProgress(
      () => performance.now(),
      options.consumers.map(({ name }) => name),
    );
    scene.store.onRestored((head) => this.#progress.reset(head));
    let mismatched: (error: CheckpointMismatch) => void;
    this.mismatch = new Promise((resolve) => {
      mismatched = resolve;
    });
    this.subscriptions = new Subscriptions({
      role: 'projector',
      store: scene.store,
      codec: scene.codec,
      openSession: scene.openSession,
      onMoved: (names, position, idle) => {
        this.moves.push(position);
        this.#progress.moved(names, position, idle);
      },
      onParked: (streams) => this.parked.push(...streams),
      onTaken: (consumer, stream) => this.taken.push(`${consumer} ${stream}`),
      onFault: (name, error) => this.faults.push(`${name}: ${error.message}`),
      onRestart: (error) => this.restarts.push(error),
      onMismatch: (error) => mismatched(error),
      ...options,
    });
    this.subscriptions.start();
  }

  /** Waits until all present events are taken. Rejects after `timeoutMs`. */
  async caughtUp(timeoutMs = 30_000): Promise<void> {
    const head = await this.#store.head();
    if (head !== null) this.#progress.sawHead(head);
    if (!(await this.#progress.caughtUp(timeoutMs)))
      throw new Error(`not at ${head} within ${timeoutMs} ms, but at ${this.#progress.position}`);
  }

  stop(): Promise<void> {
    return this.subscriptions.stop();
  }
}

/** A gate that stays shut until `open()` is called. `reached` resolves when something waits at it. */
export class Gate {
  readonly reached: Promise<void>;
  readonly #opened: Promise<void>;
  #reach: () => void = () => undefined;
  #open: () => void = () => undefined;

  constructor() {
    this.reached = new Promise((resolve) => {
      this.#reach = resolve;
    });
    this.#opened = new Promise((resolve) => {
      this.#open = resolve;
    });
  }

  pass(): Promise<void> {
    this.#reach();
    return this.#opened;
  }
  open(): void {
    this.#open();
  }
}

/** Opens sessions whose transactions call `beforeCommit` when everything is written, just before the commit. */
export const interceptingCommits =
  (open: OpenLeaderSession, beforeCommit: () => Promise<void> | void): OpenLeaderSession =>
  async (role) => {
    const session = await open(role);
    return {
      ...bound(session),
      transaction: (work) =>
        session.transaction(async (tx) => {
          const result = await work(tx);
          await beforeCommit();
          return result;
        }),
    };
  };

/** Opens sessions that call `beforeLook` before they check for parked streams to retry. */
export const interceptingLooks =
  (open: OpenLeaderSession, beforeLook: (session: LeaderSession) => Promise<void>): OpenLeaderSession =>
  async (role) => {
    const session = await open(role);
    return {
      ...bound(session),
      query: async (statement, values) => {
        if (String(statement).includes('WHERE retry_asked_at')) await beforeLook(session);
        return session.query(statement, values);
      },
    };
  };

/** Returns whether the statement moves checkpoints. */
const isMove = (statement: Parameters<Sql['query']>[0]): statement is Exclude<typeof statement, string> =>
  typeof statement !== 'string' && statement.name?.startsWith('move_checkpoints') === true;

/** Opens sessions that add to `moves` the checkpoint names of each statement that moves checkpoints. */
export const notingMoves =
  (open: OpenLeaderSession, moves: (readonly string[])[]): OpenLeaderSession =>
  async (role) => {
    const session = await open(role);
    const noting = (sql: Sql): Sql => ({
      query: (statement, values) => {
        if (isMove(statement)) moves.push(statement.values?.[1] as readonly string[]);
        return sql.query(statement, values);
      },
    });
    return {
      ...bound(session),
      ...noting(session),
      transaction: (work) => session.transaction((tx) => work({ ...tx, ...noting(tx) })),
    };
  };

/** Opens sessions that call `before` before they store the positions of idle consumers. */
export const beforeStoring =
  (open: OpenLeaderSession, before: () => Promise<void>): OpenLeaderSession =>
  async (role) => {
    const session = await open(role);
    return {
      ...bound(session),
      query: async (statement, values) => {
        if (isMove(statement)) await before();
        return session.query(statement, values);
      },
    };
  };

const bound = (session: LeaderSession): LeaderSession => ({
  lost: session.lost,
  query: session.query.bind(session),
  transaction: session.transaction.bind(session),
  tryLead: session.tryLead.bind(session),
  tryShare: session.tryShare.bind(session),
  close: session.close.bind(session),
});
