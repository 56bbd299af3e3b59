// Defines capabilities: use cases, processes, jobs and schedules, declared once. Routes, operators' commands, queues, timers, workers, the
// watchdog, the drain of test clocks, metrics and security log records are derived from the list of capabilities.

import Type, { type Static, type TObject, type TProperties, type TUnsafe } from 'typebox';
import type { AccountSetting, SandboxSwitch } from '../../domain/kernel/accountSetting.ts';
import type { Mode, PaymentId, RawId, StreamName } from '../../domain/kernel/ids.ts';
import type { Rejection } from '../../domain/kernel/rejection.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import {
  type JobHandler,
  type JobKind,
  type JobPayload,
  type JobRequest,
  PayloadsFailed,
  type Places,
  type TimerRule,
} from '../ports/jobs.ts';
import type { EffectHandler, ProcessManager } from '../ports/processManager.ts';
import type { ProviderNotification } from '../ports/providerNotifications.ts';
import type { SettingChanged } from '../ports/securityEvents.ts';
import type { TimedKind, Timer } from '../ports/timers.ts';

// --- Schemas of job payloads ---

/** Returns the schema of an object with these properties and no others. */
export const payloadOf = <Properties extends TProperties>(properties: Properties) =>
  Type.Object(properties, { additionalProperties: false });

export const idOf = <Id extends RawId>(): TUnsafe<Id> => Type.Unsafe<Id>(Type.String({ minLength: 1 }));
export const stream = Type.Unsafe<StreamName>(Type.String({ minLength: 1 }));
export const text = Type.String({ minLength: 1 });
export const mode = Type.Unsafe<Mode>(Type.String({ enum: ['test', 'live'] }));
export const instant = Type.Unsafe<Timestamp>(
  Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$' }),
);

/** The payload and subject of jobs about one payment. */
export const ofPayment = {
  payload: payloadOf({ paymentId: idOf<PaymentId>() }),
  subjectOf: ({ paymentId }: { readonly paymentId: PaymentId }) => paymentId,
};

/** The type of payloads that match the schema. */
type Fitting<Schema extends TObject> = Static<Schema> extends JobPayload ? Static<Schema> : never;

interface KindDescription<Schema extends TObject> {
  readonly name: string;
  readonly payload: Schema;
  /** See JobKind. Increase it when a property is added, and make the property optional. */
  readonly version?: number;
  readonly subjectOf: (payload: Fitting<Schema>) => string;
  readonly payloadsPerJob?: number;
}

export const jobKind = <Schema extends TObject>({
  name,
  payload: schema,
  version = 1,
  subjectOf,
  payloadsPerJob,
}: KindDescription<Schema>): JobKind<Fitting<Schema>> => ({
  name,
  schema,
  version,
  subjectOf,
  timer: null,
  ...(payloadsPerJob !== undefined && { payloadsPerJob }),
});

/** Returns a kind of job that timers start. Default: one timer for each subject, with the job's payload. */
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

/** How the drain of a test clock and the sandbox's wait for idleness treat a job (X5, X7). */
export type Idle =
  /** Wait while such a job is running or ready to run. */
  | 'awaited'
  /** The job schedules messages: wait while one is open, also between two attempts. */
  | 'writesMessages'
  /** Don't wait for the job: the drain fires its timers, or tracks its messages individually. */
  | 'apart';

/** The bounds of one search for owed work. */
export interface Look {
  /** In real time. Work that was due before then by account clocks, and has no job, is owed. */
  readonly before: Timestamp;
  /** The same bound for rows dated by the database: their minimum age, in milliseconds. */
  readonly ageMs: number;
  /** Rows per page; all pages are read. */
  readonly page: number;
}

/** Finds work that needs a job, in data other than the jobs, such as read models and notifications. Several jobs may share a source. */
export type OwedSource<Needs, Found> = (needs: Needs, look: Look) => AsyncIterable<readonly Found[]>;

