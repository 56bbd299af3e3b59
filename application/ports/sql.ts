// A Postgres session or pool, for read models and operational tables. Facts are never written through it.

/**
 * A Postgres session that holds the leadership lock. The leader writes through it, so that a leader without the lock can't commit
 * (architecture §6).
 */
export interface LeaderSession extends Sql {
  transaction<T>(work: (tx: SqlTransaction) => Promise<T>): Promise<T>;
  /** Takes the lock if it is free, and returns whether it did. The lock is held until the session ends for any reason. */
  tryLead(role: string): Promise<boolean>;
  /** Takes part in a role. Returns null while another process leads the role alone. */
  tryShare(role: string): Promise<Share | null>;
  /** Rejects when the connection is lost. Never resolves. */
  readonly lost: Promise<never>;
  close(): Promise<void>;
}

/** A process that takes part in a role. */
export interface Sharer {
  readonly isSelf: boolean;
  /** The work that it can lead. */
  readonly able: readonly string[];
}

/** A process's part in a role whose work several processes share. Each piece of work has its own lock. It ends with the session. */
export interface Share {
  /** The processes that take part and are alive, the oldest first, as of the last look or renewal. */
  readonly sharers: readonly Sharer[];
  /** Publishes the work that this process can lead. */
  publish(able: readonly string[]): Promise<void>;
  /** Updates `sharers`. Ends the sessions of processes that are frozen or cut off. Never rejects: `sharers` then stays as it is. */
  look(): Promise<void>;
  /** Resolves when the next look, or the next renewal of the lease, has updated `sharers`. */
  looked(): Promise<void>;
  /** Takes the locks that are free, until the session ends. Returns their names. Call it between transactions. */
  take(names: readonly string[]): Promise<readonly string[]>;
  /** Gives locks back. Call it between transactions. */
  release(names: readonly string[]): Promise<void>;
}

/** Opens a session. Sessions for derived data commit asynchronously: after a crash, work resumes from the last durable checkpoint. */
export type OpenLeaderSession = (role: string) => Promise<LeaderSession>;

/**
 * A `text[]` parameter for many or large texts, sent in the binary format. A plain array would be sent as one text, with every quote of a
 * JSON escaped, which the server must parse. The statement must contain `::text[]`.
 */
export class TextArray {
  readonly texts: readonly (string | null)[];

  constructor(texts: readonly (string | null)[]) {
    this.texts = texts;
  }
}

/** A `bigint[]` parameter of at least one safe integer, sent in the binary format. The statement must contain `::bigint[]`. */
export class IntegerArray {
  readonly integers: readonly number[];

  constructor(integers: readonly number[]) {
    this.integers = integers;
  }
}

export interface SqlStatement {
  readonly text: string;
  readonly values?: readonly unknown[];
  /** Prepared under this name on each connection. Statements with the same name must have the same text. */
  readonly name?: string;
}
export interface SqlResult<Row> {
  readonly rows: Row[];
  readonly rowCount: number;
}
export interface Sql {
  query<Row = Record<string, unknown>>(
    statement: SqlStatement | string,
    values?: readonly unknown[],
  ): Promise<SqlResult<Row>>;
}
/** The session of a transaction that is open. */
export interface SqlTransaction extends Sql {
  /** Calls the listener once, when the server has committed the transaction, or when it was rolled back or its end is unknown. */
  onEnd(listener: (isCommitted: boolean) => void): void;
}
export interface SqlPool extends Sql {
  /**
   * Runs `work` in one transaction on one connection. Commits if it resolves, rolls back if it rejects. `begin`: the first statement, to
   * use another isolation level than the database's default.
   */
  transaction<T>(work: (tx: SqlTransaction) => Promise<T>, begin?: string): Promise<T>;
}

/** Whether the statement was refused a lock within `lock_timeout`, or at once with NOWAIT. */
export const isLockUnavailable = (error: unknown): boolean => (error as { code?: unknown }).code === '55P03';

/** Returns SQL that formats an instant column as a timestamp. */
export const asTimestamp = (column: string): string =>
  `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
