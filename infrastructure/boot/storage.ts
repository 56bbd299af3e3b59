// The two stores and what stands on them: connections, event log, notices, with one way to close them.
import { JsonEventCodec } from '../../application/core/eventCodec.ts';
import type { DeletesDeliveries } from '../../application/ports/deliveryRetention.ts';
import type { EventLog } from '../../application/ports/eventCodec.ts';
import type { EventStore } from '../../application/ports/eventStore.ts';
import type { OpenLeaderSession } from '../../application/ports/leaderSession.ts';
import { openEventStoreDb } from '../eventStore/eventStoreDb/eventStoreDb.ts';
import { openPostgresEventStore } from '../eventStore/postgres/store.ts';
import { leaderSessions } from '../postgres/leaderSession.ts';
import { NotificationListener } from '../postgres/notificationListener.ts';
import { connectionConfig, PgPool } from '../postgres/session.ts';
import type { WatchTimings } from '../postgres/sessionWatch.ts';

// At most 20 connections a process (architecture §9): event store 5, reads 4, operations 4, jobs 3, notices 1, two leaders, one for leases.
const READS_MAX = 4;
const OPERATIONS_MAX = 4;
const JOBS_MAX = 3;

export interface Storage extends EventLog {
  readonly store: EventStore & DeletesDeliveries;
  /** Read models. */
  readonly reads: PgPool;
  /** Operational tables, durable. */
  readonly operations: PgPool;
  /** Derived work: its commits do not wait for the disk. */
  readonly derived: PgPool;
  readonly notices: NotificationListener;
  readonly openSession: OpenLeaderSession;
  close(): Promise<void>;
}

/** Lists sorted by any field compare every row of a tenant: two more processes halve that. Small reads never ask for them. */
export const PARALLEL_SORTS = '-c max_parallel_workers_per_gather=2';

/** On a migrated database. `eventStoreUrl` null: the log is kept in the same Postgres. */
export const openStorage = async (
  connectionString: string,
  eventStoreUrl: string | null,
  onError: (error: Error) => void,
  timings?: WatchTimings,
): Promise<Storage> => {
  const config = connectionConfig(connectionString, 'quita', timings);
  const { watch, options: timers } = config;
  const store =
    eventStoreUrl === null
      ? await openPostgresEventStore({ connectionString, watch, onError })
      : await openEventStoreDb({ connectionString: eventStoreUrl, onError });
  const reads = new PgPool({ ...config, options: `${timers} ${PARALLEL_SORTS}` }, READS_MAX, onError);
  const operations = new PgPool(config, OPERATIONS_MAX, onError);
  const derived = new PgPool({ ...config, options: `${timers} -c synchronous_commit=off` }, JOBS_MAX, onError);
  const notices = new NotificationListener(config);
  await notices.open();
  return {
    store,
    codec: new JsonEventCodec(),
    reads,
    operations,
    derived,
    notices,
    openSession: leaderSessions(config),
    close: async () => {
      await store.close();
      await notices.close();
      await Promise.all([reads.close(), operations.close(), derived.close()]);
    },
  };
};
