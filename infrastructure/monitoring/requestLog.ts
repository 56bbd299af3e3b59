// What came of requests, gathered in memory and written twice a second: no request waits for it. While it can't be written, the oldest
// are dropped beyond a bound, and counted.

import type { Clock } from '../../application/ports/clock.ts';
import type { Position } from '../../application/ports/eventStore.ts';
import type { Randomness } from '../../application/ports/randomness.ts';
import { type Repeating, repeating } from '../../application/ports/repeating.ts';
import type { AnsweredRequest, LoggedRequest, RequestLogStore } from '../../application/ports/requestLog.ts';
import { BEHIND_TIME, encodeTimedId, type RequestLogId } from '../../domain/kernel/ids.ts';
import { fromMillis } from '../../domain/kernel/time.ts';
import { withTimeout } from '../waiting.ts';

const WRITE_EVERY_MS = 500;
/** In one statement. */
const BATCH_MAX = 1_000;
/** About 5 MB. */
const WAITING_MAX = 10_000;
/** The last write of a process that stops may take this long. */
const LAST_WRITE_MS_MAX = 2_000;

interface RequestLogOptions {
  readonly store: RequestLogStore;
  readonly clock: Clock;
  readonly randomness: Randomness;
  /** The newest event that this process knows of. */
  readonly head: () => Position | null;
  /** The first failure in a row. */
  readonly onError: (error: Error) => void;
  readonly waitingMax?: number;
}

const SEQUENCES = 2 ** 32;
const SEQUENCE_BYTES = 4;

export class RequestLog {
  readonly #options: RequestLogOptions;
  readonly #waitingMax: number;
  readonly #writing: Repeating;
  /** A ring: entry n stands at n modulo its size. */
  readonly #ring: (LoggedRequest | null)[] = [];
  #first = 0;
  #end = 0;
  #dropped = 0;
  #begun = 0;
  #hasFailed = false;

  constructor(options: RequestLogOptions) {
    this.#options = options;
    this.#waitingMax = options.waitingMax ?? WAITING_MAX;
    this.#writing = repeating(WRITE_EVERY_MS, () => this.#write());
  }

  /** Requests that were never written, since the process began. */
  get dropped(): number {
    return this.#dropped;
  }

  /** As BeginRequest says. */
  begin(): (answered: AnsweredRequest) => void {
    const atMs = this.#options.clock.now();
    const logPosition = this.#options.head();
    const sequence = this.#begun++;
    return (answered) =>
      this.#add({ ...answered, id: this.#newId(atMs, sequence), createdAt: fromMillis(atMs), logPosition });
  }

  /** Writes what waits now. Never rejects: what could not be written is tried again with the next. */
  flush(): Promise<void> {
    return this.#writing.now();
  }

  /** Writes what waits, for 2 s at most. */
  async close(): Promise<void> {
    void this.flush();
    await withTimeout(
      this.#writing.stop(),
      LAST_WRITE_MS_MAX,
      () => new Error('the last requests could not be written in time'),
    ).catch(this.#options.onError);
  }

  /** In the order in which the requests of this process began, within a millisecond too. */
  #newId(atMs: number, sequence: number): RequestLogId {
    const rest = Buffer.allocUnsafe(BEHIND_TIME);
    rest.writeUInt32BE(sequence % SEQUENCES);
    rest.set(this.#options.randomness.bytes(BEHIND_TIME - SEQUENCE_BYTES), SEQUENCE_BYTES);
    return encodeTimedId(atMs, rest) as RequestLogId;
  }

  #add(request: LoggedRequest): void {
    this.#ring[this.#end % this.#waitingMax] = request;
    this.#end += 1;
    if (this.#end - this.#first <= this.#waitingMax) return;
    this.#first += 1;
    this.#dropped += 1;
  }

  /** What is dropped while it is being written counts as dropped. */
  async #write(): Promise<void> {
    try {
      for (const end = this.#end; this.#first < end; ) {
        const upTo = Math.min(this.#first + BATCH_MAX, end);
        const batch: LoggedRequest[] = [];
        for (let n = this.#first; n < upTo; n++) batch.push(this.#ring[n % this.#waitingMax] as LoggedRequest);
        await this.#options.store.write(batch);
        // What is kept without need grows old, and is expensive garbage then.
        for (; this.#first < upTo; this.#first++) this.#ring[this.#first % this.#waitingMax] = null;
      }
      this.#hasFailed = false;
    } catch (error) {
      if (!this.#hasFailed) this.#options.onError(error as Error);
      this.#hasFailed = true;
    }
  }
}
