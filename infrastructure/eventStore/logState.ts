// Whether a log is the one in use. `npm run migrate-events` copies a log from one store to another: from then on there are two with
// the same events, and only one of them may ever be written to.
import type { EndedDelivery } from '../../application/ports/deliveryRetention.ts';
import { type EventStore, LogNotInUse, type RecordedEvent } from '../../application/ports/eventStore.ts';

/** Another log. */
export interface LogName {
  readonly storeId: string;
  /** `esdb://…`, `kurrentdb://…` or `postgres://…`, without a password. */
  readonly address: string;
}

/**
 * `sealed`: it is being copied to `other`. `moved`: that is done, `other` took its place. `copy`: it is an unfinished copy of `other`.
 * Of these only `sealed` goes back to `inUse` by the operator's will.
 */
export type LogState =
  | { readonly kind: 'inUse' }
  | { readonly kind: 'sealed' | 'moved' | 'copy'; readonly other: LogName };

export const IN_USE: LogState = { kind: 'inUse' };

const isEventStoreDb = (address: string): boolean => /^(esdb|kurrentdb)/.test(address);

/** How the program is started on the log at that address. */
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

/** null: it may be written to. */
export const refusalOf = (state: LogState): LogNotInUse | null =>
  state.kind === 'inUse' ? null : new LogNotInUse(says(state));

// A log as whoever copies it needs it: read through the port, written in its original order with its original ids and times.

export interface MigratableLog {
  readonly name: LogName;
  /** For reading only, whatever the log's state is. */
  readonly store: EventStore;
  /** Throws EventStoreUnavailable. */
  state(): Promise<LogState>;
  /**
   * Postgres: when it returns, no append is under way that has not obeyed it. EventStoreDB: processes that have the log open obey as
   * soon as they hear of it, which is within milliseconds; those that open it later obey at once.
   */
  setState(state: LogState): Promise<void>;
  /**
   * Writes events that follow those of the log, in log order, each with the id, the revision and the time it has. The caller has made the
   * log a `copy` before. `onWritten` is called with the number written so far. Rejects on the first fault; what was written stays.
   */
  write(events: readonly RecordedEvent[], onWritten: (count: number) => void): Promise<void>;
  /**
   * Deletes deliveries that the log of which this is a copy has deleted. The caller has made the log a `copy` before. `recordedBefore`: a
   * day (yyyy-mm-dd, UTC) before which all their events were recorded.
   */
  deleteDeliveries(ended: readonly EndedDelivery[], recordedBefore: string): Promise<void>;
  close(): Promise<void>;
}

/** At most so many bytes go into one write, unless a single event has more. EventStoreDB takes 1 MiB. */
const WRITE_BYTES_MAX = 900_000;
/** What an event brings beside its JSON: the time that it keeps, its type and id. */
const EVENT_OVERHEAD_BYTES = 200;

const bytesOf = ({ data, metadata }: RecordedEvent): number =>
  Buffer.byteLength(data) + Buffer.byteLength(metadata) + EVENT_OVERHEAD_BYTES;

/** The events in runs of bounded size, in order; `together`: whether an event may stand in the same run as the one before it. */
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
