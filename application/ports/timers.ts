// What falls due later (architecture §7): one row a timer, in account time, rebuildable from the events.
import type { AccountId, DeliveryId, Mode } from '../../domain/kernel/ids.ts';
import { parseTimestamp, type Timestamp } from '../../domain/kernel/time.ts';
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
  /** A first attempt that is held back until its turn as a probe comes, at `dueAt` (W3). */
  readonly held?: true;
}

/** When a creation that was cut off is looked at, as its process sets it (K7). */
export interface CreationTimers {
  /** Sets it, unless it is set for later already. */
  set(timer: Timer): Promise<void>;
  /** null: none of this kind and key is set. */
  dueAt(kind: Timer['kind'], key: string): Promise<Timestamp | null>;
}

/** The item of a timer's job. That of a delivery says at which instant it was due, and whether that was its turn as a probe. */
export const itemOf = ({ kind, key, dueAt, held }: Timer): string =>
  kind === 'deliver' ? `${key}${held ? '!' : '@'}${dueAt}` : key;

/** An item of the queue `deliver`: a delivery id, alone or with what its timer was. */
export interface DeliveryItem {
  readonly id: DeliveryId;
  /** null: it had no timer. */
  readonly dueAt: Timestamp | null;
  readonly isProbe: boolean;
}
export const parseDeliveryItem = (item: string): DeliveryItem => {
  const [, id = '', mark, dueAt = ''] = /^([^@!]+)(?:([@!])(.+))?$/.exec(item) ?? [];
  return {
    id: id as DeliveryId,
    dueAt: mark === undefined ? null : parseTimestamp(dueAt),
    isProbe: mark === '!',
  };
};

/** The timers of an account's test mode, as the drain needs them. */
export interface TestTimers {
  /** How far the clock was moved: what is due later is left to the ordinary due scan. null: it is not being drained. */
  drainsUntil(account: AccountId): Promise<Timestamp | null>;
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
