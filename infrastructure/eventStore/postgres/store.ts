// The event store port on PostgreSQL (architecture §5). It uses at most 2 + poolSize connections: appends, notices, reads.
import type { DeletesDeliveries } from '../../../application/ports/deliveryRetention.ts';
import {
  type EventStore,
  EventStoreUnavailable,
  type ReadOptions,
  type RecordedEvent,
  type SubscribeOptions,
} from '../../../application/ports/eventStore.ts';
import { NotificationListener } from '../../postgres/notificationListener.ts';
import { connectionConfig } from '../../postgres/session.ts';
import { SessionWatch } from '../../postgres/sessionWatch.ts';
import { checkAppend } from '../checkAppend.ts';
import { refusalOf } from '../logState.ts';
import { BATCH_DEFAULT, checkBatchSize } from '../subscribeOptions.ts';
import { Announcements } from './announcements.ts';
import { deleteDeliveries } from './deletion.ts';
import { AppendQueue, Flusher } from './groupCommit.ts';
import { LogMemory } from './logMemory.ts';
import { categoryFilter, placeOf, positionOf, positionOrNull, Reader, STREAM_PAGE_EVENTS } from './reader.ts';
import { asError } from './session.ts';
import { SharedReads } from './sharedReads.ts';
import { follow } from './subscription.ts';

interface PostgresEventStoreOptions {
  readonly connectionString: string;
  /** Connections for reads, 1 to 3. Default 3. */
  readonly poolSize?: number;
  /** Called with every fault that the store recovers from (lost connections, repeated flushes). */
  readonly onError?: (error: Error) => void;
  /** For copying: also opens a log that is sealed, moved, or an unfinished copy. */
  readonly inAnyState?: true;
  /** Watch shared with other users of this database. Default: its own. */
  readonly watch?: SessionWatch;
  /** Listens on this database for all of the process; the caller opens it afterwards, and closes it. Default: its own. */
  readonly notices?: NotificationListener;
}

const POOL_SIZE_MAX = 3;

/** Opens the log in a migrated database. Throws EventStoreUnavailable if it can't be read, LogNotInUse if it must not be used. */
export async function openPostgresEventStore(
  options: PostgresEventStoreOptions,
): Promise<EventStore & DeletesDeliveries> {
  const { connectionString, poolSize = POOL_SIZE_MAX } = options;
  const name = 'quita event store: notices';
  const { watch = new SessionWatch({ connectionString, application_name: name }) } = options;
  const { notices = new NotificationListener(connectionConfig(connectionString, name, watch)) } = options;
  const onError = (error: unknown): void => options.onError?.(asError(error));
  const memory = new LogMemory(onError);
  const reader = new Reader({
    check: (session) => memory.check((query) => session.query(query)),
    connectionString,
    watch,
    poolSize: Math.min(Math.max(poolSize, 1), POOL_SIZE_MAX),
    onError,
  });
  try {
    const { storeId, state } = await reader.store();
    const refusal = options.inAnyState ? null : refusalOf(state);
    if (refusal !== null) throw refusal;
    const announcements = await Announcements.open({ notices, isOwn: notices !== options.notices, memory, onError });
    return startStore({ connectionString, watch, onError, reader, storeId, memory, announcements });
  } catch (error) {
    await reader.close();
    throw error;
  }
}

interface Parts {
  readonly connectionString: string;
  readonly watch: SessionWatch;
  readonly onError: (error: unknown) => void;
  readonly reader: Reader;
  readonly storeId: string;
  readonly memory: LogMemory;
  readonly announcements: Announcements;
}

/** The reading part of the port. */
type Reads = Omit<EventStore, 'storeId' | 'append' | 'close'>;

const readsOf = ({ reader, memory, onError }: Parts, refuseWhenClosed: () => void, ended: AbortSignal): Reads => {
  const { head } = memory;
  const shared = new SharedReads(reader, memory);
  return {
    async *readStream(stream, { from = 0 }: ReadOptions = {}): AsyncGenerator<RecordedEvent, void> {
      if (!Number.isSafeInteger(from) || from < 0) throw new RangeError(`bad revision ${from}`);
      for (let next = from; ; ) {
        refuseWhenClosed();
        const page = await reader.streamPage(stream, next);
        yield* page;
        if (page.length < STREAM_PAGE_EVENTS) return;
        next += page.length;
      }
    },
    async *subscribe({ after, categories, batchSize = BATCH_DEFAULT, signal }: SubscribeOptions) {
      refuseWhenClosed();
      yield* follow(
        { reader, memory, shared, onError },
        {
          after: placeOf(after),
          filter: categoryFilter(categories),
          batchSize: checkBatchSize(batchSize),
          signal: AbortSignal.any([signal, ended]),
        },
      );
    },
    async head() {
      refuseWhenClosed();
      const place = await reader.head();
      head.learn(place);
      return positionOrNull(place);
    },
    async refusal() {
      refuseWhenClosed();
      return refusalOf((await reader.store()).state);
    },
    async eventIdAt(position) {
      refuseWhenClosed();
      return (await reader.lookAt(placeOf(position))).id;
    },
    onRestored: (listener) => {
      refuseWhenClosed();
      return memory.onRestored((place) => listener(positionOrNull(place)));
    },
    onHead: (listener) => {
      refuseWhenClosed();
      return head.onHead((place) => listener(positionOf(place)));
    },
  };
};

const startStore = (parts: Parts): EventStore & DeletesDeliveries => {
  const { connectionString, watch, onError, reader, storeId, memory, announcements } = parts;
  const ended = new AbortController();
  const flusher = new Flusher({
    connectionString,
    watch,
    onError,
    onWritten: (first, events) => {
      announcements.announce(first + events.length - 1);
      memory.wrote(first, events);
    },
    check: (session) => memory.check((query) => session.query(query)),
  });
  const queue = new AppendQueue((members) => flusher.flush(members));
  memory.onRestored(() => queue.giveUpAll(new Error('the log was restored to an older state, or taken over')));
  let closing: Promise<void> | null = null;
  const refuseWhenClosed = (): void => {
    if (closing !== null) throw new EventStoreUnavailable('the event store is closed');
  };

  const close = async (): Promise<void> => {
    await queue.idle();
    ended.abort();
    await Promise.all([announcements.close(), flusher.close(), reader.close()]);
  };

  return {
    storeId,
    async append(stream, expected, events) {
      refuseWhenClosed();
      return await queue.add(checkAppend(stream, expected, events));
    },
    ...readsOf(parts, refuseWhenClosed, ended.signal),
    deleteDeliveries,
    isDeleted: async () => false,
    close() {
      closing ??= close();
      return closing;
    },
  };
};
