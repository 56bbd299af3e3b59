// The state of a log: whether it is in use. `npm run migrate-events` copies a log from one store to another. Then two logs hold the same
// events, and only one of them may be written to.
import type { EndedDelivery } from '../../application/ports/deliveryRetention.ts';
import { type EventStore, LogNotInUse, type RecordedEvent } from '../../application/ports/eventStore.ts';

/** Identifies another log. */
export interface LogName {
  readonly storeId: string;
  /** `esdb://…`, `kurrentdb://…` or `postgres://…`, without a password. */
  readonly address: string;
}

/**
 * `sealed`: the log is being copied to `other`. `moved`: `other` has replaced it. `copy`: it is an unfinished copy of `other`.
 * Of these, an operator can return only `sealed` to `inUse`.
 */
export type LogState =
  | { readonly kind: 'inUse' }
  | { readonly kind: 'sealed' | 'moved' | 'copy'; readonly other: LogName };

export const IN_USE: LogState = { kind: 'inUse' };

const isEventStoreDb = (address: string): boolean => /^(esdb|kurrentdb)/.test(address);

/** Returns how to start the program on the log at that address. */
export const startOn = (address: string): string =>
  isEventStoreDb(address) ? `with EVENTSTORE_URL=${address}` : 'without EVENTSTORE_URL';
const startThere = (address: string): string =>
  `start the program ${isEventStoreDb(address) ? 'with EVENTSTORE_URL set to it' : 'without EVENTSTORE_URL'}`;

const says = (state: Exclude<LogState, { kind: 'inUse' }>): string => {
  const { address } = state.other;
  switch (state.kind) {
    case 'moved':
      return `this event log has moved to ${address}: ${startThere(address)}`;
    case 'sealed':
      return `this event log is sealed while it is copied to ${address}: finish with npm run migrate-events, or cancel with npm run migrate-events -- --unseal`;
    case 'copy':
      return `this event log is an unfinished copy of ${address}: finish it with npm run migrate-events, or ${startThere(address)}`;
  }
};

/** Returns why the log must not be used, or null if it may be written to. */
export const refusalOf = (state: LogState): LogNotInUse | null =>
  state.kind === 'inUse' ? null : new LogNotInUse(says(state));

// A log for copying: read through the port, written in its original order with its original ids and times.

export interface MigratableLog {
  readonly name: LogName;
  /** For reading only, in any state of the log. */
  readonly store: EventStore;
  /** Throws EventStoreUnavailable. */
  state(): Promise<LogState>;
  /**
   * Sets the state. PostgreSQL: when it returns, every running append has obeyed it. EventStoreDB: processes that have the log open obey
   * within milliseconds, when they receive it; processes that open the log later obey at once.
   */
  setState(state: LogState): Promise<void>;
  /**
   * Writes events after those of the log, in log order, with their ids, revisions and times. The caller must have set the state `copy`.
   * `onWritten` is called after each write with its number of events. Rejects at the first fault; the events written before stay.
   */
  write(events: readonly RecordedEvent[], onWritten: (count: number) => void): Promise<void>;
  /**
   * Deletes deliveries that the original log has deleted. The caller must have set the state `copy`. `recordedBefore`: a day
   * (yyyy-mm-dd, UTC) before which all their events were recorded.
   */
  deleteDeliveries(ended: readonly EndedDelivery[], recordedBefore: string): Promise<void>;
  close(): Promise<void>;
}

/** Most bytes per write, unless a single event has more. EventStoreDB accepts 1 MiB. */
const WRITE_BYTES_MAX = 900_000;
/** Size of an event beside its JSON: its original time, type and id. */
const EVENT_OVERHEAD_BYTES = 200;

const bytesOf = ({ data, metadata }: RecordedEvent): number =>
  Buffer.byteLength(data) + Buffer.byteLength(metadata) + EVENT_OVERHEAD_BYTES;

/** Splits events into runs of bounded size, in order. `together`: whether an event may be in the same run as the one before it. */
export const runsOf = (
  events: readonly RecordedEvent[],
  together: (before: RecordedEvent, event: RecordedEvent) => boolean,
): RecordedEvent[][] => {
  const runs: RecordedEvent[][] = [];
  let bytes = 0;
  for (const event of events) {
    const run = runs.at(-1);
    const before = run?.at(-1);
    bytes += bytesOf(event);
    if (run !== undefined && before !== undefined && bytes <= WRITE_BYTES_MAX && together(before, event))
      run.push(event);
    else {
      runs.push([event]);
      bytes = bytesOf(event);
    }
  }
  return runs;
};
