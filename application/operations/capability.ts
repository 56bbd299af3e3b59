// Operators' use cases for the platform (rule O1): the log and its consumers, read models, parked streams, the ledger and jobs.
import { ACCOUNT } from '../../domain/account/account.ts';
import type { StreamName } from '../../domain/kernel/ids.ts';
import { capability } from '../core/capability.ts';
import type { UseCaseNeeds } from '../core/useCase.ts';
import type { Consumers } from '../ports/consumers.ts';
import type { EventStore, RecordedEvent } from '../ports/eventStore.ts';
import type { FailedJobs } from '../ports/failedJobs.ts';
import type { OldRows } from '../ports/oldRows.ts';
import type { LedgerReads } from '../ports/readModels/ledger.ts';
import type { WalletViews } from '../ports/readModels/views.ts';
import type { ReadModelWork } from '../ports/readModelWork.ts';
import type { Stopwatch } from '../ports/system.ts';
import { withRests } from '../ports/withRests.ts';
import { type CheckSystemNeeds, checkSystem } from './checkSystem.ts';
import { listConsumers } from './consumers.ts';
import { checkLedger, showLedger } from './ledger.ts';
import { listParked, retryParked, showParked, skipParked } from './parked.ts';
import { type ReadModelRunsNeeds, startReadModelRun } from './readModelRuns.ts';
import { type SystemReportNeeds, systemReports } from './systemReport.ts';
import { enterOrderOutcome, unansweredOrders } from './unansweredOrders.ts';

interface OperationsNeeds extends UseCaseNeeds, CheckSystemNeeds {
  readonly store: EventStore;
  readonly consumers: Consumers;
  readonly readModelWork: ReadModelWork;
  readonly failedJobs: FailedJobs;
  readonly ledger: LedgerReads;
  readonly views: { readonly wallet: WalletViews };
}

interface OldRowsNeeds {
  readonly oldRows: OldRows;
  readonly stopwatch: Stopwatch;
}

/** How long a run that deletes old rows may take. */
const DELETING_MS = 10_000;

/** Yields the log in pages, from its beginning or its end. With `isLive` it continues until the signal, otherwise to the current head. */
const readLog = ({ store }: Pick<OperationsNeeds, 'store'>) =>
  async function* (
    from: 'start' | 'end',
    isLive: boolean,
    signal: AbortSignal,
  ): AsyncGenerator<readonly RecordedEvent[]> {
    const after = from === 'start' ? null : await store.head();
    for await (const batch of store.subscribe({ after, categories: null, signal })) {
      if (batch.kind === 'events') yield batch.events;
      else if (batch.kind === 'caughtUp' && !isLive) return;
    }
  };

/** Returns up to `limit` events of a stream, starting at a revision. */
const readStream =
  ({ store }: Pick<OperationsNeeds, 'store'>) =>
  async (stream: StreamName, from: number, limit: number): Promise<readonly RecordedEvent[]> => {
    const events: RecordedEvent[] = [];
    for await (const event of store.readStream(stream, { from })) {
      events.push(event);
      if (events.length === limit) break;
    }
    return events;
  };

/** Returns failed jobs, of one queue or (null) of all. */
const listFailedJobs =
  ({ failedJobs }: Pick<OperationsNeeds, 'failedJobs'>) =>
  async (queue: string | null, limit: number) => {
    const { jobs, total } = await failedJobs.list(queue, limit);
    return {
      jobs: jobs.map(({ tenant: { accountId, mode }, id, queue: of, state, attempts, error, failedAt, ...job }) => ({
        id,
        queue: of,
        state,
        accountId: ACCOUNT.idPrefix + accountId,
        mode,
        attempts,
        error,
        failedAt,
        nextAttemptAt: job.nextAttemptAt,
      })),
      total,
    };
  };

export const operations = capability({
  name: 'operations',
  parts: (needs: OldRowsNeeds & ReadModelRunsNeeds & SystemReportNeeds) => needs,
  upkeep: [
    {
      failure: 'old operational rows could not be deleted',
      pattern: '*/20 * * * * *',
      onlyLeader: true,
      run: ({ oldRows, stopwatch }) => withRests(stopwatch, DELETING_MS, () => oldRows.deleteSome()),
    },
    {
      failure: 'places of idle accounts in the hourly limits could not be deleted',
      pattern: '40 */10 * * * *',
      onlyLeader: true,
      run: ({ oldRows, stopwatch }) => withRests(stopwatch, DELETING_MS, () => oldRows.deleteIdlePlaces()),
    },
  ],
  // For operators, but only in a running program.
  useCases: (parts: ReadModelRunsNeeds & SystemReportNeeds) => ({
    ...systemReports(parts),
    startReadModelRun: startReadModelRun(parts),
    /** Returns the rebuilds and verifications since this process started, of all processes, newest first. */
    readModelRuns: parts.readModelRuns.list,
  }),
  operators: (needs: OperationsNeeds) => ({
    readModels: needs.readModelWork.names,
    rebuild: needs.readModelWork.rebuild,
    verify: needs.readModelWork.verify,
    readModelsAsOf: needs.readModelWork.asOf,
    dropReadModelsAsOf: needs.readModelWork.dropAsOf,
    readLog: readLog(needs),
    readStream: readStream(needs),
    listConsumers: listConsumers(needs),
    divideConsumer: needs.consumers.divide,
    listParked: listParked(needs),
    showParked: showParked(needs),
    retryParked: retryParked(needs),
    skipParked: skipParked(needs),
    checkLedger: checkLedger(needs),
    showLedger: showLedger(needs),
    listFailedJobs: listFailedJobs(needs),
    redriveJobs: needs.failedJobs.redrive,
    listQueues: needs.failedJobs.queues,
    /** Returns whether an operator may have this consumer skip an event without naming the consumer twice. */
    maySkip: needs.consumers.maySkip,
    checkSystem: checkSystem(needs),
    listUnansweredOrders: unansweredOrders(needs),
    enterOrderOutcome: enterOrderOutcome(needs),
    listLeaders: needs.systemChecks.leaders,
    /** Returns the version of this process, and when it started. */
    showProcess: () => ({ version: needs.systemChecks.version, startedAt: needs.systemChecks.startedAt }),
  }),
});
