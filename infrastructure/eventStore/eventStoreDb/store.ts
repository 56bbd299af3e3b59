// The event store port on EventStoreDB (architecture §5, README.md). Connections: one for appends, one for reads, one that watches for
// what other processes append, one for each subscription.
import type { DeletesDeliveries } from '../../../application/ports/deliveryRetention.ts';
import {
  type EventStore,
  EventStoreUnavailable,
  type Position,
  type ReadOptions,
  type RecordedEvent,
  type SubscribeOptions,
} from '../../../application/ports/eventStore.ts';
import { CATEGORIES, readStreamName } from '../../../domain/kernel/event.ts';
import { checkAppend } from '../checkAppend.ts';
import { KnownHead } from '../knownHead.ts';
import { refusalOf } from '../logState.ts';
import { BATCH_DEFAULT, checkBatchSize, checkCategories } from '../subscribeOptions.ts';
import { Appender } from './appender.ts';
import { Connector } from './connection.ts';
import { Deletion } from './deletion.ts';
import { logPositionOf } from './messages.ts';
import { identityOf, type KnownState, OWN_CATEGORY, readState, STATE_STREAM, stateOf } from './ownStreams.ts';
import { Reader } from './reader.ts';
import { readConnectionString, TIMINGS, type Timings } from './settings.ts';
import { follow, type LogSources } from './subscription.ts';

interface EventStoreDbOptions {
  /** `esdb://…` or `esdb+discover://…`, or the same with `kurrentdb`, with the credentials in it. */
  readonly connectionString: string;
  /** Told of every fault that is mended inside: lost connections, repeated appends, answers that nobody waits for. */
  readonly onError?: (error: Error) => void;
  readonly timings?: Partial<Timings>;
  /** For whoever copies logs: also opens one that is sealed, moved, or an unfinished copy. */
  readonly inAnyState?: true;
}

const STREAM_PAGE_EVENTS = 500;
/** "All categories" are ours: never a system stream, never those of another program on the same server. */
const OWN_PREFIXES = CATEGORIES.map((category) => `${category}-`);
const isOwn = (stream: string): boolean => CATEGORIES.some((category) => category === readStreamName(stream).category);

/** Opens the log. Throws BadConnectionString, EventStoreUnavailable, LogNotInUse. */
export async function openEventStoreDb(options: EventStoreDbOptions): Promise<EventStore & DeletesDeliveries> {
  const settings = readConnectionString(options.connectionString);
  const timings = { ...TIMINGS, ...options.timings };
  const onError = (error: Error): void => options.onError?.(error);
  // Reads and appends go to the leader, wherever it moves; subscriptions stay with the nodes that the connection string prefers.
  const connector = new Connector(settings);
  const reader = new Reader({ connector, timings, onError });
  const appender = new Appender({ connector, reader, timings, onError });
  const deletion = new Deletion({ connector, reader, appender, timings });
  try {
    const storeId = await identityOf(reader, appender);
    const head = new KnownHead<Position | null>(await reader.newest(OWN_PREFIXES), (error) => onError(error as Error));
    // After the head, from which on the state is followed.
    const state = await readState(reader);
    const refusal = options.inAnyState ? null : refusalOf(state.state);
    if (refusal !== null) throw refusal;
    const readHead = async (): Promise<Position | null> => {
      const position = await reader.newest(OWN_PREFIXES);
      head.learn(position);
      return position;
    };
    const log: LogSources = { connector: new Connector(settings), head, readHead, deletion, timings, onError };
    return startStore({ storeId, state, reader, appender, deletion, log });
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
}

/** Learns of what any process appends, and of what becomes of the log, until the signal. */
const watchLog = async (log: LogSources, onState: (state: KnownState) => void, signal: AbortSignal): Promise<void> => {
  const categories = [...CATEGORIES, OWN_CATEGORY];
  for await (const batch of follow(log, { after: log.head.known, categories, batchSize: BATCH_DEFAULT, signal })) {
    if (batch.kind !== 'events') continue;
    for (const event of batch.events) if (event.stream === STATE_STREAM) onState(stateOf(event));
    // Not the batch's position, which may be that of an event of the adapter's own.
    log.head.learn(batch.events.findLast(({ stream }) => isOwn(stream))?.position ?? null);
  }
};

const startStore = ({
  storeId,
  state: stateAtFirst,
  reader,
  appender,
  deletion,
  log,
}: Parts): EventStore & DeletesDeliveries => {
  const { head } = log;
  const ended = new AbortController();
  let known = stateAtFirst;
  const onState = (state: KnownState): void => {
    if (state.revision > known.revision) known = state;
  };
  let closing: Promise<void> | null = null;
  let broken: Error | null = null;
  // The log was put back under us: what this process remembers of it is not so any more.
  const watching = watchLog(log, onState, ended.signal).catch((error: Error) => {
    broken = error;
    log.onError(error);
  });
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
      const result = await appender.append(checkAppend(stream, expected, events));
      if (result.ok && isOwn(stream)) head.learn(result.position);
      return result;
    },
    async deleteDeliveries(ended, recordedBefore) {
      refuseWhenClosed();
      const refusal = refusalOf(known.state);
      if (refusal !== null) throw refusal;
      return await deletion.delete(ended, recordedBefore);
    },
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
      yield* follow(log, {
        after,
        categories: categories === null ? CATEGORIES : checkCategories(categories),
        batchSize: checkBatchSize(batchSize),
        signal: AbortSignal.any([signal, ended.signal]),
      });
    },
    async head() {
      refuseWhenClosed();
      return await log.readHead();
    },
    async refusal() {
      refuseWhenClosed();
      return refusalOf(known.state);
    },
    onHead: (listener) => {
      refuseWhenClosed();
      return head.onHead(listener);
    },
    close() {
      closing ??= close();
      return closing;
    },
  };
};
