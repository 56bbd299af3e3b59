// Opens both stores: connection pools, event log and notifications, all closed together.
import { JsonEventCodec } from '../../application/core/eventCodec.ts';
import type { DataKeys } from '../../application/ports/dataKeys.ts';
import type { DeletesDeliveries } from '../../application/ports/deliveryRetention.ts';
import type { EventLog } from '../../application/ports/eventCodec.ts';
import type { EventStore } from '../../application/ports/eventStore.ts';
import type { OpenLeaderSession } from '../../application/ports/sql.ts';
import { openEventStoreDb } from '../eventStore/eventStoreDb/eventStoreDb.ts';
import { openPostgresEventStore } from '../eventStore/postgres/store.ts';
import { leaderSessions } from '../postgres/leaderSession.ts';
import { NotificationListener } from '../postgres/notificationListener.ts';
import { connectionConfig, PgPool } from '../postgres/session.ts';
import type { WatchTimings } from '../postgres/sessionWatch.ts';
import { PostgresDataKeys } from '../secrets/dataKeys.ts';
import type { SecretsKeyring } from '../secrets/keyring.ts';

// At most 24 connections per process (architecture §9): event store 4, reads 4, operations 8, jobs 3, notices 1, leaders 2, leases 2.
const READS_MAX = 4;
const OPERATIONS_MAX = 8;
const JOBS_MAX = 3;

export interface Storage extends EventLog {
  readonly dataKeys: DataKeys;
  readonly store: EventStore & DeletesDeliveries;
  /** Where the log is; null: in the same Postgres. */
  readonly eventStoreUrl: string | null;
  /** Read models. */
  readonly reads: PgPool;
  /** Durable operational tables. */
  readonly operations: PgPool;
  /** Tables with derived data; commits do not wait for the disk. */
  readonly derived: PgPool;
  readonly notices: NotificationListener;
  readonly openSession: OpenLeaderSession;
  /** Number of subscriptions that EventStoreDB or a connection ended, and that were opened again. With the log in PostgreSQL always 0. */
  readonly lostSubscriptions: () => number;
  close(): Promise<void>;
}

/** Sorting a list by any field compares all rows of a tenant; two parallel workers halve the time. Small reads don't use them. */
export const PARALLEL_SORTS = '-c max_parallel_workers_per_gather=2';

/**
 * Opens the stores of a migrated database. If `eventStoreUrl` is null, the log is in the same Postgres. If `keyring` is null, sealed
 * personal data can't be read.
 */
export const openStorage = async (
  connectionString: string,
  eventStoreUrl: string | null,
  keyring: SecretsKeyring | null,
  onError: (error: Error) => void,
  timings?: WatchTimings,
): Promise<Storage> => {
  const config = connectionConfig(connectionString, 'quita', timings);
  const { watch, options: timers } = config;
  let lost = 0;
  const onLost = (): void => {
    lost++;
  };
  const notices = new NotificationListener(config);
  const store =
    eventStoreUrl === null
      ? await openPostgresEventStore({ connectionString, watch, notices, onError })
      : await openEventStoreDb({ connectionString: eventStoreUrl, onError, onLost });
  const reads = new PgPool({ ...config, options: `${timers} ${PARALLEL_SORTS}` }, READS_MAX, onError);
  const operations = new PgPool(config, OPERATIONS_MAX, onError);
  const derived = new PgPool({ ...config, options: `${timers} -c synchronous_commit=off` }, JOBS_MAX, onError);
  await notices.open();
  const dataKeys = new PostgresDataKeys(operations, keyring, eventStoreUrl === null);
  await dataKeys.listen(notices);
  store.onRestored(() => dataKeys.forgetAll());
  return {
    store,
    eventStoreUrl,
    codec: new JsonEventCodec(dataKeys),
    dataKeys,
    reads,
    operations,
    derived,
    notices,
    openSession: leaderSessions(config),
    lostSubscriptions: () => lost,
    close: async () => {
      await store.close();
      await notices.close();
      await Promise.all([reads.close(), operations.close(), derived.close()]);
    },
  };
};
