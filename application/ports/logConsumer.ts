// A consumer of the log: a read model or a process manager (architecture §6, §7).
import type { LoggedEvent } from './loggedEvent.ts';
import type { Sql } from './sql.ts';

export interface LogConsumer {
  /** Also the name of its checkpoint. */
  readonly name: string;
  readonly categories: readonly string[];
  /** Discards state kept between batches. Called after gaining leadership and after a rolled-back batch. */
  reset(db: Sql): Promise<void>;
  /**
   * Applies the events, in the transaction that also moves the checkpoint. Events arrive in log order, each once after the checkpoint. If
   * an event makes it throw, the event's stream is parked. If no event is the cause, this consumer is retried from the same position.
   * Other consumers continue.
   */
  apply(events: readonly LoggedEvent[], tx: Sql): Promise<void>;
  /** Called after the batch is committed. */
  committed?(): void;
}
