// The event store port on EventStoreDB (architecture §5, README.md). Connections: one for appends, one for reads, one for the live
// subscription that all followers share, and one for each follower that catches up.

import { setTimeout as pause } from 'node:timers/promises';
import type { DeletesDeliveries } from '../../../application/ports/deliveryRetention.ts';
import {
  type EventStore,
  EventStoreUnavailable,
  InvalidAppend,
  type ReadOptions,
  type RecordedEvent,
  type SubscribeOptions,
} from '../../../application/ports/eventStore.ts';
import { CATEGORIES } from '../../../domain/aggregates.ts';
import { readStreamName } from '../../../domain/kernel/aggregate.ts';
import { WEBHOOK_DELIVERY } from '../../../domain/webhookDelivery/webhookDelivery.ts';
import { checkAppend } from '../checkAppend.ts';
import { refusalOf } from '../logState.ts';
import { BATCH_DEFAULT, checkBatchSize, checkCategories } from '../subscribeOptions.ts';
import { Appender } from './appender.ts';
import { Connector } from './connection.ts';
import { Deletion } from './deletion.ts';
import { LogMemory } from './logMemory.ts';
import { logPositionOf } from './messages.ts';
import { identityOf, type KnownState, OWN_CATEGORY, readState, STATE_STREAM, stateOf } from './ownStreams.ts';
import { Reader } from './reader.ts';
import { readConnectionString, TIMINGS, type Timings } from './settings.ts';
import { follow, type LogSources } from './subscription.ts';
import { Tail } from './tail.ts';

interface EventStoreDbOptions {
  /** `esdb://…` or `esdb+discover://…`, or the same with `kurrentdb`, with the credentials in it. */
  readonly connectionString: string;
  /** Called with every fault that the store recovers from: lost connections, repeated appends, unexpected answers. */
  readonly onError?: (error: Error) => void;
  /** Called when the server or the connection ended a subscription, which is then opened again. */
  readonly onLost?: () => void;
  readonly timings?: Partial<Timings>;
  /** For copying: also opens a log that is sealed, moved, or an unfinished copy. */
  readonly inAnyState?: true;
}

const STREAM_PAGE_EVENTS = 500;
/** "All categories" means Quita's: never system streams, nor those of another program on the same server. */
const OWN_PREFIXES = CATEGORIES.map((category) => `${category}-`);
const TAIL_CATEGORIES: readonly string[] = [...CATEGORIES, OWN_CATEGORY];
const isOwn = (stream: string): boolean => CATEGORIES.some((category) => category === readStreamName(stream).category);

/** Opens the log. Throws BadConnectionString, EventStoreUnavailable, LogNotInUse. */
export async function openEventStoreDb(options: EventStoreDbOptions): Promise<EventStore & DeletesDeliveries> {
  const settings = readConnectionString(options.connectionString);
  const timings = { ...TIMINGS, ...options.timings };
  const onError = (error: Error): void => options.onError?.(error);
  // Reads and appends always go to the current leader; subscriptions use the nodes that the connection string prefers.
  const connector = new Connector(settings);
  const reader = new Reader({ connector, timings, onError });
  const memory = new LogMemory(reader, OWN_PREFIXES, onError);
  const appender = new Appender({ connector, reader, timings, onError, check: () => memory.check() });
  const deletion = new Deletion({ connector, reader, appender, timings });
  try {
    const storeId = await identityOf(reader, appender);
    await memory.readHead();
    // Read after the head, because the state is followed from the head on.
    const state = await readState(reader);
    const refusal = options.inAnyState ? null : refusalOf(state.state);
    if (refusal !== null) throw refusal;
    const onLost = (): void => options.onLost?.();
    const log: LogSources = { connector: new Connector(settings), memory, reader, deletion, timings, onError, onLost };
    // A copy reads each log once, so it needs no tail, which would receive all events that it writes.
    const tail = options.inAnyState ? null : new Tail();
    return startStore({ storeId, state, reader, appender, deletion, log, tail });
  } catch (error) {
    await appender.close();
    reader.close();
    throw error;
  }
}

interface Parts {
  readonly storeId: string;
  readonly state: KnownState;
  readonly reader: Reader;
  readonly appender: Appender;
  readonly deletion: Deletion;
  readonly log: LogSources;
  /** null: every subscription reads from the server, and the appends of other processes are not watched. */
  readonly tail: Tail | null;
}

/** Callbacks for the log's state and availability. */
interface Watching {
  readonly onState: (state: KnownState) => void;
  /** Called with null when the log is followed again. */
  readonly onBroken: (error: Error | null) => void;
}

/** Fills the tail and follows the log's state, until the signal aborts or the log can't be followed. Never waits between two events. */
const watchOnce = async (
  log: LogSources,
  tail: Tail,
  { onState, onBroken }: Watching,
  signal: AbortSignal,
): Promise<void> => {
  const { memory } = log;
  const after = memory.head.known;
  tail.begin(after);
  const following = { after, categories: TAIL_CATEGORIES, batchSize: BATCH_DEFAULT, signal, tail: null };
  const telling = { onProved: () => tail.open(), onInterrupted: () => tail.lost() };
  for await (const batch of follow(log, { ...following, ...telling })) {
    onBroken(null);
    const events = batch.kind === 'events' ? batch.events : [];
    for (const event of events) if (event.stream === STATE_STREAM) onState(stateOf(event));
    // Not simply the last event, which may be one of the adapter's own.
    const last = events.findLast(({ stream }) => isOwn(stream));
    if (last !== undefined) memory.saw(last.position, last.id);
    if (batch.position !== null) tail.push(events, batch.position);
  }
};

