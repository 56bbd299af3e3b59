// What a capability is: its processes, its jobs and its schedules, declared once. Queues, timers, workers, the watchdog, what counts when
// a test clock is drained, metrics and operators' commands are derived from the list of capabilities; none is written a second time.

import type { Static, TObject } from 'typebox';
import type { Timestamp } from '../../domain/kernel/time.ts';
import {
  type JobHandler,
  type JobKind,
  type JobPayload,
  type JobRequest,
  PayloadsFailed,
  type Places,
} from '../ports/jobs.ts';
import { consumerName, type ProcessManager } from '../ports/processManager.ts';
import type { TimedKind, Timer, TimerRule } from '../ports/timers.ts';

/** What a payload of the schema is. */
type Fitting<Schema extends TObject> = Static<Schema> extends JobPayload ? Static<Schema> : never;

interface KindDescription<Schema extends TObject> {
  readonly name: string;
  readonly payload: Schema;
  readonly subjectOf: (payload: Fitting<Schema>) => string;
  readonly payloadsPerJob?: number;
}

export const jobKind = <Schema extends TObject>({
  name,
  payload: schema,
  subjectOf,
  payloadsPerJob,
}: KindDescription<Schema>): JobKind<Fitting<Schema>> => ({
  name,
  schema,
  subjectOf,
  timer: null,
  ...(payloadsPerJob !== undefined && { payloadsPerJob }),
});

/** A kind whose jobs timers become. Default: one timer for each subject, with the job's payload. */
export const timedKind = <Schema extends TObject>({
  timer = {},
  ...kind
}: KindDescription<Schema> & { readonly timer?: Partial<TimerRule<Fitting<Schema>>> }): TimedKind<Fitting<Schema>> => ({
  ...jobKind(kind),
  timer: {
    keyOf: kind.subjectOf,
    jobPayloadOf: (payload) => payload,
    isGroupTarget: false,
    onlyLater: false,
    ...timer,
  },
});

/** How a job counts while a test clock is drained, or a merchant waits until the sandbox is idle (X5, X7). */
export type Idle =
  /** The job is waited for while one runs or could run. */
  | 'awaited'
  /** The job schedules messages: it is waited for while one is open, between two attempts too. */
  | 'writesMessages'
  /** The job itself is not waited for: the drain fires its timers, or looks at its messages one by one. */
  | 'apart';

/** The bounds of one look for owed work. */
export interface Look {
  /** Real time. Work that was due before then by account clocks, and is not being done, is owed. */
  readonly before: Timestamp;
  /** The same bound for rows dated by the database: those older than this, in milliseconds. */
  readonly ageMs: number;
  /** Rows that are read at once; all pages are read. */
  readonly page: number;
}

/** Finds work that waits for a job, in data other than the jobs: read models, stored notifications. Several jobs may share a source. */
export type OwedSource<Needs, Found> = (needs: Needs, look: Look) => AsyncIterable<readonly Found[]>;

/** How the watchdog finds work whose job was lost. */
export type Owed<Needs, Payload extends JobPayload> =
  /** A row is stored with each job until its work is done: for work that nothing else shows. */
  | { readonly by: 'row' }
  | {
      readonly by: 'query';
      readonly source: OwedSource<Needs, unknown>;
      /** null: what was found is another job's. */
      readonly jobOf: (found: unknown) => Omit<JobRequest<Payload>, 'queue'> | null;
    };

export const BY_ROW = { by: 'row' } as const;

export const owedBy = <Needs, Found, Payload extends JobPayload>(
  source: OwedSource<Needs, Found>,
  jobOf: (found: Found) => Omit<JobRequest<Payload>, 'queue'> | null,
): Owed<Needs, Payload> => ({
  by: 'query',
  source: source as OwedSource<Needs, unknown>,
  jobOf: jobOf as (found: unknown) => Omit<JobRequest<Payload>, 'queue'> | null,
});

/** Does one payload. `dueAt`: the instant of its timer, in account time, where a test clock jumped over it. */
export type RunOne<Payload> = (payload: Payload, dueAt?: Timestamp) => Promise<void>;

export interface Handler<Payload extends JobPayload> extends JobHandler<Payload> {
  /** Absent: its timers become jobs whatever a test clock does, because its work may be slow (messages). */
  readonly runOne?: RunOne<Payload>;
}

