// Finds owed work without an open job and enqueues it, so that a lost job is never lost work (architecture §7). Each job declares how to
// find its work in data other than the jobs.
import { fromMillis } from '../../domain/kernel/time.ts';
import { throwFirst } from '../ports/eachInTurn.ts';
import type { JobQueue, JobRequest } from '../ports/jobs.ts';
import type { Clock } from '../ports/system.ts';
import { type TimedKind, type Timers, timerKey } from '../ports/timers.ts';
import type { Job, Look, OwedSource } from './capability.ts';

/** Younger work may still get its job. Together with the pause between two looks, lost work is found within two minutes. */
const CUTOFF_MS = 60_000;
/** Rows per page; all pages are read. */
const PAGE = 1_000;

export interface WatchdogNeeds {
  readonly jobs: JobQueue;
  readonly timers: Pick<Timers, 'among'>;
  readonly clock: Clock;
}

/** Enqueues owed work. Returns the jobs that were enqueued or reopened. Throws the first error of a source after the other sources. */
export const enqueueOwedWork = async <Needs extends WatchdogNeeds>(
  jobs: readonly Job<Needs>[],
  needs: Needs,
  page = PAGE,
): Promise<readonly JobRequest[]> => {
  const errors: unknown[] = [];
  const enqueued = await needs.jobs.ensure(owedWork(jobs, needs, page, errors));
  throwFirst(errors);
  return enqueued;
};

/** Enqueues owed work if this process is the leader, so that a deployment has one watchdog. */
export const lookIfLeading = async <Needs extends WatchdogNeeds>(
  isLeading: () => boolean,
  jobs: readonly Job<Needs>[],
  needs: Needs,
): Promise<readonly JobRequest[]> => (isLeading() ? enqueueOwedWork(jobs, needs) : []);

async function* owedWork<Needs extends WatchdogNeeds>(
  jobs: readonly Job<Needs>[],
  needs: Needs,
  page: number,
  errors: unknown[],
): AsyncGenerator<readonly JobRequest[]> {
  const look: Look = { before: fromMillis(needs.clock.now() - CUTOFF_MS), ageMs: CUTOFF_MS, page };
  for (const { kind, owed } of jobs)
    if (owed.by === 'row') yield* untilError(needs.jobs.owedByRow(kind.name, look.ageMs, page), errors);
  async function* requestsFrom(source: OwedSource<Needs, unknown>, members: readonly Job<Needs>[]) {
    for await (const found of source(needs, look)) yield await withoutTimer(needs, jobs, requestsOf(members, found));
  }
  // A source that several jobs share is read only once.
  for (const [source, members] of bySource(jobs)) yield* untilError(requestsFrom(source, members), errors);
}

/** Yields the pages up to an error, and keeps it. So a source that fails doesn't hide the work of the others. */
async function* untilError<Page>(pages: AsyncIterable<Page>, errors: unknown[]): AsyncGenerator<Page> {
  try {
    yield* pages;
  } catch (error) {
    errors.push(error);
  }
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

/** Returns the requests without those for which a timer is set. */
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