/** Continues with a restored log from its head. Ignores the answer of a server that does not know the position of its head. */
const watchLog = async (
  log: LogSources,
  tail: Tail,
  reader: Reader,
  watching: Watching,
  signal: AbortSignal,
): Promise<void> => {
  const { memory, timings, onError } = log;
  for (let attempt = 0; !signal.aborted; attempt++) {
    const { restores } = memory;
    const restored = new AbortController();
    const undo = memory.onRestored(() => {
      tail.lost();
      restored.abort();
    });
    try {
      await watchOnce(log, tail, watching, AbortSignal.any([signal, restored.signal]));
    } catch (error) {
      onError(error as Error);
      if (restores === memory.restores) watching.onBroken(error as Error);
    }
    undo();
    if (signal.aborted) return;
    await pause(timings.backoffMs(attempt), undefined, { signal }).catch(() => undefined);
    await readState(reader).then(watching.onState, onError);
  }
};

/** The reading part of the port. */
type Reads = Omit<EventStore, 'storeId' | 'append' | 'refusal' | 'close'> & Pick<DeletesDeliveries, 'isDeleted'>;

const readsOf = (
  reader: Reader,
  log: LogSources,
  tail: Tail | null,
  refuseWhenClosed: () => void,
  ended: AbortSignal,
): Reads => {
  const { memory } = log;
  return {
    async *readStream(stream, { from = 0 }: ReadOptions = {}): AsyncGenerator<RecordedEvent, void> {
      if (!Number.isSafeInteger(from) || from < 0) throw new RangeError(`bad revision ${from}`);
      for (let next = from; ; ) {
        refuseWhenClosed();
        const page = await reader.pageSoon(stream, next, STREAM_PAGE_EVENTS);
        yield* page;
        if (page.length < STREAM_PAGE_EVENTS) return;
        next += page.length;
      }
    },
    async *subscribe({ after, categories, batchSize = BATCH_DEFAULT, signal }: SubscribeOptions) {
      refuseWhenClosed();
      if (after !== null) logPositionOf(after);
      const wanted = categories === null ? CATEGORIES : checkCategories(categories);
      yield* follow(log, {
        after,
        categories: wanted,
        batchSize: checkBatchSize(batchSize),
        signal: AbortSignal.any([signal, ended]),
        tail: wanted.every((category) => TAIL_CATEGORIES.includes(category)) ? tail : null,
      });
    },
    async head() {
      refuseWhenClosed();
      return await memory.readHead();
    },
    async eventIdAt(position) {
      refuseWhenClosed();
      return await reader.idAt(position);
    },
    async isDeleted(id) {
      refuseWhenClosed();
      return await reader.isDeleted(WEBHOOK_DELIVERY.stream(id));
    },
    onRestored: (listener) => {
      refuseWhenClosed();
      return memory.onRestored(listener);
    },
    onHead: (listener) => {
      refuseWhenClosed();
      return memory.head.onHead(listener);
    },
  };
};

const startStore = ({
  storeId,
  state: stateAtFirst,
  reader,
  appender,
  deletion,
  log,
  tail,
}: Parts): EventStore & DeletesDeliveries => {
  const { memory } = log;
  const ended = new AbortController();
  let known = stateAtFirst;
  let closing: Promise<void> | null = null;
  let broken: Error | null = null;
  memory.onRestored(() => {
    appender.abandon();
    deletion.forget();
    known = { ...known, revision: -2 }; // until it is read again; -1 means a stream that was never written
  });
  const learning: Watching = {
    onState: (state) => {
      if (state.revision > known.revision) known = state;
    },
    onBroken: (error) => {
      broken = error;
    },
  };
  const watching = tail === null ? null : watchLog(log, tail, reader, learning, ended.signal);
  const refuseWhenClosed = (): void => {
    if (closing !== null) throw new EventStoreUnavailable('the event store is closed');
    if (broken !== null) throw new EventStoreUnavailable(broken.message, { cause: broken });
  };

  const close = async (): Promise<void> => {
    await appender.close();
    ended.abort();
    await watching;
    deletion.close();
    reader.close();
  };

  return {
    storeId,
    async append(stream, expected, events) {
      refuseWhenClosed();
      const refusal = refusalOf(known.state);
      if (refusal !== null) throw refusal;
      const checked = checkAppend(stream, expected, events);
      if (checked.dataKey !== undefined) throw new InvalidAppend('EventStoreDB stores no data keys');
      const result = await appender.append(checked);
      const last = events.at(-1);
      if (result.ok && result.position !== null && isOwn(stream) && last !== undefined)
        memory.saw(result.position, last.id.toLowerCase());
      return result;
    },
    async deleteDeliveries(ended, recordedBefore) {
      refuseWhenClosed();
      const refusal = refusalOf(known.state);
      if (refusal !== null) throw refusal;
      return await deletion.delete(ended, recordedBefore);
    },
    ...readsOf(reader, log, tail, refuseWhenClosed, ended.signal),
    async refusal() {
      refuseWhenClosed();
      return refusalOf(known.state);
    },
    close() {
      closing ??= close();
      return closing;
    },
  };
};
