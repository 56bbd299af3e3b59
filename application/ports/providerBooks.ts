// Institutions' lists, the progress of the comparison with them, and its findings (rule V4).
import type { ConnectionId, PaymentId } from '../../domain/kernel/ids.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';

/** A movement of money at the institution, by its records or by Quita's. */
export interface MovementKey {
  readonly moved: 'received' | 'returned' | 'paid_out';
  /** The end-to-end id of a received Pix, `<end-to-end id>/<id>` of a return, or the id that Quita chose for a sent Pix. */
  readonly reference: string;
}

/** A record of the institution. */
export interface ListedItem {
  readonly kind: MovementKey['moved'];
  readonly id: string;
  /** The end-to-end id of the received Pix that a return belongs to; otherwise empty. */
  readonly pix: string;
  readonly endToEndId: string | null;
  readonly txid: string | null;
  /** The charge with this txid, of any connection. */
  readonly paymentId: PaymentId | null;
  readonly amount: number;
  readonly status: 'processing' | 'done' | 'refused';
  /** Made by the banks after a dispute. */
  readonly isMed: boolean;
  readonly at: Timestamp;
}

/** `latest`: the time since the previous look; the others look again after 1, 7 and 30 days. */
export type LookName = 'latest' | 'day1' | 'day7' | 'day30';
/** The steps of each period, in order. */
export type LookStep = 'received' | 'sent' | 'ask' | 'compare' | 'open';

/** A comparison under way. */
export interface Look {
  readonly connectionId: ConnectionId;
  readonly name: LookName;
  readonly version: number;
  /** Later looks of any connection have higher numbers. */
  readonly number: number;
  /** All movements before it are compared. */
  readonly until: Timestamp;
  readonly target: Timestamp;
  readonly step: LookStep | 'done';
  readonly cursor: string | null;
  readonly startedAt: Timestamp;
}

export const FINDING_KINDS = [
  'missing_here',
  'missing_there',
  'amount',
  'charge',
  'return_state',
  'foreign_return',
  'unmatched',
] as const;
export type FindingKind = (typeof FINDING_KINDS)[number];

/** A difference between the institution's list and Quita's records. */
export interface Discrepancy extends MovementKey {
  /** `rf_…`, derived from the connection, the movement and the kind, so that another look shows the same one. */
  readonly id: string;
  readonly kind: FindingKind;
  /** A civil day of São Paulo. */
  readonly day: string;
  readonly at: Timestamp;
  readonly endToEndId: string | null;
  readonly txid: string | null;
  readonly paymentId: PaymentId | null;
  /** Signed minor units, negative if money leaves the institution. By Quita's and the institution's records; null if absent there. */
  readonly expected: number | null;
  readonly found: number | null;
}

export interface Finding extends Discrepancy {
  readonly connectionId: ConnectionId;
  readonly firstSeenAt: Timestamp;
  readonly lastSeenAt: Timestamp;
  /** `by`: `operator:…`, `user:…`, or `reconciliation` if a later look no longer showed it. */
  readonly resolved: { readonly at: Timestamp; readonly by: string; readonly reason: string | null } | null;
}

/** The findings that a comparison covers. */
export type Scope =
  | { readonly from: Timestamp; readonly to: Timestamp }
  /** These movements, whenever they were made. */
  | { readonly movements: readonly MovementKey[] };

export interface ReconciliationLooks {
  /** Returns the looks of a connection, completed ones included. */
  of(connectionId: ConnectionId): Promise<readonly Look[]>;
  /** Starts a look unless one of this name is under way. Returns null if another process was faster. */
  start(before: Look | null, next: Pick<Look, 'connectionId' | 'name' | 'until' | 'target'>): Promise<Look | null>;
  /**
   * Saves listed items and the look's progress in one transaction. Returns the look, or null if another process has continued it: nothing
   * is saved then.
   */
  advance(
    look: Look,
    next: Pick<Look, 'until' | 'step' | 'cursor'>,
    items: readonly ListedItem[],
  ): Promise<Look | null>;
  /** Returns up to `limit` returns that this look has listed and that were not made in the period, after this reference. */
  returnsOutside(
    look: Look,
    from: Timestamp,
    to: Timestamp,
    after: string,
    limit: number,
  ): Promise<readonly MovementKey[]>;
  /** Deletes items of the period that the institution listed before and not in this look. */
  forgetVanished(look: Look, from: Timestamp, to: Timestamp): Promise<void>;
}

/** Listed items that reports no longer need. */
export interface OldItems {
  /**
   * Takes a step with the items of a day that is 180 days old: checks whether all postings of the day were compared, then deletes items
   * that agree. Reports of the day stay the same. Returns whether there may be more to do.
   */
  deleteSome(connectionId: ConnectionId): Promise<boolean>;
}

/** The state of a connection's comparisons. */
export interface RunState {
  /** When the latest completed comparison started. */
  readonly comparedAt: Timestamp | null;
  /** When the latest request of an operator was made. */
  readonly requestedAt: Timestamp | null;
  readonly retryAt: Timestamp | null;
  readonly failures: number;
}

export interface ReconciliationRuns {
  /** Requests a comparison of a connection, or (null) of all. Returns when. */
  request(connectionId: ConnectionId | null): Promise<Timestamp>;
  stateOf(connectionId: ConnectionId): Promise<RunState>;
  /** Returns the database's time. */
  now(): Promise<Timestamp>;
  completed(connectionId: ConnectionId, startedAt: Timestamp): Promise<void>;
  failed(connectionId: ConnectionId, retryAt: Timestamp): Promise<void>;
  /** Returns connections that were ever compared. */
  known(): Promise<readonly ConnectionId[]>;
}

export interface FindingFilter {
  readonly connectionId: ConnectionId | null;
  /** Whether resolved findings are included. */
  readonly all: boolean;
}

export interface ReconciliationFindings {
  /**
   * Saves the discrepancies of a scope: adds new findings, reopens changed ones, and resolves those that no longer appear. Returns the
   * findings that need an alert now: new ones whose movement is older than `graceMs` says.
   */
  save(
    connectionId: ConnectionId,
    scope: Scope,
    discrepancies: readonly Discrepancy[],
    graceMs: (kind: FindingKind) => number,
  ): Promise<readonly Finding[]>;
  /** Returns up to `limit` unresolved findings after the id, in order of id. */
  open(connectionId: ConnectionId, after: string, limit: number): Promise<readonly Finding[]>;
}

/** Queries and changes of operators. */
export interface FindingReads {
  /** Returns at most `limit` findings, newest movement first. `total` also counts those beyond the limit. */
  list(
    filter: FindingFilter,
    limit: number,
  ): Promise<{ readonly findings: readonly Finding[]; readonly total: number }>;
  ofDay(connectionId: ConnectionId, day: string): Promise<readonly Finding[]>;
  find(id: string): Promise<Finding | null>;
  /** Resolves a finding. Returns null if it does not exist or is resolved. */
  resolve(id: string, by: string, reason: string): Promise<Finding | null>;
  /** Returns the number of unresolved findings that were reported to operators. */
  countOpen(): Promise<number>;
}

export interface FindingAlerts {
  /** Called once for each finding, at least. */
  found(finding: Finding): void;
  /** The comparison of a connection fails again and again, so that no findings are made. `comparedAt`: its last success. */
  stalled(
    connectionId: ConnectionId,
    stall: Pick<RunState, 'failures' | 'comparedAt'> & { readonly reason: string },
  ): void;
}
