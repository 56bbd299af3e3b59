// A read model: its tables, and how events become rows. A rebuild yields the same bytes at any time (architecture §6).

import type { RecordedEvent } from '../../application/ports/eventStore.ts';
import type { LoggedEvent } from '../../application/ports/loggedEvent.ts';
import type { Sql } from '../../application/ports/sql.ts';
import type { Decider } from '../../domain/kernel/decider.ts';

export interface ProjectionTable {
  readonly name: string;
  /** Columns of the primary key. */
  readonly key: readonly string[];
  /** Rows `t` that don't meet this condition count as missing and are not compared. Default: all rows are compared. */
  readonly counts?: string;
}

export interface ProjectionWriter {
  /** Clears everything cached between batches. */
  reset(): void;
  /** Applies events with one statement per table and batch, not per event. */
  apply(events: readonly LoggedEvent[], tx: Sql): Promise<void>;
}

/** A table whose rows hold the folded state of their stream beside `id` and `revision`. */
export interface AggregateRows {
  readonly table: string;
  readonly category: string;
  readonly decider: Decider<unknown, unknown>;
  /** The stored state of a row: an SQL text expression, and the corresponding text of a state. */
  readonly stored: string;
  readonly textOf: (state: unknown) => string;
}

/** An invariant of operational data shown with a read model: a query for the rows that violate it. */
export interface OperationalCheck {
  /** Name in a reported difference. */
  readonly table: string;
  /** Query that returns the texts `live` and `replayed` of each difference. */
  readonly text: string;
}

export interface Projection<Name extends string = string> {
  readonly name: Name;
  /** Increase it with any change of tables or rows. The next start then rebuilds the read model beside the live copy. */
  readonly version: number;
  readonly categories: readonly string[];
  /**
   * Returns whether the event certainly changes no row, so that a replay doesn't decode it. Must be false for types that this version
   * doesn't know. Default: every event is decoded.
   */
  readonly skips?: (recorded: Pick<RecordedEvent, 'type' | 'metadata'>) => boolean;
  /**
   * Whether each row belongs to one account, so that several processes can write the read model, each for some accounts. A row's account
   * is that of the streams that change it. Default: no, one process writes it.
   */
  readonly isByAccount?: boolean;
  /** Whether decisions read its rows together with its checkpoint, which then never stays behind (LogConsumer). Default: no. */
  readonly isDecidedOn?: boolean;
  readonly tables: readonly ProjectionTable[];
  /** Tables that `verify` also compares with their streams. Default: none. */
  readonly aggregates?: readonly AggregateRows[];
  /** Checks that `verify` runs. Default: none. */
  readonly checks?: readonly OperationalCheck[];
  /** Statements that create views over the live copy in other schemas, or replace them. Default: none. */
  readonly published?: string;
  /** Statements that create the tables inside `schema`. */
  ddl(schema: string): string;
  /** `partitions`: how many writers share the events, and the memory that one would use. Default: 1. */
  writer(schema: string, partitions?: number): ProjectionWriter;
}

/** Schemas of the copies of a projection. Queries always read the live one. */
export const liveSchema = (name: string): string => `rm_${snake(name)}`;
export const nextSchema = (name: string): string => `${liveSchema(name)}_next`;
export const verifySchema = (name: string): string => `${liveSchema(name)}_verify`;

const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
