// Operators' view of the consumers of the log: read models and processes (architecture §7).
import type { StreamName } from '../../domain/kernel/ids.ts';
import type { Position } from './eventStore.ts';
import type { LoggedEvent } from './loggedEvent.ts';
import type { Sql, SqlTransaction } from './sql.ts';

// --- A consumer of the log: a read model or a process manager (architecture §6, §7) ---

export interface LogConsumer {
  /** Also the name of its checkpoint. */
  readonly name: string;
  readonly categories: readonly string[];
  /** Discards state kept between batches. Called after gaining leadership and after a rolled-back batch. */
  reset(db: Sql): Promise<void>;
  /**
   * Applies the events, in the transaction that also moves the checkpoint. Events arrive in log order, each once after the checkpoint. If
   * an event makes it throw, the event's stream is parked. If no event is the cause, this consumer is retried from the same position.
   * Other consumers continue. Statements of other consumers run in between, in the same transaction: use only tables of its own and no
   * savepoints, and await every statement.
   */
  apply(events: readonly LoggedEvent[], tx: SqlTransaction): Promise<void>;
  /** Whether decisions read its checkpoint. Otherwise it may stay behind for a moment while there is nothing to apply. Default: no. */
  readonly isDecidedOn?: boolean;
  /**
   * Returns a consumer for one of so many partitions, which shares no memory with this one. Absent: its rows or effects don't belong to one
   * account each, so it can't be divided.
   */
  readonly ofPartition?: (partitions: number) => LogConsumer;
}

/** A stream that a read model or process stopped processing after an error. */
export interface ParkedRow {
  readonly consumer: string;
  readonly stream: string;
  /** null: neither the event nor the first event of its stream names the account. */
  readonly account: string | null;
  readonly mode: string | null;
  /** Revision of the first event that was not processed. */
  readonly revision: number;
  readonly eventId: string;
  readonly eventType: string;
  /** Contains no personal data. */
  readonly error: string;
  readonly parkedAt: string;
}

/** The result of retrying a parked stream. */
export interface TakenUp {
  readonly consumer: string;
  readonly stream: string;
  /** `waiting`: the leader has not retried it yet; the request stays stored. */
  readonly outcome: 'taken' | 'parked' | 'waiting';
  /** Revision of the event at which it is parked now; null if it is not parked. */
  readonly revision: number | null;
  readonly error: string | null;
}

/** Selects parked streams. null: any. */
export interface WhichParked {
  readonly stream: StreamName | null;
  readonly consumer: string | null;
}

/** The progress of one of several partitions of a consumer. */
export interface PartitionStanding {
  /** From 0. */
  readonly partition: number;
  readonly position: Position | null;
}

/** The progress of a consumer. */
export interface ConsumerStanding {
  /** For a divided consumer, the lowest position of its partitions. */
  readonly position: Position | null;
  /** Empty if it is not divided. */
  readonly partitions: readonly PartitionStanding[];
  /** Version of a read model's tables; null: the consumer has not started. */
  readonly version: number | null;
}

/** The consumer can't be divided now. The message says why. */
export class NotDivided extends Error {
  override name = 'NotDivided';
}

/** The most partitions of a consumer. */
export const PARTITIONS_MAX = 64;

export interface Consumers {
  /** The names of all consumers, which are also the names of their checkpoints. */
  readonly names: readonly string[];
  /** Returns whether an operator may have this consumer skip an event without naming the consumer twice. */
  maySkip(name: string): boolean;
  /**
   * Returns the progress of each consumer in the log. A copy of a read model that is built beside the live one has the name `<read
   * model>/next`.
   */
  standings(): Promise<ReadonlyMap<string, ConsumerStanding>>;
  /** The names of the consumers that can be divided by account. */
  readonly divisible: readonly string[];
  /**
   * Divides a consumer into a number of partitions, which is a power of two, while it continues. Waits until the partitions are even, which
   * takes until the slowest has caught up with the others, but at most 30 s. Throws NotDivided if the consumer can't be divided now.
   */
  divide(name: string, partitions: number, signal: AbortSignal): Promise<'even' | 'uneven'>;
  /** Returns the parked streams, oldest first. */
  parked(which: WhichParked): Promise<readonly ParkedRow[]>;
  /** Asks the leader to retry the streams and waits for the results, until 30 s pass without one. */
  takeUp(rows: readonly ParkedRow[], signal: AbortSignal): Promise<readonly TakenUp[]>;
}
