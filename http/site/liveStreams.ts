// Server-sent events for open pages. Whenever the read model advances, a single query serves all open pages of a kind.
import type { Progress } from '../../application/ports/readModels/progress.ts';
import { type Repeating, repeating } from '../../application/ports/repeating.ts';
import { reject } from '../../domain/kernel/rejection.ts';
import type { EventSink } from '../kernel/answers.ts';

/** Proxies close silent connections, and a page treats silence as a lost connection. */
const KEEP_ALIVE_MS = 10_000;
/** Wait before a rejected page may request a stream again. */
const RETRY_AFTER_SECONDS = 30;

/** Maximum numbers of open streams. */
export interface StreamBounds {
  /** Streams with the same key. */
  readonly ofKey: number;
  readonly ofAddress: number;
  /** All streams of this process. */
  readonly inAll: number;
  /** A stream ends after this time, and the browser opens another one. */
  readonly lifetimeMs: number;
}

/** A kind of pages. */
export interface StreamKind<Key extends string, Status> {
  /** Name of the events. */
  readonly event: string;
  /** Returns the current status of each key. */
  readonly find: (keys: readonly Key[]) => Promise<ReadonlyMap<Key, Status>>;
  /** Returns the part of a status whose changes are sent. */
  readonly shownOf: (status: Status) => string;
  /** Returns whether the stream ends with this status, which `isNew` to the page. */
  readonly isLast: (status: Status, isNew: boolean) => boolean;
  /** Pause between two queries, however fast the read model advances. */
  readonly pauseMs: number;
  /** The kind of object that the pages watch, for a message. */
  readonly watched: string;
  readonly bounds: StreamBounds;
}

interface Stream<Key> {
  readonly key: Key;
  readonly address: string;
  readonly sink: EventSink;
  shown: string;
}

export class LiveStreams<Key extends string, Status> {
  readonly #streams = new Set<Stream<Key>>();
  readonly #kind: StreamKind<Key, Status>;
  readonly #undo: () => void;
  readonly #keepAlive: Repeating;
  #looking = false;
  #again = false;
  /** Whether a keep-alive came due during a running query. The next query then sends to all. */
  #sendAllAgain = false;

  constructor(progress: Progress, kind: StreamKind<Key, Status>, keepAliveMs = KEEP_ALIVE_MS) {
    this.#kind = kind;
    this.#undo = progress.onMove(() => this.#look());
    this.#keepAlive = repeating(keepAliveMs, () => this.#look(true));
  }

  /**
   * Returns a stream that begins with `status`, or 429 or 503 beyond a bound. `shown`: the result of `shownOf` for the status that the page
   * shows.
   */
  open(key: Key, address: string, status: Status, shown = '') {
    const refusal = this.#refusal(key, address);
    if (refusal) return { ...refusal, headers: { 'Retry-After': String(RETRY_AFTER_SECONDS) } };
    return { status: 200, open: (sink: EventSink) => this.#open({ key, address, sink, shown }, status) } as const;
  }

  #open(stream: Stream<Key>, status: Status): void {
    this.#streams.add(stream);
    const ending = setTimeout(() => this.#end(stream), this.#kind.bounds.lifetimeMs);
    ending.unref();
    stream.sink.onClose(() => {
      clearTimeout(ending);
      this.#streams.delete(stream);
    });
    this.#send(stream, status);
    this.#look(); // the status may have changed since it was read
  }

  #refusal(key: Key, address: string) {
    const { ofKey, ofAddress, inAll } = this.#kind.bounds;
    if (this.#streams.size >= inAll) return reject('service_unavailable', 'Too many pages are open at once.');
    let keys = 0;
    let addresses = 0;
    for (const stream of this.#streams) {
      if (stream.key === key) keys += 1;
      if (stream.address === address) addresses += 1;
    }
    return keys >= ofKey || addresses >= ofAddress
      ? reject(
          'rate_limited',
          `More than ${ofKey} pages of this ${this.#kind.watched} or ${ofAddress} pages from this address are open.`,
        )
      : null;
  }

  close(): void {
    this.#undo();
    void this.#keepAlive.stop();
    for (const { sink } of this.#streams) sink.end();
  }

  #send(stream: Stream<Key>, status: Status): void {
    const shown = this.#kind.shownOf(status);
    const isNew = shown !== stream.shown;
    stream.shown = shown;
    stream.sink.send(this.#kind.event, status);
    if (this.#kind.isLast(status, isNew)) this.#end(stream);
  }

  #end(stream: Stream<Key>): void {
    this.#streams.delete(stream);
    stream.sink.end();
  }

  #look(sendAll = false): void {
    if (this.#streams.size === 0) return;
    if (this.#looking) {
      this.#again = true;
      this.#sendAllAgain ||= sendAll;
      return;
    }
    this.#looking = true;
    void this.#ask(sendAll).finally(() => {
      setTimeout(() => {
        this.#looking = false;
        if (this.#again) {
          const all = this.#sendAllAgain;
          this.#again = false;
          this.#sendAllAgain = false;
          this.#look(all);
        }
      }, this.#kind.pauseMs).unref();
    });
  }

  async #ask(sendAll: boolean): Promise<void> {
    try {
      const found = await this.#kind.find([...new Set([...this.#streams].map(({ key }) => key))]);
      for (const stream of this.#streams) {
        const status = found.get(stream.key);
        if (status !== undefined && (sendAll || this.#kind.shownOf(status) !== stream.shown))
          this.#send(stream, status);
      }
    } catch {
      // The read model is unavailable. Its next advance or the keep-alive retries.
    }
  }
}
