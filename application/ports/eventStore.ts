// The event store port (architecture §5). Both adapters pass one conformance suite (test/conformance/eventStore.ts).

import type { StreamName } from '../../domain/kernel/ids.ts';

declare const position: unique symbol;
/** The place of an event in the store's log. Opaque; sorts by code unit in log order; equal only for the same event. */
export type Position = string & { readonly [position]: true };

/** The revision that the stream's last event must have; -1: the stream must be empty. There is no `any`, because facts never use it. */
export type ExpectedRevision = number;
export const EMPTY_STREAM: ExpectedRevision = -1;

/** A data key as it is stored: the secret and the salt from which it is derived (ports/dataKeys.ts). */
export interface StoredKey {
  readonly owner: string;
  readonly secretId: number;
  /** Bytes as `latin1`, because a text burdens the garbage collector less than a Buffer. */
  readonly salt: string;
}

export interface NewEvent {
  /** UUID. A repeat of an append has the same ids, so it can't write twice. */
  readonly id: string;
  /** 1 to 100 characters, must not begin with `$`. */
  readonly type: string;
  /** A JSON text. The store returns the same JSON value. */
  readonly data: string;
  /** A JSON text of an object. */
  readonly metadata: string;
  /** A new key that sealed this event, to be stored in the same transaction. Only a log in PostgreSQL stores keys. */
  readonly dataKey?: StoredKey;
}

export interface RecordedEvent extends Omit<NewEvent, 'dataKey'> {
  readonly stream: StreamName;
  /** 0-based, gapless within the stream. */
  readonly revision: number;
  readonly position: Position;
  /** When the store recorded it: real time, ISO 8601 with milliseconds. */
  readonly recordedAt: string;
}

export type AppendResult =
  /** `revision`: that of the append's last event. A repeat with the same ids returns the original revision, not that of the head. */
  | { readonly ok: true; readonly revision: number; readonly position: Position | null }
  /** Nothing was written. `actual`: the stream's last revision, or -1 if it is empty. Also if a new data key's owner has a key already. */
  | { readonly ok: false; readonly actual: number };

/** The store is down, not ready or too busy. Nothing was written; the same append may succeed later. */
export class EventStoreUnavailable extends Error {
  override name = 'EventStoreUnavailable';
}
/**
 * The log was moved to another store, is sealed for the move, or is an unfinished copy. Nothing was written, and nothing can be written to
 * this log. The message tells operators where the log is and what to do. Clients get the same response as for EventStoreUnavailable.
 */
export class LogNotInUse extends EventStoreUnavailable {
  override name = 'LogNotInUse';
}
/** The append may or may not have been written. Repeat it with the same ids and expected revision, or read the stream. */
export class AppendOutcomeUnknown extends Error {
  override name = 'AppendOutcomeUnknown';
}
/** The append is invalid: empty, too large, not JSON, or with a bad type, id or stream name. Nothing was written; a retry fails, too. */
export class InvalidAppend extends Error {
  override name = 'InvalidAppend';
}

/**
 * The log has no event at the position after which a subscription should resume, although the log ends later. Either the position is from
 * another log, or the log was restored to an earlier state and has grown since. Resuming would skip events. The message is for operators.
 */
export class UnknownPosition extends Error {
  override name = 'UnknownPosition';
}

/** Largest size of one append (data and metadata), in bytes. A single event may have half of it. */
export const APPEND_BYTES_MAX = 1_000_000;

export interface ReadOptions {
  /** First revision to read; default 0. */
  readonly from?: number;
}

export interface SubscribeOptions {
  /** Start after this position; null: start with the first event. */
  readonly after: Position | null;
  /** Only streams of these categories; null: all. */
  readonly categories: readonly string[] | null;
  /** Largest number of events in a batch; default 500. */
  readonly batchSize?: number;
  /** Ends the subscription; the iteration finishes without an error. */
  readonly signal: AbortSignal;
}

/** It is always safe to resume from `position`: all events of the requested categories up to it were delivered. */
export type SubscriptionSignal =
  | { readonly kind: 'events'; readonly events: readonly RecordedEvent[]; readonly position: Position }
  /** All events that the log had when it was queried were delivered. Sent each time the subscription becomes live. */
  | { readonly kind: 'caughtUp'; readonly position: Position | null }
  /** No further event of these categories exists up to `position`. Store it, so that a restart does not scan this part again. */
  | { readonly kind: 'checkpoint'; readonly position: Position };

export interface EventStore {
  /** Identifies this log. Never use a checkpoint of another log on it. */
  readonly storeId: string;

  /**
   * Appends all events to one stream, or none. Writes them if `expected` is the head. If `expected` is below the head, succeeds only if the
   * stream has the same event ids at these revisions (a repeat); else returns `ok: false`. If `expected` is above the head, returns
   * `ok: false`. Throws InvalidAppend, EventStoreUnavailable (LogNotInUse) or AppendOutcomeUnknown. Always settles within 10 s.
   */
  append(stream: StreamName, expected: ExpectedRevision, events: readonly NewEvent[]): Promise<AppendResult>;

  /** Yields the stream's events in order, reading in pages. An absent stream is empty. Throws EventStoreUnavailable. */
  readStream(stream: StreamName, options?: ReadOptions): AsyncIterable<RecordedEvent>;

  /**
   * Yields existing events, then new ones as they arrive, in log order, without gaps or repeats. The consumer pulls, so a slow consumer is
   * never dropped. After a lost connection, the subscription resumes from the last delivered position (backoff with jitter). The iteration
   * ends only by the signal or `close`. Throws UnknownPosition, also if the log was restored to an older state and no longer has the last
   * delivered event.
   */
  subscribe(options: SubscribeOptions): AsyncIterable<SubscriptionSignal>;

  /** Returns the newest position in the log, or null if the log is empty. Throws EventStoreUnavailable. */
  head(): Promise<Position | null>;

  /** Returns the id of the event at that position, or null if no readable event is there. Throws EventStoreUnavailable. */
  eventIdAt(position: Position): Promise<string | null>;

  /** Returns why appends are refused until an operator acts, or null if they are accepted. Throws EventStoreUnavailable. */
  refusal(): Promise<LogNotInUse | null>;

  /** Calls the listener with each newer head, from this process's appends or other processes' announcements. Returns how to unsubscribe. */
  onHead(listener: (head: Position) => void): () => void;

  /**
   * Calls the listener with the head if the log was restored to an older state or is on another server. All cached data about the log must
   * be discarded then. Each new connection is checked before use, so no append happens before the call. Returns how to unsubscribe.
   */
  onRestored(listener: (head: Position | null) => void): () => void;

  /** Finishes running appends and ends subscriptions. Afterwards every call throws EventStoreUnavailable. */
  close(): Promise<void>;
}