/** A handler that does the payloads of a job side by side, each by itself. */
export const each = <Payload extends JobPayload>(runOne: RunOne<Payload>): Handler<Payload> => ({
  runOne,
  run: (payloads) => runAll(payloads, (payload) => runOne(payload)),
});

/** Runs all payloads, whichever fail. Throws PayloadsFailed with those that failed, so that only they are retried. */
export const runAll = async <Payload extends JobPayload>(
  payloads: readonly Payload[],
  run: (payload: Payload) => Promise<void>,
): Promise<void> => {
  const results = await Promise.allSettled(payloads.map(run));
  const failures = results.flatMap((result, i) =>
    result.status === 'rejected' ? [{ payload: payloads[i] as Payload, error: result.reason as Error }] : [],
  );
  if (failures.length > 0) throw new PayloadsFailed(failures);
};

export interface Job<Needs, Payload extends JobPayload = JobPayload> {
  readonly kind: JobKind<Payload>;
  readonly handler: (needs: Needs) => Handler<Payload>;
  readonly places: Places;
  readonly idle: Idle;
  readonly owed: Owed<Needs, Payload>;
  /**
   * For recurring work: when it is looked for (six fields of cron, seconds first). The watchdog leaves it out, because finding some is
   * normal.
   */
  readonly routine?: string;
}

/** Declares a job. The payload's type is forgotten outside, so that jobs of one capability stand in one list. */
export const job = <Needs, Payload extends JobPayload>(
  kind: JobKind<Payload>,
  declared: Omit<Job<Needs, NoInfer<Payload>>, 'kind'>,
): Job<Needs> => ({ kind, ...declared }) as unknown as Job<Needs>;

/** Upkeep that comes round by the clock in every worker, or only in the one that leads. */
export interface Upkeep<Needs> {
  readonly onlyLeader?: true;
  /** As a log says it: "targets that failed long ago could not be forgotten". */
  readonly failure: string;
  /** Six fields of cron, seconds first. */
  readonly pattern: string;
  readonly run: (needs: Needs) => Promise<void>;
}

/** A number that an operator watches, besides what is counted of every queue and process. */
export interface Gauge<Needs> {
  /** In snake case; its metric is `quita_<name>`. */
  readonly name: string;
  /** What it counts, in one sentence. */
  readonly help: string;
  readonly read: (needs: Needs) => Promise<number>;
}

export interface Capability<Needs> {
  readonly name: string;
  readonly processes: readonly ProcessManager[];
  readonly jobs: readonly Job<Needs>[];
  readonly upkeep?: readonly Upkeep<Needs>[];
  readonly gauges?: readonly Gauge<Needs>[];
}

export const processesOf = (capabilities: readonly Pick<Capability<never>, 'processes'>[]): readonly ProcessManager[] =>
  capabilities.flatMap(({ processes }) => processes);

export const jobsOf = <Needs>(capabilities: readonly Capability<Needs>[]): readonly Job<Needs>[] =>
  capabilities.flatMap(({ jobs }) => jobs);

/** Returns whether an event may be passed over for this consumer of the log without its being named twice. */
export const maySkip = (processes: readonly ProcessManager[], consumer: string): boolean =>
  processes.some((process) => consumerName(process) === consumer && !process.movesMoney);

// --- The handlers of all jobs, made of what they need: one of them needs the work of other jobs' timers done here and now ---

/** The work of timers, as the capabilities declare it. */
export interface TimerWork {
  /** Whether timers of the kind become jobs of their queue whatever the clock does, because their work may be slow: messages. */
  isSent(kind: string): boolean;
  /** Does the work of a timer, at its instant. */
  run(timer: Timer): Promise<void>;
}

/** Returns what jobs need and their handlers by the name of their kind. `needsWith`: what they need, given the work of timers. */
export const withHandlers = <Needs>(
  jobs: readonly Job<Needs>[],
  needsWith: (timerWork: TimerWork) => Needs,
): { readonly needs: Needs; readonly handlers: ReadonlyMap<string, Handler<JobPayload>> } => {
  const handlers = new Map<string, Handler<JobPayload>>();
  const needs = needsWith({
    isSent: (kind) => handlers.get(kind)?.runOne === undefined,
    run: async ({ kind, payload, dueAt }) => handlers.get(kind)?.runOne?.(payload, dueAt),
  });
  for (const { kind, handler } of jobs) handlers.set(kind.name, handler(needs));
  return { needs, handlers };
};
