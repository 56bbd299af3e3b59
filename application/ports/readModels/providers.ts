// Queries on provider connections, for operators and the registry of each process.
import type { ConnectionId } from '../../../domain/kernel/ids.ts';
import type { Connection } from '../../../domain/providerConnection/aggregate.ts';

/** Payments and payouts of a connection that are not final. */
export interface OpenWork {
  readonly payments: number;
  readonly payouts: number;
}

/** The read models that show a connection, with its payments and payouts that are not final. */
export const OPEN_WORK_READS = ['providers', 'payments', 'disputes', 'payouts'] as const;

export interface ConnectionReads {
  /** Returns all connections, removed ones included, oldest first. */
  all(): Promise<readonly Connection[]>;
  /** Returns the open work by connection. Connections without such work are absent. */
  openWork(): Promise<ReadonlyMap<ConnectionId, OpenWork>>;
  /**
   * Returns how many callbacks of the connection, and notifications of its payments, are not handled. Those that failed for a week don't
   * count: they may never succeed, such as when the institution has closed the account.
   */
  unhandled(id: ConnectionId): Promise<number>;
}
