// Group commit: the appends of all requests of this process wait here and go to the database together, one flush at a time.
import { type AppendResult, EventStoreUnavailable } from '../../../application/ports/eventStore.ts';
import type { CheckedAppend } from '../checkAppend.ts';
import { PendingAppend } from './pendingAppend.ts';

const FLUSH_APPENDS_MAX = 256;
const FLUSH_BYTES_MAX = 4_000_000;
/** How far one flush looks past appends that must wait because their stream is in it already. */
const FLUSH_LOOKAHEAD = 4 * FLUSH_APPENDS_MAX;
/** Beyond this the process would run out of memory before the database catches up. */
const QUEUE_BYTES_MAX = 64_000_000;
const SWEEP_EVERY_MS = 250;

/** Settles every member that is not settled yet, or leaves it to its deadline. Never rejects. */
export type Flush = (members: readonly PendingAppend[]) => Promise<void>;

export class AppendQueue {
  readonly #flush: Flush;
  #waiting: PendingAppend[] = [];
  #waitingBytes = 0;
  #inFlight: readonly PendingAppend[] = [];
  #scheduled = false;
  #running = false;
  #whenIdle: (() => void)[] = [];
  #sweeper: NodeJS.Timeout | null = null;

  constructor(flush: Flush) {
    this.#flush = flush;
  }

  /** Rejects as the port says, within 10 s. */
  add(append: CheckedAppend): Promise<AppendResult> {
    const pending = new PendingAppend(append);
    if (this.#waitingBytes + pending.bytes > QUEUE_BYTES_MAX) {
      pending.refuse(new EventStoreUnavailable(`more than ${QUEUE_BYTES_MAX} bytes wait to be appended`));
      return pending.result;
    }
    this.#waiting.push(pending);
    this.#waitingBytes += pending.bytes;
    this.#sweeper ??= setInterval(() => this.#sweep(), SWEEP_EVERY_MS);
    this.#schedule();
    return pending.result;
  }

  /** Resolves when nothing waits and nothing is in flight. */
  async idle(): Promise<void> {
    if (this.#waiting.length === 0 && !this.#running) return;
    await new Promise<void>((resolve) => this.#whenIdle.push(resolve));
  }

  /**
   * The flush begins when this turn of the event loop is over: no delay, but the appends of all requests that were read from
   * their sockets in the same turn, or woken by the same flush, go together.
   */
  #schedule(): void {
    if (this.#scheduled || this.#running) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      void this.#run();
    });
  }

  async #run(): Promise<void> {
    this.#inFlight = this.#take();
    if (this.#inFlight.length > 0) {
      this.#running = true;
      await this.#flush(this.#inFlight);
      this.#running = false;
      this.#inFlight = [];
    }
    if (this.#waiting.length > 0) this.#schedule();
    else this.#rest();
  }

  #rest(): void {
    if (this.#sweeper !== null) clearInterval(this.#sweeper);
    this.#sweeper = null;
    for (const resolve of this.#whenIdle.splice(0)) resolve();
  }

  /** The next flush, in order of asking; at most one append a stream, because the second one's revision depends on the first. */
  #take(): PendingAppend[] {
    const taken: PendingAppend[] = [];
    const left: PendingAppend[] = [];
    const streams = new Set<string>();
    let bytes = 0;
    let seen = 0;
    while (seen < this.#waiting.length && seen < FLUSH_LOOKAHEAD && taken.length < FLUSH_APPENDS_MAX) {
      const next = this.#waiting[seen]!;
      if (!next.settled && !streams.has(next.append.stream)) {
        if (taken.length > 0 && bytes + next.bytes > FLUSH_BYTES_MAX) break;
        streams.add(next.append.stream);
        taken.push(next);
        bytes += next.bytes;
      } else if (!next.settled) {
        left.push(next);
      }
      seen += 1;
    }
    this.#waiting = left.length === 0 ? this.#waiting.slice(seen) : left.concat(this.#waiting.slice(seen));
    this.#waitingBytes -= bytes;
    return taken;
  }

  /** Answers whoever has waited long enough. A member in flight that is answered here is left out of the flush's next attempt. */
  #sweep(): void {
    for (const pending of this.#inFlight) if (!pending.settled && pending.isOverdue()) pending.giveUp();
    for (const pending of this.#waiting) if (pending.isOverdue()) pending.giveUp();
    this.#waiting = this.#waiting.filter((pending) => !pending.settled);
    this.#waitingBytes = this.#waiting.reduce((bytes, pending) => bytes + pending.bytes, 0);
  }
}
