// The adapter's needs from the program.
import type { Clock, Stopwatch } from '../../../application/ports/system.ts';
import type { PaymentId } from '../../../domain/kernel/ids.ts';

export interface Timeouts {
  readonly connectMs: number;
  /** For one request, from its start to the end of the answer. */
  readonly totalMs: number;
  /** The circuit breaker lets one call through after this pause. */
  readonly breakerPauseMs: number;
}

export interface PixApiNeeds {
  readonly clock: Clock;
  readonly stopwatch: Stopwatch;
  readonly log: { warn(fields: object, message: string): void };
  /** Binds an end-to-end id of the connection to a payment. Returns false if it is bound to another one. */
  readonly claims: (endToEndId: string, paymentId: PaymentId) => Promise<boolean>;
  /** Earlier Pix keys of the connection, whose codes may still be paid. Default: none. */
  readonly formerKeys?: readonly string[];
  /** Those of the earlier keys that another connection has now. Default: none. */
  readonly movedKeys?: readonly string[];
  /** Tests shorten these. */
  readonly timeouts?: Partial<Timeouts>;
}

export const TIMEOUTS: Timeouts = { connectMs: 5_000, totalMs: 30_000, breakerPauseMs: 10_000 };
