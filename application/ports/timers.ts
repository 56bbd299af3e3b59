// Timers (architecture §7): one row each, in account time, rebuildable from the events.
import type { AccountId, Mode } from '../../domain/kernel/ids.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import type { JobKind, JobPayload, JobRequest, TimerRule } from './jobs.ts';
import type { Sql } from './sql.ts';

/** A timer becomes a job of its kind when it is due. There is one for each (kind, key): setting it again moves it. */
export interface Timer {
  readonly account: AccountId;
  readonly mode: Mode;
  /** Name of the kind of job. */
  readonly kind: string;
  /** Derived from the payload by the rule of the kind. */
  readonly key: string;
  readonly payload: JobPayload;
  /** Timers of one group can be fired together; null: none. */
  readonly group: string | null;
  readonly dueAt: Timestamp;
  /** Setting it again moves it only when the new instant is later. */
  readonly onlyLater?: true;
  /** A first attempt that is held back until its turn as a probe comes, at `dueAt` (W3). */
  readonly held?: true;
}
export type TimerKey = Pick<Timer, 'kind' | 'key'>;

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
  /** Sets or moves a timer, durably when it resolves. */
  set(timer: Timer): Promise<void>;
  /** Returns null when no such timer is set. */
  dueAt(key: TimerKey): Promise<Timestamp | null>;
  /** Returns those of `keys` for which a timer is set, however far ahead. */
  among(keys: readonly TimerKey[]): Promise<readonly TimerKey[]>;
}

/** The timers of an account's test mode, for the drain of its clock. */
export interface TestTimers {
  /** Moves the clock on, in `tx`, and begins the drain up to `until`. */
  advance(account: AccountId, seconds: number, until: Timestamp, tx: Sql): Promise<void>;
  /** Returns the time to which the clock was advanced; later timers are left to the ordinary due scan. null: it is not being drained. */
  drainsUntil(account: AccountId): Promise<Timestamp | null>;
  /** Returns the accounts whose clock is being drained. */
  draining(): Promise<readonly AccountId[]>;
  /** Returns timers of `groups` that are due at or before `until`: at most as many as are handled together. */
  ofGroups(account: AccountId, until: Timestamp, groups: readonly string[]): Promise<readonly Timer[]>;
  /** Returns the earliest timers due at or before `until`, all of one instant. They stay until `done` or `send` removes them. */
  earliest(account: AccountId, until: Timestamp): Promise<readonly Timer[]>;
  /** Removes timers whose work is done. */
  done(timers: readonly Timer[]): Promise<void>;
  /** Turns timers into jobs of their queues, as the due scan does. */
  send(timers: readonly Timer[]): Promise<void>;
  /** Ends the drain: the ordinary due scan serves the account again. Returns false when the clock was advanced beyond `until` meanwhile. */
  drained(account: AccountId, until: Timestamp): Promise<boolean>;
}
