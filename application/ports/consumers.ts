// The consumers of the log, read models and processes, as operators see to them (architecture §7).
import type { StreamName } from '../../domain/kernel/event.ts';
import type { Position } from './eventStore.ts';

/** A stream that a read model or process does not take any more. */
export interface ParkedRow {
  readonly consumer: string;
  readonly stream: string;
  /** null: neither the event nor the first one of its stream has it. */
  readonly account: string | null;
  readonly mode: string | null;
  /** Of the first event that was not taken. */
  readonly revision: number;
  readonly eventId: string;
  readonly eventType: string;
  /** Without personal data. */
  readonly error: string;
  readonly parkedAt: string;
}

/** What became of a parked stream that was to be taken up again. */
export interface TakenUp {
  readonly consumer: string;
  readonly stream: string;
  /** `waiting`: the leader has not taken it up yet; the request stays. */
  readonly outcome: 'taken' | 'parked' | 'waiting';
  /** Of the event at which it is parked now. */
  readonly revision: number | null;
  readonly error: string | null;
}

/** null: every one. */
export interface WhichParked {
  readonly stream: StreamName | null;
  readonly consumer: string | null;
}

export interface Consumers {
  /** Those of their checkpoints. */
  readonly names: readonly string[];
  /** Returns whether an event may be passed over for this one without its being named twice. */
  maySkip(name: string): boolean;
  /** Returns how far each one has followed the log; null: it has not begun. */
  positions(): Promise<ReadonlyMap<string, Position | null>>;
  /** Returns the streams that they have parked, oldest first. */
  parked(which: WhichParked): Promise<readonly ParkedRow[]>;
  /** Has whoever leads take the streams up again, and waits for it: half a minute after the last one of them at most. */
  takeUp(rows: readonly ParkedRow[], signal: AbortSignal): Promise<readonly TakenUp[]>;
}
