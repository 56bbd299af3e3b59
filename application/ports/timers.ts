// What falls due later (design §7): one row a timer, in account time, rebuildable from the events.
import type { AccountId, Mode } from '../../domain/kernel/ids.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import type { QueueName } from './jobs.ts';

/** A timer becomes a job of the queue of its name when it is due. */
export type TimerKind = Extract<
  QueueName,
  'expire' | 'releaseFunds' | 'deliver' | 'resumeCreation' | 'refund' | 'cancel'
>;

export interface Timer {
  readonly account: AccountId;
  readonly mode: Mode;
  readonly kind: TimerKind;
  /** The item of the job. One timer per (kind, key): setting it again moves it. */
  readonly key: string;
  /** Group of the job; null: none. */
  readonly group: string | null;
  readonly dueAt: Timestamp;
}

/** The timers of an account's test mode, as the drain needs them. */
export interface TestTimers {
  /** The earliest timers due at or before `until`, all of one instant; removed by `done`. */
  earliest(account: AccountId, until: Timestamp): Promise<readonly Timer[]>;
  done(timers: readonly Timer[]): Promise<void>;
  /** From here on the ordinary due scan serves the account again. */
  drained(account: AccountId): Promise<void>;
}
