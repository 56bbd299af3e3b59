// Erasure of personal data (rules L2, L3): the part that all aggregates share. An event of erasure blanks the state, as decoding events
// with a destroyed key does. Both give the same state, so it doesn't matter which of them a reader sees first.
import { type Rejection, reject } from './rejection.ts';
import { flag, record, text, time } from './serde.ts';
import type { Timestamp } from './time.ts';

/** Why personal data was erased. */
export interface Erasure {
  /** The actor: an operator, or the process that erases data after its retention. */
  readonly by: string;
  /** Without personal data. */
  readonly reason: string;
  /** Whether the retention required by law had not passed (L3). */
  readonly despiteRetention: boolean;
  readonly at: Timestamp;
}
export const erasureShape = record<Erasure>({ by: text(), reason: text(), despiteRetention: flag, at: time });

/** `erasedBefore`: no data has come since the last erasure. */
export type ErasureReply = 'erased' | 'erasedBefore';

export interface ErasureWish {
  readonly by: string;
  readonly reason: string;
  /** Full years after the end for which the law requires the data. */
  readonly retentionYears: number;
  /** Whether to erase before that. */
  readonly despiteRetention: boolean;
}

/** Returns the same instant that many years later; 1 March for 29 February of a common year. */
export const keptUntil = (end: Timestamp, years: number): Timestamp => {
  const date = new Date(end);
  date.setUTCFullYear(date.getUTCFullYear() + years);
  return date.toISOString() as Timestamp;
};

/** Returns the erasure of an entity that ended at `end`, or rejects with `retention_not_passed`. */
export const erasureOf = (wish: ErasureWish, end: Timestamp, at: Timestamp): Erasure | Rejection => {
  const until = keptUntil(end, wish.retentionYears);
  const isEarly = at < until;
  if (isEarly && !wish.despiteRetention)
    return reject(
      'retention_not_passed',
      `The data must be kept until ${until}. Only an operator can erase it earlier.`,
    );
  return { by: wish.by, reason: wish.reason, despiteRetention: isEarly, at };
};
