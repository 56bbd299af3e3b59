import { backoffMs } from '../backoff.ts';

/** How long the adapter waits for what, in milliseconds. */
export interface Timings {
  /** Finding a node and connecting to it. */
  readonly connectMs: number;
  /** An append without an answer. At least 3 s: while the first try may still be in flight, the server drops a repeat in silence. */
  readonly attemptMs: number;
  /** After this an append that was never sent is refused with EventStoreUnavailable. */
  readonly notSentMs: number;
  /** After this an append that may be written is given up with AppendOutcomeUnknown. The port promises an answer within 10 s. */
  readonly outcomeUnknownMs: number;
  /** The silence that ends a read, and the whole time after which reading is given up with EventStoreUnavailable. */
  readonly readMs: number;
  readonly readGiveUpMs: number;
  /** From asking for a subscription to the server's confirmation. */
  readonly confirmMs: number;
  /** Before try number `attempt` (from 0) is repeated. */
  readonly backoffMs: (attempt: number) => number;
}

/** An append ends within outcomeUnknownMs and one last look (1 s): below the 10 s of the port. */
export const TIMINGS: Timings = {
  connectMs: 2_000,
  attemptMs: 3_000,
  notSentMs: 5_000,
  outcomeUnknownMs: 8_000,
  readMs: 3_000,
  readGiveUpMs: 6_000,
  confirmMs: 5_000,
  backoffMs,
};
