// The event store, as the core needs it (architecture §5). Two adapters, one conformance suite (test/conformance/eventStore.ts).
import type { StreamName } from '../../domain/kernel/event.ts';

declare const position: unique symbol;
/** Where an event stands in the store's one log. Opaque; sorts by code unit in log order; equal only for the same event. */
export type Position = string & { readonly [position]: true };

/** Revision of the last event that the stream must hold; -1 = the stream must be empty. There is no `any`: facts never use it. */
export type ExpectedRevision = number;
export const EMPTY_STREAM: ExpectedRevision = -1;

export interface NewEvent {
  /** UUID. A repeat of an append carries the same ids and can't write twice. */
  readonly id: string;
  /** 1 to 100 characters, must not begin with `$`. */
  readonly type: string;
  /** A JSON text, rendered once by the caller and given back as the same JSON value. */
  readonly data: string;
  /** A JSON text of an object. */
  readonly metadata: string;
}

export interface RecordedEvent extends NewEvent {
  readonly stream: StreamName;
  /** 0-based, gapless within the stream. */
  readonly revision: number;
  readonly position: Position;
  /** When the store recorded it: real time, ISO 8601 with milliseconds. */
  readonly recordedAt: string;
}

export type AppendResult =
  /** `revision` of the last event of this append. A repeat with the same ids answers the original revision (so not the head). */
  | { readonly ok: true; readonly revision: number; readonly position: Position | null }
  /** Nothing was written. `actual`: the stream's last revision, -1 when empty. */
  | { readonly ok: false; readonly actual: number };

/** Nothing was written and the same append may succeed later: store down, not ready, too busy. */
export class EventStoreUnavailable extends Error {
  override name = 'EventStoreUnavailable';
}
/**
 * The log was moved to another store, is sealed for that, or is an unfinished copy: nothing was written, and on this log nothing will
 * be. The message is for an operator: where the log is, and what to do. Clients get the same answer as when the store is unavailable.
 */
export class LogNotInUse extends EventStoreUnavailable {
  override name = 'LogNotInUse';
}
/** The append may or may not have been written. Repeat it with the same ids and the same expected revision, or read. */
export class AppendOutcomeUnknown extends Error {
  override name = 'AppendOutcomeUnknown';
}
/** The caller's fault: empty batch, bad type, id or stream name, not JSON, or too large. Nothing was written; a repeat fails alike. */
export class InvalidAppend extends Error {
  override name = 'InvalidAppend';
}

/**
 * The log has no event at the position that a subscription was to go on behind, though it ends later: it is not the log that gave this
 * position, or it was put back to an earlier state and has grown since. Going on would skip events. The message is for an operator.
 */
export class UnknownPosition extends Error {
  override name = 'UnknownPosition';
}

/** At most this many bytes of data + metadata in one append, and half of it in one event. */
export const APPEND_BYTES_MAX = 1_000_000;

export interface ReadOptions {
  /** First revision to give; default 0. */
  readonly from?: number;
}

export interface SubscribeOptions {
  /** Exclusive. null: from the very first event. */
  readonly after: Position | null;
  /** Only streams of these categories; null: all. */
  readonly categories: readonly string[] | null;
  /** At most this many events in one batch; default 500. */
  readonly batchSize?: number;
  /** Ends the subscription: the iteration finishes without an error. */
  readonly signal: AbortSignal;
}

/** `position` is always safe to resume from: everything up to it was given, or is of no category asked for. */
export type SubscriptionSignal =
  | { readonly kind: 'events'; readonly events: readonly RecordedEvent[]; readonly position: Position }
  /** All that was in the log when it was asked has been given. Given once for each time the subscription becomes live. */
  | { readonly kind: 'caughtUp'; readonly position: Position | null }
  /** No event of these categories up to here: worth storing, so that an idle filter does not rescan. */
  | { readonly kind: 'checkpoint'; readonly position: Position };

export interface EventStore {
  /** Identity of this log. A checkpoint of another log must never be used on it. */
  readonly storeId: string;

  /**
   * All or nothing, on one stream. Expected = head: written. Expected below head: success only if every id matches position by
   * position what stands there (a repeat), else `ok: false`. Expected above head: `ok: false`.
   * Throws InvalidAppend, EventStoreUnavailable (LogNotInUse), AppendOutcomeUnknown. Always settles within 10 s.
   */
  append(stream: StreamName, expected: ExpectedRevision, events: readonly NewEvent[]): Promise<AppendResult>;

  /** The stream's events in order, in pages: memory does not grow with it. An absent stream is empty. Throws EventStoreUnavailable. */
  readStream(stream: StreamName, options?: ReadOptions): AsyncIterable<RecordedEvent>;

  /**
   * Catch-up, then live, in log order, without gap or repeat. The consumer pulls: a slow one is never dropped. Connection loss is
   * mended inside (backoff with jitter, from the last given position); the iteration ends only by the signal or `close`, or throws
   * UnknownPosition, also when the log was restored to an older state and ends before the last given event or has another one there.
   */
  subscribe(options: SubscribeOptions): AsyncIterable<SubscriptionSignal>;

  /** The newest position in the log; null when it is empty. Throws EventStoreUnavailable. */
  head(): Promise<Position | null>;

  /** The id of what the log has at that position; null when nothing that can be read stands there. Throws EventStoreUnavailable. */
  eventIdAt(position: Position): Promise<string | null>;

  /** Why appends are refused until an operator does something about it; null: they are taken. Throws EventStoreUnavailable. */
  refusal(): Promise<LogNotInUse | null>;

  /** Called with each newer head this process learns of: its own appends, and those that other processes announce. Returns the undo. */
  onHead(listener: (head: Position) => void): () => void;

  /**
   * Called with the head when the log turns out to be restored to an older state, or to be on another server: whatever was remembered of it
   * must be forgotten. Each new connection is checked before it is used, so that no append follows before the call. Returns the undo.
   */
  onRestored(listener: (head: Position | null) => void): () => void;

  /** Finishes appends in flight, ends subscriptions. Afterwards every call throws EventStoreUnavailable. */
  close(): Promise<void>;
}
