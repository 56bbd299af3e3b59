// What falls due later (architecture §7): one row a timer, in account time, rebuildable from the events.
import type { AccountId, Mode } from '../../domain/kernel/ids.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import type { JobKind, JobPayload, JobRequest } from './jobs.ts';

/** A timer becomes a job of its kind when it is due. There is one for each (kind, key): setting it again moves it. */
export interface Timer {
  readonly account: AccountId;
  readonly mode: Mode;
  /** Name of the kind of job. */
  readonly kind: string;
  /** Follows from the payload by the kind's rule. */
  readonly key: string;
  readonly payload: JobPayload;
  /** Timers of one group can be fired together; null: none. */
  readonly group: string | null;
  readonly dueAt: Timestamp;
  /** Setting it again moves it to later only. */
  readonly onlyLater?: true;
  /** A first attempt that is held back until its turn as a probe comes, at `dueAt` (W3). */
  readonly held?: true;
}
export type TimerKey = Pick<Timer, 'kind' | 'key'>;

/** How timers of a kind of job behave. */
export interface TimerRule<Payload extends JobPayload = JobPayload> {
  keyOf(payload: Payload): string;
  /** Returns the payload of the job that the due timer becomes: with its instant, where the work asks for it. */
  jobPayloadOf(payload: Payload, timer: Timer): Payload;
  /** Whether the group of a timer is the target of its job. */
  readonly isGroupTarget: boolean;
  /** Whether setting a timer again moves it to later only: what a repeat of a request set may be there before the reaction (K7). */
  readonly onlyLater: boolean;
}

/** A kind whose jobs timers can become. */
export type TimedKind<Payload extends JobPayload> = JobKind<Payload> & { readonly timer: TimerRule<Payload> };

export const timerOf = <Payload extends JobPayload>(
  kind: TimedKind<Payload>,
  payload: Payload,
  when: Pick<Timer, 'account' | 'mode' | 'group' | 'dueAt'>,
): Timer => ({
  ...when,
  kind: kind.name,
  key: kind.timer.keyOf(payload),
  payload,
  ...(kind.timer.onlyLater && { onlyLater: true }),
});

export const timerKey = <Payload extends JobPayload>(kind: TimedKind<Payload>, payload: Payload): TimerKey => ({
  kind: kind.name,
  key: kind.timer.keyOf(payload),
});

/** Returns the job that a timer becomes when it is due. */
export const jobOfTimer = ({ timer: rule }: Pick<JobKind, 'timer'>, timer: Timer): JobRequest => ({
  queue: timer.kind,
  tenant: { accountId: timer.account, mode: timer.mode },
  payload: rule?.jobPayloadOf(timer.payload, timer) ?? timer.payload,
  ...(rule?.isGroupTarget && timer.group !== null && { target: timer.group }),
});

export interface Timers {
  set(timer: Timer): Promise<void>;
  /** null: no such timer is set. */
  dueAt(key: TimerKey): Promise<Timestamp | null>;
  /** Returns those of `keys` for which a timer is set, however far ahead. */
  among(keys: readonly TimerKey[]): Promise<readonly TimerKey[]>;
}

/** The timers of an account's test mode, as the drain needs them. */
export interface TestTimers {
  /** How far the clock was moved: what is due later is left to the ordinary due scan. null: it is not being drained. */
  drainsUntil(account: AccountId): Promise<Timestamp | null>;
  /** Accounts whose clock is being drained. */
  draining(): Promise<readonly AccountId[]>;
  /** Those of `groups` that are due at or before `until`, whenever that is: as many as one looks at together. */
  ofGroups(account: AccountId, until: Timestamp, groups: readonly string[]): Promise<readonly Timer[]>;
  /** The earliest timers due at or before `until`, all of one instant; removed by `done` or `send`. */
  earliest(account: AccountId, until: Timestamp): Promise<readonly Timer[]>;
  done(timers: readonly Timer[]): Promise<void>;
  /** They become jobs of their queues, as when the due scan finds them. */
  send(timers: readonly Timer[]): Promise<void>;
  /** From here on the ordinary due scan serves the account again. false: the clock was moved beyond `until` meanwhile. */
  drained(account: AccountId, until: Timestamp): Promise<boolean>;
}
