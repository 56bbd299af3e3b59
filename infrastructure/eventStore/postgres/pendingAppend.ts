// An append on its way: from the call until its one answer.
import {
  AppendOutcomeUnknown,
  type AppendResult,
  EventStoreUnavailable,
  type InvalidAppend,
} from '../../../application/ports/eventStore.ts';
import type { CheckedAppend } from '../checkAppend.ts';

/** Never sent, or known to be rolled back: better refused soon than queued for long. */
const NOT_SENT_MS_MAX = 5_000;
/** The port promises an answer within 10 s. */
const OUTCOME_UNKNOWN_MS_MAX = 9_000;
/** What an event weighs in a flush beside its JSON: id, type, offsets, lengths. */
const EVENT_OVERHEAD_BYTES = 100;

export class PendingAppend {
  readonly append: CheckedAppend;
  readonly bytes: number;
  readonly result: Promise<AppendResult>;
  /** An attempt was sent whose end nobody knows. Once true it stays true until an answer comes. */
  mayBeWritten = false;
  /** The last failure on the way, for the error's `cause`. */
  cause: unknown = undefined;
  readonly #askedAtMs = performance.now();
  #settled = false;
  #resolve!: (result: AppendResult) => void;
  #reject!: (error: Error) => void;

  constructor(append: CheckedAppend) {
    this.append = append;
    this.bytes = append.dataBytes + append.metadataBytes + append.events.length * EVENT_OVERHEAD_BYTES;
    this.result = new Promise<AppendResult>((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  get settled(): boolean {
    return this.#settled;
  }

  succeed(result: AppendResult): void {
    this.#settled = true;
    this.#resolve(result);
  }

  refuse(error: InvalidAppend | EventStoreUnavailable): void {
    this.#settled = true;
    this.#reject(error);
  }

  /** Gives up with the error that says what is known of the outcome. */
  giveUp(): void {
    this.#settled = true;
    const options = { cause: this.cause };
    this.#reject(
      this.mayBeWritten
        ? new AppendOutcomeUnknown('the database did not say whether the append was written', options)
        : new EventStoreUnavailable('the append was not written: the database is unavailable or too busy', options),
    );
  }

  isOverdue(): boolean {
    return performance.now() - this.#askedAtMs > (this.mayBeWritten ? OUTCOME_UNKNOWN_MS_MAX : NOT_SENT_MS_MAX);
  }
}
