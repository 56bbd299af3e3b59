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
import type { TimedKind, TimerRule } from '../ports/timers.ts';

/** What a payload of the schema is. */
type Fitting<Schema extends TObject> = Static<Schema> extends JobPayload ? Static<Schema> : never;

interface KindDescription<Schema extends TObject> {
  readonly name: string;
  readonly payload: Schema;
  readonly subjectOf: (payload: Fitting<Schema>) => string;
}

export const jobKind = <Schema extends TObject>({
  name,
  payload: schema,
  subjectOf,
}: KindDescription<Schema>): JobKind<Fitting<Schema>> => ({ name, schema, subjectOf, timer: null });

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

/** How a job counts while a test clock is drained, or a merchant waits for the sandbox to be at rest (X5, X7). */
export type Idle =
  /** Begun at once: waited for as long as one runs or could. */
  | 'awaited'
  /** Writes messages down: waited for as long as one is open, between two attempts too. */
  | 'writesMessages'
  /** Nobody waits for the job itself: its timers are worked off by the drain, or its messages are looked at one by one. */
  | 'apart';

/** How a look for owed work is made. */
export interface Look {
  /** Real time. What was due by account clocks before then, and nobody does, is owed. */
  readonly before: Timestamp;
  /** The same for what is dated by the database: older than this. */
  readonly ageMs: number;
  /** Rows that are read at once; all pages are read. */
  readonly page: number;
}

/** Finds what is written down besides the jobs and waits for them: read models, stored notifications … Several jobs may share one. */
export type OwedSource<Needs, Found> = (needs: Needs, look: Look) => AsyncIterable<readonly Found[]>;

/** By which the watchdog finds work whose job was lost. */
export type Owed<Needs, Payload extends JobPayload> =
  /** A row is written with each job, and stands until its work is done: for work that nothing else tells of. */
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

/** Runs all, whichever fails; then those that failed are named, and only they come again. Throws PayloadsFailed. */
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
   * For work that comes up by the clock: when it is looked for (six fields of cron, seconds first), instead of by the watchdog, and then
   * nothing is wrong when some is found.
   */
  readonly routine?: string;
}

/** Declares a job. The payload's type is forgotten outside, so that jobs of one capability stand in one list. */
export const job = <Needs, Payload extends JobPayload>(
  kind: JobKind<Payload>,
  declared: Omit<Job<Needs, NoInfer<Payload>>, 'kind'>,
): Job<Needs> => ({ kind, ...declared }) as unknown as Job<Needs>;

/** Upkeep that comes round by the clock in every worker. */
export interface Upkeep<Needs> {
  /** As a log says it: "targets that failed long ago could not be forgotten". */
  readonly failure: string;
  /** Six fields of cron, seconds first. */
  readonly pattern: string;
  readonly run: (needs: Needs) => Promise<void>;
}

export interface Capability<Needs> {
  readonly name: string;
  readonly processes: readonly ProcessManager[];
  readonly jobs: readonly Job<Needs>[];
  readonly upkeep: readonly Upkeep<Needs>[];
}

export const processesOf = (capabilities: readonly Pick<Capability<never>, 'processes'>[]): readonly ProcessManager[] =>
  capabilities.flatMap(({ processes }) => processes);

export const jobsOf = <Needs>(capabilities: readonly Capability<Needs>[]): readonly Job<Needs>[] =>
  capabilities.flatMap(({ jobs }) => jobs);

/** Returns whether an event may be passed over for this consumer of the log without its being named twice. */
export const maySkip = (processes: readonly ProcessManager[], consumer: string): boolean =>
  processes.some((process) => consumerName(process) === consumer && !process.movesMoney);
