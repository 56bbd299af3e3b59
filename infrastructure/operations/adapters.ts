// Adapters for operators' work on the platform, in the running program and on the command line.
import type { Consumers } from '../../application/ports/consumers.ts';
import type { EventLog } from '../../application/ports/eventCodec.ts';
import type { OpenLeaderSession, SqlPool } from '../../application/ports/sql.ts';
import { capabilityAdapters } from '../capabilityAdapters.ts';
import { failedJobs } from '../jobs/failedJobs.ts';
import { consumerWork } from '../subscriptions/consumerWork.ts';
import { readModelWork } from '../subscriptions/readModelWork.ts';
import { oldRows } from './oldRows.ts';

interface World {
  readonly storage: EventLog & {
    readonly reads: SqlPool;
    readonly operations: SqlPool;
    readonly derived: SqlPool;
    readonly openSession: OpenLeaderSession;
  };
  /** All read models. */
  readonly projections: Parameters<typeof readModelWork>[0];
  /** Read models and processes. */
  readonly consumers: Pick<Consumers, 'names' | 'maySkip'>;
}

const adapters = ({ storage, projections, consumers }: World) => ({
  store: storage.store,
  consumers: consumerWork(storage, consumers),
  readModelWork: readModelWork(projections, storage, storage.openSession),
  failedJobs: failedJobs(storage.reads, storage.operations),
});

const working = (world: World) => ({ ...adapters(world), oldRows: oldRows(world.storage.derived) });

export const operations = capabilityAdapters({
  adapters: working,
  operatorsAdapters: adapters,
  terminal: () => import('./terminal.ts'),
});
