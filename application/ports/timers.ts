// Timers (architecture §7): one row each, in account time. They can be rebuilt from the events.
import type { AccountId, Mode } from '../../domain/kernel/ids.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import type { JobKind, JobPayload, JobRequest, TimerRule } from './jobs.ts';
import { versioned } from './payloadVersions.ts';
import type { Sql } from './sql.ts';

/** A timer, which starts a job of its kind when it is due. There is one for each (kind, key); setting it again moves it. */
export interface Timer {
  readonly account: AccountId;
  readonly mode: Mode;
  /** Name of the kind of job. */
  readonly kind: string;
  /** Derived from the payload by the kind's rule. */
  readonly key: string;
  readonly payload: JobPayload;
  /** Timers of a group can be fired together; null: no group. */
  readonly group: string | null;
  readonly dueAt: Timestamp;
  /** Setting it again moves it only if the new instant is later. */
  readonly onlyLater?: true;
  /** A first attempt that is held back until its turn as a probe, at `dueAt` (W3). */
  readonly held?: true;
}
export type TimerKey = Pick<Timer, 'kind' | 'key'>;

/** The timers of a kind and a group. `mode`: only those of this mode; absent: of both. */
export interface TimerGroup extends Pick<Timer, 'kind'> {
  readonly group: string;
  readonly mode?: Mode;
}

/** A kind of job that timers can start. */
export type TimedKind<Payload extends JobPayload> = JobKind<Payload> & { readonly timer: TimerRule<Payload> };

export const timerOf = <Payload extends JobPayload>(
  kind: TimedKind<Payload>,
  payload: Payload,
  when: Pick<Timer, 'account' | 'mode' | 'group' | 'dueAt'>,
): Timer => ({
  ...when,
  kind: kind.name,
  key: kind.timer.keyOf(payload),
  payload: versioned(payload, kind),
  ...(kind.timer.onlyLater && { onlyLater: true }),
});

export const timerKey = <Payload extends JobPayload>(kind: TimedKind<Payload>, payload: Payload): TimerKey => ({
  kind: kind.name,
  key: kind.timer.keyOf(payload),
});

/** Returns the job that a timer starts when it is due. */
export const jobOfTimer = ({ timer: rule }: Pick<JobKind, 'timer'>, timer: Timer): JobRequest => ({
  queue: timer.kind,
  tenant: { accountId: timer.account, mode: timer.mode },
  payload: rule?.jobPayloadOf(timer.payload, timer) ?? timer.payload,
  ...(rule?.isGroupTarget && timer.group !== null && { target: timer.group }),
});

export interface Timers {
  /** Sets or moves a timer durably. */
  set(timer: Timer): Promise<void>;
  /** Returns when the timer is due, or null if it is not set. */
  dueAt(key: TimerKey): Promise<Timestamp | null>;
  /** Returns those of `keys` for which a timer is set, however far ahead. One that is due must be of a version that this program knows. */
  among(keys: readonly TimerKey[]): Promise<readonly TimerKey[]>;
}

/** The timers of an account's test mode, for the drain of its clock. */
export interface TestTimers {
  /** Advances the clock in `tx` and begins the drain up to `until`. */
  advance(account: AccountId, seconds: number, until: Timestamp, tx: Sql): Promise<void>;
  /** Returns the time up to which the clock is being drained, or null. The regular scan for due timers handles later timers. */
  drainsUntil(account: AccountId): Promise<Timestamp | null>;
  /** Returns the accounts whose clock is being drained. */
  draining(): Promise<readonly AccountId[]>;
  /** Whether timers of the account still wait to be fired with their group (`fireNow`). If so, fires the next page. */
  areFiring(account: AccountId): Promise<boolean>;
  /** Returns timers of `groups` that are due at or before `until`, at most one batch. */
  ofGroups(account: AccountId, until: Timestamp, groups: readonly string[]): Promise<readonly Timer[]>;
  /** Returns the earliest timers due at or before `until`, all of the same instant. They stay until `done` or `send` removes them. */
  earliest(account: AccountId, until: Timestamp): Promise<readonly Timer[]>;
  /** Removes timers whose work is done. */
  done(timers: readonly Timer[]): Promise<void>;
  /** Turns timers into jobs of their queues, like the regular scan. */
  send(timers: readonly Timer[]): Promise<void>;
  /** Ends the drain, so that the regular scan resumes. Returns false if the clock was advanced beyond `until` in the meantime. */
  drained(account: AccountId, until: Timestamp): Promise<boolean>;
}
