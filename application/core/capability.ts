// What a capability is: its use cases, processes, jobs and schedules, declared once. What routes and operators can call, queues, timers,
// workers, the watchdog, what counts when a test clock is drained, metrics and the security log's records are derived from the list of
// capabilities; none is written a second time.

import type { Static, TObject } from 'typebox';
import type { AccountSetting } from '../../domain/kernel/accountSetting.ts';
import type { Rejection } from '../../domain/kernel/rejection.ts';
import type { SandboxSwitch } from '../../domain/kernel/sandboxSwitch.ts';
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
type Owed<Needs, Payload extends JobPayload> =
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
type RunOne<Payload> = (payload: Payload, dueAt?: Timestamp) => Promise<void>;

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

/** `Parts`: what its handler is made of. */
export interface Job<Needs, Payload extends JobPayload = JobPayload, Parts = Needs> {
  readonly kind: JobKind<Payload>;
  readonly handler: (parts: Parts) => Handler<Payload>;
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
export const job = <Needs, Parts, Payload extends JobPayload>(
  kind: JobKind<Payload>,
  declared: Omit<Job<Needs, NoInfer<Payload>, Parts>, 'kind'>,
): Job<Needs, JobPayload, Parts> => ({ kind, ...declared }) as unknown as Job<Needs, JobPayload, Parts>;

/** Upkeep that comes round by the clock in every worker, or only in the one that leads. */
interface Upkeep<Parts> {
  readonly onlyLeader?: true;
  /** As a log says it: "targets that failed long ago could not be forgotten". */
  readonly failure: string;
  /** Six fields of cron, seconds first. */
  readonly pattern: string;
  readonly run: (parts: Parts) => Promise<void>;
}

/** A number that an operator watches, besides what is counted of every queue and process. */
export interface Gauge<Parts> {
  /** In snake case; its metric is `quita_<name>`. */
  readonly name: string;
  /** What it counts, in one sentence. */
  readonly help: string;
  readonly read: (parts: Parts) => Promise<number>;
}

/** Handles a stored notification. */
export type HandleNotification = (notification: ProviderNotification) => Promise<boolean>;

/** A kind of notification: what is done when a provider reports something. */
type NotificationKind<Parts> =
  /**
   * It is stored first. The handler returns false where the provider does not confirm it. `overtakesMoney`: it is handled once more when
   * money of its payment has arrived, because before then there was nothing that it could take effect on.
   */
  | { readonly handle: (parts: Parts) => HandleNotification; readonly overtakesMoney?: true }
  /** It is not stored: the job asks the provider about what moved. */
  | { readonly job: Pick<JobKind, 'name'> };

/** What the security log records of a use case that was not refused; null: nothing was changed. */
export type RecordOf<UseCase> = UseCase extends (...args: infer Args) => Promise<infer Done>
  ? (done: Exclude<Done, Rejection>, ...args: Args) => SettingChanged | null
  : never;

interface Declared<Parts, UseCases> {
  readonly name: string;
  readonly processes?: readonly ProcessManager[];
  /** What accounts keep for it, agreed with the merchant. */
  readonly settings?: readonly AccountSetting[];
  readonly sandboxSwitches?: readonly SandboxSwitch[];
  readonly upkeep?: readonly Upkeep<Parts>[];
  readonly gauges?: readonly Gauge<Parts>[];
  readonly notifications?: { readonly [kind: string]: NotificationKind<Parts> };
  /** What its reactions have done in the transaction that moves their checkpoint, by the name of the effect. */
  readonly effects?: { readonly [name: string]: (parts: Parts) => EffectHandler };
  /** What routes call for merchants and payers. */
  readonly useCases?: (parts: Parts) => UseCases;
  /** Which use cases change settings, and what the security log says of each. */
  readonly records?: { readonly [Name in keyof NoInfer<UseCases>]?: RecordOf<NoInfer<UseCases>[Name]> };
}

/** `Operating`: what operators' use cases need; less than the rest, because they run at a terminal too, without a job queue or secrets. */
export interface Capability<Needs, UseCases = object, Operators = object, Operating = Needs>
  extends Required<Declared<Needs, UseCases>> {
  readonly jobs: readonly Job<Needs>[];
  /** What operators of the platform call, by a request or at a terminal. */
  readonly operators: (needs: Operating) => Operators;
}

/** Returns the same function, which makes each thing once. */
const once = <From extends object, Made>(make: (from: From) => Made): ((from: From) => Made) => {
  const made = new WeakMap<From, { readonly value: Made }>();
  return (from) => {
    const known = made.get(from) ?? { value: make(from) };
    made.set(from, known);
    return known.value;
  };
};

/**
 * Declares a capability. `parts`: what it needs of the world, and what it makes of that, once in a process, for its jobs and use cases
 * alike.
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

// --- What all capabilities declare, which some of them have done here and now ---

/** The work of timers, as the capabilities declare it. */
export interface TimerWork {
  /** Whether timers of the kind become jobs of their queue whatever the clock does, because their work may be slow: messages. */
  isSent(kind: string): boolean;
  /** Does the work of a timer, at its instant. */
  run(timer: Timer): Promise<void>;
}

/** The handling of stored notifications, as the capabilities declare it. */
export interface NotificationWork {
  /** Returns false where the provider does not confirm it. */
  readonly handle: HandleNotification;
  /** Handles what may have overtaken the money of this notification. */
  readonly afterMoney: (notification: ProviderNotification) => Promise<void>;
}
