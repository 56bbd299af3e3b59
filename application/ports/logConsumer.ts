// A consumer of the log: a read model or a process manager (architecture §6, §7).
import type { LoggedEvent } from './loggedEvent.ts';
import type { Sql } from './sql.ts';

export interface LogConsumer {
  /** Also the name of its checkpoint. */
  readonly name: string;
  readonly categories: readonly string[];
  /** Forgets what was remembered between batches. Called when leadership was gained, and when a batch was rolled back. */
  reset(db: Sql): Promise<void>;
  /**
   * Writes what the events lead to, in the transaction that also moves the checkpoint. Events come in log order, each once past the
   * checkpoint. Throwing parks the stream of the event that can't be taken; when no event is to blame, this consumer keeps its position and
   * is tried again. Other consumers go on.
   */
  apply(events: readonly LoggedEvent[], tx: Sql): Promise<void>;
  /** Called when the batch is committed. */
  committed?(): void;
}
