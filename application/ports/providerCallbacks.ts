// Callbacks of institutions: stored raw before they are answered, and handled later (rule V2).
import type { ConnectionId } from '../../domain/kernel/ids.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import type { JobRequest } from './jobs.ts';

/** The secrets in the callback URLs of connections. */
export interface CallbackSecrets {
  /**
   * Returns whether the secret opens the connection's callback URL: never if the connection is unknown or removed. After a rotation the
   * secret before it is accepted for a while, too. Takes the same time whichever part is wrong, and compares in constant time.
   */
  accepts(connectionId: ConnectionId, secret: string): Promise<boolean>;
  /** Returns whether callbacks of the connection must come with a client certificate. */
  requiresCertificate(connectionId: ConnectionId): Promise<boolean>;
}

/**
 * The outcome of a callback. `contradicted`: the institution's own record names another charge, which was credited. `unmatched`: the
 * institution's record belongs to no charge, payout or refund of the connection. `notConfirmed`: the institution knows no such payment.
 */
export type CallbackOutcome = (typeof CALLBACK_OUTCOMES)[number];

/** The outcomes that an operator must look into, the gravest last. */
export const OPEN_OUTCOMES = ['contradicted', 'unmatched', 'notConfirmed', 'notUnderstood'] as const;
export const CALLBACK_OUTCOMES = ['handled', 'testCall', ...OPEN_OUTCOMES] as const;

/** One entry of a callback that was not handled as it claims. */
export interface CallbackFinding {
  readonly outcome: (typeof OPEN_OUTCOMES)[number];
  /** The end-to-end id, or the id of a sent payment. */
  readonly reference: string;
  /** The txid at the institution, or null. */
  readonly txid: string | null;
  /** Such as `no_txid`, `unknown_txid`, `other_txid`, `unknown_id`, `not_found`. */
  readonly because: string;
}

/** A decimal number, in the order of arrival. */
export type CallbackId = string;
export const isCallbackId = (text: string): text is CallbackId => /^[1-9]\d{0,14}$/.test(text);

export interface StoredCallback {
  readonly id: CallbackId;
  readonly connectionId: ConnectionId;
  readonly raw: string;
  /** Milliseconds since it first arrived. */
  readonly ageMs: number;
  /** How many of its hints are done. */
  readonly done: number;
  /** The findings of these hints. */
  readonly findings: readonly CallbackFinding[];
}

export interface ListedCallback {
  readonly id: CallbackId;
  readonly connectionId: ConnectionId;
  readonly receivedAt: Timestamp;
  /** When the same body last arrived, and how often it did. */
  readonly lastReceivedAt: Timestamp;
  readonly times: number;
  /** null: not handled yet. */
  readonly outcome: CallbackOutcome | null;
  readonly findings: readonly CallbackFinding[];
  readonly resolved: { readonly at: Timestamp; readonly by: string; readonly reason: string } | null;
}

export interface CallbackFilter {
  /** null: of all connections. */
  readonly connectionId: ConnectionId | null;
  /** null: those that an operator must look into. */
  readonly outcome: CallbackOutcome | null;
}

/** Queries for operators. */
export interface CallbackReads {
  /** Returns at most `limit` callbacks, newest first. `total` also counts those beyond the limit. */
  list(
    filter: CallbackFilter,
    limit: number,
  ): Promise<{ readonly callbacks: readonly ListedCallback[]; readonly total: number }>;
  /**
   * Records that an operator has looked into a callback, of this connection (null: of any). Returns null if it does not exist or does not
   * wait for an operator.
   */
  resolve(
    connectionId: ConnectionId | null,
    id: CallbackId,
    by: string,
    reason: string,
  ): Promise<ListedCallback | null>;
  /** Returns when a callback of the connection last arrived, by the database's clock, or null. */
  latest(connectionId: ConnectionId): Promise<Timestamp | null>;
  /** Returns the number of callbacks, of all connections, that an operator must look into. */
  countOpen(): Promise<number>;
}

export interface ProviderCallbacks {
  /**
   * Stores a callback with the job that handles it, durably. The same body again is counted. If the institution did not confirm it before,
   * or it was not matched, it is handled again, but not within a minute.
   */
  store(connectionId: ConnectionId, raw: Uint8Array, handling: (id: CallbackId) => JobRequest): Promise<void>;
  /** Returns the callback, or null if it does not exist or was handled. */
  unhandled(id: CallbackId): Promise<StoredCallback | null>;
  /** Saves which hints are done, so that the next attempt continues after them. */
  saveProgress(id: CallbackId, done: number, findings: readonly CallbackFinding[]): Promise<void>;
  markHandled(id: CallbackId, outcome: CallbackOutcome, findings: readonly CallbackFinding[]): Promise<void>;
  /** Yields all unhandled callbacks older than `ageMs`, oldest first, in pages of `page`. Used by the watchdog. */
  owed(ageMs: number, page: number): AsyncIterable<readonly Pick<StoredCallback, 'id' | 'connectionId'>[]>;
  /**
   * Deletes callbacks that were handled or resolved more than `ageMs` ago. Erases the bodies of those that wait for an operator for longer.
   */
  forget(ageMs: number): Promise<void>;
}

export interface CallbackAlerts {
  /** A callback must be looked into by an operator. Called at least once for each. */
  kept(
    callback: Pick<StoredCallback, 'id' | 'connectionId'>,
    outcome: CallbackOutcome,
    findings: readonly CallbackFinding[],
  ): void;
}
