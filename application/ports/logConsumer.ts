// Whoever follows the log: read models and reactions alike (architecture §6, §7).
import type { Category } from '../../domain/kernel/event.ts';
import type { LoggedEvent } from './loggedEvent.ts';
import type { Sql } from './sql.ts';

export interface LogConsumer {
  /** Names its checkpoint. */
  readonly name: string;
  readonly categories: readonly Category[];
  /** What it remembers between batches may be wrong: leadership was gained, or a batch was rolled back. */
  reset(db: Sql): Promise<void>;
  /**
   * Writes what follows from the events, in the transaction that also moves the checkpoint. Events come in log order, each once
   * past the checkpoint. Throwing parks the stream of the event that can't be taken; when it is no event's fault, this consumer keeps its
   * position and is tried again. The others go on.
   */
  apply(events: readonly LoggedEvent[], tx: Sql): Promise<void>;
  /** The batch is committed. */
  committed?(): void;
}
