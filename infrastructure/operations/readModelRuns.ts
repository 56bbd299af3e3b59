// Work on read models in the background of this process. Notices inform every process of the others' runs.
import { randomUUID } from 'node:crypto';
import type { ReadModelRun, ReadModelRuns } from '../../application/ports/readModelRuns.ts';
import { AlreadyRunning } from '../../application/ports/readModelWork.ts';
import { repeating } from '../../application/ports/repeating.ts';
import type { Sql } from '../../application/ports/sql.ts';
import type { Clock } from '../../application/ports/system.ts';
import { fromMillis } from '../../domain/kernel/time.ts';
import type { Closing } from '../capabilityAdapters.ts';
import { type Log, warnings } from '../log/log.ts';
import type { NotificationListener } from '../postgres/notificationListener.ts';

export interface RunsWorld extends Closing {
  readonly storage: { readonly operations: Sql; readonly notices: Pick<NotificationListener, 'on'> };
  readonly clock: Clock;
  readonly log: Log;
  /** Default: LOST_MS. */
  readonly lostMs?: number;
}

const CHANNEL = 'quita_read_model_runs';
const REPORT_MS = 1_000;
/** A running process reports every second. */
const LOST_MS = 15_000;
const KEPT = 20;

/** Returns the page's words for a failed run. Other errors may name rows, so only the log has them. */
const reasonOf = (error: unknown, isStopping: boolean): string => {
  if (error instanceof AlreadyRunning) return error.message;
  return isStopping ? 'the process stopped; a rebuild is resumed when it is started again' : 'see the log';
};

/** The runs known to this process. */
class Known {
  readonly #lostMs: number;
  readonly #runs = new Map<string, { readonly run: ReadModelRun; readonly heardAtMs: number }>();

  constructor(lostMs: number) {
    this.#lostMs = lostMs;
  }

  heard(run: ReadModelRun): void {
    this.#runs.set(run.id, { run, heardAtMs: performance.now() });
    for (const { id } of this.list().slice(KEPT)) this.#runs.delete(id);
  }

  list(): readonly ReadModelRun[] {
    const lostBeforeMs = performance.now() - this.#lostMs;
    return [...this.#runs.values()]
      .map(({ run, heardAtMs }): ReadModelRun => {
        const isLost = run.state === 'running' && heardAtMs < lostBeforeMs;
        return isLost ? { ...run, state: 'lost' } : run;
      })
      .toSorted((one, other) => other.startedAt.localeCompare(one.startedAt));
  }
}

export const openReadModelRuns = async ({
  storage,
  clock,
  log,
  closing,
  lostMs = LOST_MS,
}: RunsWorld): Promise<ReadModelRuns> => {
  const known = new Known(lostMs);
  /** Ids of this process's own runs, whose notices it ignores. */
  const own = new Set<string>();
  const stopping = new AbortController();
  const ends = new Set<Promise<void>>();
  const onError = warnings(log)('the progress of work on read models could not be reported');
  const now = () => fromMillis(clock.now());
  await storage.notices.on(CHANNEL, (payload) => {
    if (payload === '') return;
    const run = JSON.parse(payload) as ReadModelRun;
    // Another role of the database may have sent it.
    if (typeof run.startedAt === 'string' && !own.has(run.id)) known.heard(run);
  });
  closing(async () => {
    stopping.abort();
    await Promise.all(ends);
  });
  const start: ReadModelRuns['start'] = (wanted, work) => {
    const id = randomUUID();
    let run: ReadModelRun = {
      ...wanted,
      ...{ id, state: 'running', share: 0, what: '', startedAt: now(), endedAt: null, outcome: null, error: null },
    };
    own.add(id);
    const become = (more: Partial<ReadModelRun>): void => {
      run = { ...run, ...more };
      known.heard(run);
    };
    become({});
    const report = () => storage.operations.query('SELECT pg_notify($1, $2)', [CHANNEL, JSON.stringify(run)]);
    const reports = repeating(REPORT_MS, report, { onError });
    const follow = async (): Promise<void> => {
      try {
        await reports.now();
        stopping.signal.throwIfAborted();
        const outcome = await work(stopping.signal, ({ share, what }) => become({ share, what }));
        become({ state: 'done', share: 1, endedAt: now(), outcome });
      } catch (err) {
        const error = reasonOf(err, stopping.signal.aborted);
        become({ state: 'failed', endedAt: now(), error });
        log.warn({ err, work: run.work, readModel: run.readModel }, 'work on read models failed');
      }
      await reports.stop();
      await report().catch(onError);
    };
    const end = follow().finally(() => ends.delete(end));
    ends.add(end);
    return run;
  };
  return { list: () => known.list(), start };
};
