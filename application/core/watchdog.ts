// Finds work that is owed but has no open job, and enqueues it: a lost job is never lost work (architecture §7). Each job declares the
// query that finds its work in other data than the jobs.
import { fromMillis } from '../../domain/kernel/time.ts';
import type { Clock } from '../ports/clock.ts';
import type { JobQueue, JobRequest } from '../ports/jobs.ts';
import { type TimedKind, type Timers, timerKey } from '../ports/timers.ts';
import type { Job, Look, OwedSource } from './capability.ts';

/** Work that is younger may just be on its way. With the pause between two looks, lost work is found within two minutes. */
const CUTOFF_MS = 60_000;
/** Read at once; all pages are read. */
const PAGE = 1_000;

export interface WatchdogNeeds {
  readonly jobs: JobQueue;
  readonly timers: Pick<Timers, 'among'>;
  readonly clock: Clock;
}

/** Enqueues the work that is owed. Returns the jobs that were enqueued or opened again. */
export const haveOwedWorkDone = <Needs extends WatchdogNeeds>(
  jobs: readonly Job<Needs>[],
  needs: Needs,
  page = PAGE,
): Promise<readonly JobRequest[]> => needs.jobs.ensure(owedWork(jobs, needs, page));

/** One watchdog a deployment: does nothing where another process leads. */
export const lookIfLeading = async <Needs extends WatchdogNeeds>(
  isLeading: () => boolean,
  jobs: readonly Job<Needs>[],
  needs: Needs,
): Promise<readonly JobRequest[]> => (isLeading() ? haveOwedWorkDone(jobs, needs) : []);

async function* owedWork<Needs extends WatchdogNeeds>(
  jobs: readonly Job<Needs>[],
  needs: Needs,
  page: number,
): AsyncGenerator<readonly JobRequest[]> {
  const look: Look = { before: fromMillis(needs.clock.now() - CUTOFF_MS), ageMs: CUTOFF_MS, page };
  for (const { kind, owed } of jobs) if (owed.by === 'row') yield* needs.jobs.owedByRow(kind.name, look.ageMs, page);
  // Jobs that share a source are found by one reading of it.
  for (const [source, members] of bySource(jobs))
    for await (const found of source(needs, look)) yield await withoutTimer(needs, jobs, requestsOf(members, found));
}

const bySource = <Needs>(jobs: readonly Job<Needs>[]): ReadonlyMap<OwedSource<Needs, unknown>, readonly Job<Needs>[]> =>
  Map.groupBy(
    jobs.filter(({ owed }) => owed.by === 'query'),
    ({ owed }) => (owed as Extract<typeof owed, { by: 'query' }>).source,
  );

const requestsOf = <Needs>(jobs: readonly Job<Needs>[], found: readonly unknown[]): readonly JobRequest[] =>
  found.flatMap((one) =>
    jobs.flatMap(({ kind, owed }) => {
      const owing = owed.by === 'query' ? owed.jobOf(one) : null;
      return owing === null ? [] : [{ queue: kind.name, ...owing }];
    }),
  );

/** Leaves out work for which a timer is set. */
const withoutTimer = async <Needs extends WatchdogNeeds>(
  { timers }: Needs,
  jobs: readonly Job<Needs>[],
  requests: readonly JobRequest[],
): Promise<readonly JobRequest[]> => {
  const keyed = requests.map((request) => {
    const kind = jobs.find((one) => one.kind.name === request.queue)?.kind;
    return { request, key: kind?.timer ? timerKey(kind as TimedKind<JobRequest['payload']>, request.payload) : null };
  });
  const keys = keyed.flatMap(({ key }) => key ?? []);
  if (keys.length === 0) return requests;
  const set = new Set((await timers.among(keys)).map(({ kind, key }) => `${kind} ${key}`));
  return keyed.flatMap(({ request, key }) => (key !== null && set.has(`${key.kind} ${key.key}`) ? [] : [request]));
};