/** How the watchdog finds work with a lost job. */
type Owed<Needs, Payload extends JobPayload> =
  /** A row is stored with each job until its work is done. For work that no other data shows. */
  | { readonly by: 'row' }
  | {
      readonly by: 'query';
      readonly source: OwedSource<Needs, unknown>;
      /** null: the item belongs to another job. */
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

/**
 * Handles one payload. `dueAt`: when its timer was due, in account time, if a test clock skipped that instant. `mayBeRepeat`: see
 * JobHandler.
 */
type RunOne<Payload> = (payload: Payload, dueAt?: Timestamp, mayBeRepeat?: boolean) => Promise<void>;

export interface Handler<Payload extends JobPayload> extends JobHandler<Payload> {
  /** Absent if the work may be slow (messages). Timers then always become jobs, even during the drain of a test clock. */
  readonly runOne?: RunOne<Payload>;
}

/** Returns a handler that handles the payloads of a job concurrently and independently. */
export const each = <Payload extends JobPayload>(runOne: RunOne<Payload>): Handler<Payload> => ({
  runOne,
  run: (payloads, _target, mayBeRepeat) => runAll(payloads, (payload) => runOne(payload, undefined, mayBeRepeat)),
});

/** Runs all payloads, even if some fail. Throws PayloadsFailed with those that failed, so that only they are retried. */
export const runAll = async <Payload extends JobPayload>(
  payloads: readonly Payload[],
  run: (payload: Payload) => Promise<void>,
): Promise<void> => {
  const results = await Promise.allSettled(payloads.map(run));
  const failures = results.flatMap((result, i) => {
    if (result.status === 'fulfilled') return [];
    const error = result.reason as Error;
    return error instanceof PayloadsFailed ? error.failures : [{ payload: payloads[i] as Payload, error }];
  });
  if (failures.length > 0) throw new PayloadsFailed(failures);
};

/** A job of a capability. `Parts`: the dependencies of its handler. */
export interface Job<Needs, Payload extends JobPayload = JobPayload, Parts = Needs> {
  readonly kind: JobKind<Payload>;
  readonly handler: (parts: Parts) => Handler<Payload>;
  readonly places: Places;
  readonly idle: Idle;
  readonly owed: Owed<Needs, Payload>;
  /**
   * For recurring work: when to look for it (six fields of cron, seconds first). The watchdog skips such jobs, because finding work for
   * them is normal.
   */
  readonly routine?: string;
}

/** Declares a job. The result's type hides the payload's type, so that all jobs of a capability fit into one list. */
export const job = <Needs, Parts, Payload extends JobPayload>(
  kind: JobKind<Payload>,
  declared: Omit<Job<Needs, NoInfer<Payload>, Parts>, 'kind'>,
): Job<Needs, JobPayload, Parts> => ({ kind, ...declared }) as unknown as Job<Needs, JobPayload, Parts>;

/** Scheduled maintenance, run by every worker or only by the one that has the duty. */
interface Upkeep<Parts> {
  readonly onlyLeader?: true;
  /** The log message if it fails, such as "targets that failed long ago could not be forgotten". */
  readonly failure: string;
  /** Six fields of cron, seconds first. */
  readonly pattern: string;
  readonly run: (parts: Parts) => Promise<void>;
}

/** A metric for operators, in addition to the metrics of every queue and process. */
export interface Gauge<Parts> {
  /** In snake case; its metric is `quita_<name>`. */
  readonly name: string;
  /** One sentence that describes the metric. */
  readonly help: string;
  readonly read: (parts: Parts) => Promise<number>;
}

/** Handles a stored notification. Returns false if the provider does not confirm it. */
export type HandleNotification = (notification: ProviderNotification) => Promise<boolean>;

/** A kind of notification, and how it is handled. */
type NotificationKind<Parts> =
  /**
   * The notification is stored first. `overtakesMoney`: it is handled again when money for its payment has arrived, because it has no
   * effect before that.
   */
  | { readonly handle: (parts: Parts) => HandleNotification; readonly overtakesMoney?: true }
  /** The notification is not stored. The job asks the provider for the current state. */
  | { readonly job: Pick<JobKind, 'name'> };

/** Makes the security log's record of a use case that was not rejected; null if nothing was changed. */
export type RecordOf<UseCase> = UseCase extends (...args: infer Args) => Promise<infer Done>
  ? (done: Exclude<Done, Rejection>, ...args: Args) => SettingChanged | null
  : never;

interface Declared<Parts, UseCases> {
  readonly name: string;
  readonly processes?: readonly ProcessManager[];
  /** Account settings, agreed with the merchant. */
  readonly settings?: readonly AccountSetting[];
  readonly sandboxSwitches?: readonly SandboxSwitch[];
  readonly upkeep?: readonly Upkeep<Parts>[];
  readonly gauges?: readonly Gauge<Parts>[];
  readonly notifications?: { readonly [kind: string]: NotificationKind<Parts> };
  /** By name: effects that its reactions request, carried out in the transaction that moves their checkpoint. */
  readonly effects?: { readonly [name: string]: (parts: Parts) => EffectHandler };
  /** Use cases that routes call for merchants and payers. */
  readonly useCases?: (parts: Parts) => UseCases;
  /** The security log's records of use cases that change settings. */
  readonly records?: { readonly [Name in keyof NoInfer<UseCases>]?: RecordOf<NoInfer<UseCases>[Name]> };
}

/**
 * A capability. `Operating`: the needs of operators' use cases, which are fewer, because these also run on the command line, without a job
 * queue or secrets.
 */
export interface Capability<Needs, UseCases = object, Operators = object, Operating = Needs>
  extends Required<Declared<Needs, UseCases>> {
  readonly jobs: readonly Job<Needs>[];
  /** Use cases that operators of the platform call, by a request or on the command line. */
  readonly operators: (needs: Operating) => Operators;
}

/** Returns the function, memoized by its argument. */
export const once = <From extends object, Made>(make: (from: From) => Made): ((from: From) => Made) => {
  const made = new WeakMap<From, { readonly value: Made }>();
  return (from) => {
    const known = made.get(from) ?? { value: make(from) };
    made.set(from, known);
    return known.value;
  };
};

/**
 * Declares a capability. `parts`: makes its dependencies from its needs, once per process, for its jobs and use cases alike.
 */
export const capability = <
  Needs extends object,
  Parts extends Needs,
  UseCases = object,
  Operators = object,
  Operating = unknown,
>({
  parts,
  jobs = [],
  operators = () => ({}) as Operators,
  ...declared
}: Declared<Parts, UseCases> & {
  readonly parts: (needs: Needs) => Parts;
  readonly jobs?: readonly Job<Needs, JobPayload, Parts>[];
  readonly operators?: (needs: Operating) => Operators;
}): Capability<Needs, UseCases, Operators, Operating> => {
  const partsOf = once(parts);
  const ofNeeds =
    <Made>(make: (parts: Parts) => Made) =>
    (needs: Needs): Made =>
      make(partsOf(needs));
  const {
    name,
    processes = [],
    settings = [],
    sandboxSwitches = [],
    upkeep = [],
    gauges = [],
    notifications = {},
    effects = {},
  } = declared;
  const { useCases = () => ({}) as UseCases, records = {} } = declared;
  return {
    name,
    processes,
    settings,
    sandboxSwitches,
    jobs: jobs.map((one) => ({ ...one, handler: ofNeeds(one.handler) })),
    upkeep: upkeep.map((one) => ({ ...one, run: ofNeeds(one.run) })),
    gauges: gauges.map((one) => ({ ...one, read: ofNeeds(one.read) })),
    notifications: mapped(notifications, (kind) => ('job' in kind ? kind : { handle: ofNeeds(kind.handle) })),
    effects: mapped(effects, ofNeeds),
    useCases: ofNeeds(useCases),
    records,
    operators,
  };
};

const mapped = <From, To>(
  values: { readonly [name: string]: From },
  map: (value: From) => To,
): { readonly [name: string]: To } =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, map(value)]));

// --- Work declared by all capabilities that some of them call directly ---

/** The work of timers, as declared by the capabilities. */
export interface TimerWork {
  /** Returns whether timers of the kind always become jobs, because their work may be slow (messages). */
  isSent(kind: string): boolean;
  /** Does the work of a timer directly, at its instant. */
  run(timer: Timer): Promise<void>;
}

/** The handling of stored notifications, as declared by the capabilities. */
export interface NotificationWork {
  /** Returns false if the provider does not confirm the notification. */
  readonly handle: HandleNotification;
  /** Handles reports that may have arrived before the money of this notification. */
  readonly afterMoney: (notification: ProviderNotification) => Promise<void>;
}
