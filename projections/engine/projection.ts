// What a read model is: tables, and how events become rows. Rebuilt to the same bytes at any time (architecture §6).

import type { LoggedEvent } from '../../application/ports/loggedEvent.ts';
import type { Sql } from '../../application/ports/sql.ts';
import type { Decider } from '../../domain/kernel/decider.ts';

export interface ProjectionTable {
  readonly name: string;
  /** Columns of the primary key. */
  readonly key: readonly string[];
  /** A row `t` that does not meet this condition is as good as none, and is not compared; default: all are compared. */
  readonly counts?: string;
}

export interface ProjectionWriter {
  /** Forget what was remembered between batches. */
  reset(): void;
  /** Set-based: a statement per table and batch, not per event. */
  apply(events: readonly LoggedEvent[], tx: Sql): Promise<void>;
}

/** A table whose rows hold the fold of their stream by the decider, beside `id` and `revision`. */
export interface AggregateRows {
  readonly table: string;
  readonly category: string;
  readonly decider: Decider<unknown, unknown>;
  /** What a row holds of its state: an expression of SQL that gives a text, and the text that a state has there. */
  readonly stored: string;
  readonly textOf: (state: unknown) => string;
}

/** What must hold of operational data that a read model is shown with: a query for the rows that differ from what they should be. */
export interface OperationalCheck {
  /** Names it in a difference. */
  readonly table: string;
  /** Returns the texts `live` and `replayed` of each difference. */
  readonly text: string;
}

export interface Projection<Name extends string = string> {
  readonly name: Name;
  /** A change of tables or rows is a new version: the next start rebuilds it beside the live copy. */
  readonly version: number;
  readonly categories: readonly string[];
  readonly tables: readonly ProjectionTable[];
  /** Those that `verify` compares with their streams too; default: none. */
  readonly aggregates?: readonly AggregateRows[];
  /** For `verify`; default: none. */
  readonly checks?: readonly OperationalCheck[];
  /** Statements that create the tables inside `schema`. */
  ddl(schema: string): string;
  writer(schema: string): ProjectionWriter;
}

/** Where the copies of a projection live. Queries always read the live one. */
export const liveSchema = (name: string): string => `rm_${snake(name)}`;
export const nextSchema = (name: string): string => `${liveSchema(name)}_next`;
export const verifySchema = (name: string): string => `${liveSchema(name)}_verify`;

const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
