// When to ask a bank again about money in transit: after a second at first, then with pauses that double.
import {
  addMillis,
  DAY_MS,
  fromMillis,
  MINUTE_MS,
  SECOND_MS,
  type Timestamp,
  toMillis,
} from '../../domain/kernel/time.ts';

/** Counted from the bank's acceptance of the order. */
export const FIRST_LOOK_SECONDS = 1;

/** An institution may list an order up to this long after accepting it. */
const LISTED_MS = 10 * MINUTE_MS;

/**
 * Returns when to ask again. Pauses of a day or more end at midnight UTC, so that these looks run together. They last at least LISTED_MS,
 * because an order may have been sent a moment ago.
 */
export const nextLook = (requestedAt: Timestamp, at: Timestamp): Timestamp => {
  const pauseMs = Math.max(toMillis(at) - toMillis(requestedAt), FIRST_LOOK_SECONDS * SECOND_MS);
  if (pauseMs < DAY_MS) return addMillis(at, pauseMs);
  return fromMillis((Math.floor((toMillis(at) + LISTED_MS) / DAY_MS) + 1) * DAY_MS);
};

/**
 * Returns the outcome of an order that was sent again because the institution did not list it. A refusal is uncertain at first: the order
 * sent before may be why the institution refuses this one, for example because it has reserved the money (V7, V9). `sentAt`: when an order
 * without an answer was recorded; null if none was, or if a process may have sent one a moment ago and died before recording it.
 * `isListed`: the institution lists the order itself as refused.
 */
export const outcomeOfRepeat = <Outcome extends { readonly kind: string; readonly isListed?: boolean }>(
  outcome: Outcome,
  sentAt: Timestamp | null,
  at: Timestamp,
): Outcome | { readonly kind: 'unknown' } =>
  outcome.kind === 'refused' && outcome.isListed !== true && at < addMillis(sentAt ?? at, LISTED_MS)
    ? { kind: 'unknown' }
    : outcome;

/** For this long after a process began to send an order for the first time, no other process sends it: dead workers are replaced later. */
export const SENT_ALONE_MS = 3 * SECOND_MS;

/**
 * Returns the outcome of an order that this process began to send at `begunAt`, and no process before. If the answer took longer than
 * SENT_ALONE_MS, the order may have been sent again meanwhile, and that may be why the institution refuses this one.
 */
export const outcomeOfFirst = <Outcome extends { readonly kind: string; readonly isListed?: boolean }>(
  outcome: Outcome,
  begunAt: Timestamp,
  now: Timestamp,
): Outcome | { readonly kind: 'unknown' } =>
  now < addMillis(begunAt, SENT_ALONE_MS) ? outcome : outcomeOfRepeat(outcome, null, now);
