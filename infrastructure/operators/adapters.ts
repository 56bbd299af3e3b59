// What operators' work on the platform needs of the world, in the running program and at a terminal.
import type { Consumers } from '../../application/ports/consumers.ts';
import type { EventLog } from '../../application/ports/eventCodec.ts';
import type { OpenLeaderSession } from '../../application/ports/leaderSession.ts';
import type { SqlPool } from '../../application/ports/sql.ts';
import { failedJobs } from '../jobs/failedJobs.ts';
import { requestLogReads } from '../operations/requestLog.ts';
import { consumerWork } from '../subscriptions/consumerWork.ts';
import { readModelWork } from '../subscriptions/readModelWork.ts';

interface Stores extends EventLog {
  readonly reads: SqlPool;
  readonly operations: SqlPool;
  readonly openSession: OpenLeaderSession;
}

/** `projections`: all read models; `consumers`: they and the processes. */
export const operatorAdapters = (
  storage: Stores,
  projections: Parameters<typeof readModelWork>[0],
  consumers: Pick<Consumers, 'names' | 'maySkip'>,
) => ({
  store: storage.store,
  consumers: consumerWork(storage, consumers),
  readModelWork: readModelWork(projections, storage, storage.openSession),
  failedJobs: failedJobs(storage.reads, storage.operations),
  requestLog: requestLogReads(storage.reads),
});
