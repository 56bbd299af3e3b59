// Server-sent events for payers' pages. Whenever the read model advances, a single query serves all open pages.
import type { Progress } from '../../application/ports/readModels/progress.ts';
import { type Repeating, repeating } from '../../application/ports/repeating.ts';
import type { PaymentId } from '../../domain/kernel/ids.ts';
import { reject } from '../../domain/kernel/rejection.ts';
import type { EventSink } from '../kernel/answers.ts';
import type { LiveStatus } from '../kernel/serverContext.ts';
import { type CheckoutStatus, isLive } from './checkout/states.ts';

/** Proxies close silent connections, and the page treats silence as a lost connection. */
const KEEP_ALIVE_MS = 10_000;
/** Pause between two queries, however fast the read model advances. */
const PAUSE_MS = 200;

/** Maximum numbers of open streams. Beyond them, a page polls every second. */
export interface StreamBounds {
  readonly ofPayment: number;
  readonly ofAddress: number;
  /** In this process. */
  readonly inAll: number;
  /** A stream ends after this time, and the browser opens another one. */
  readonly lifetimeMs: number;
}
const BOUNDS: StreamBounds = { ofPayment: 20, ofAddress: 100, inAll: 5_000, lifetimeMs: 600_000 };
/** Wait before a rejected page may request a stream again. */
const RETRY_AFTER_SECONDS = 30;

interface Stream {
  readonly id: PaymentId;
  readonly address: string;
  readonly sink: EventSink;
  shown: string;
}

/** Returns whether the status is final. The page stops watching, too. */
const isLast = ({ status }: LiveStatus): boolean => !isLive(status as CheckoutStatus);

/** Returns the part of a status whose changes are sent: the status itself, and the expiry that appears or moves. */
const shownOf = (status: LiveStatus): string => `${status.status} ${status.expires_at}`;

export class StatusStreams {
  readonly #streams = new Set<Stream>();
  readonly #find: (ids: readonly PaymentId[]) => Promise<ReadonlyMap<PaymentId, LiveStatus>>;
  readonly #undo: () => void;
  readonly #keepAlive: Repeating;
  readonly #bounds: StreamBounds;
  #looking = false;
  #again = false;

  constructor(
    progress: Progress,
    find: (ids: readonly PaymentId[]) => Promise<ReadonlyMap<PaymentId, LiveStatus>>,
    bounds: Partial<StreamBounds> = {},
  ) {
    this.#find = find;
    this.#bounds = { ...BOUNDS, ...bounds };
    this.#undo = progress.onMove(() => this.#look());
    this.#keepAlive = repeating(KEEP_ALIVE_MS, () => this.#look(true));
  }

  /** Returns a stream, 204 if the status is final (browsers then stop reconnecting), or 429 or 503 beyond a bound. */
  answer(id: PaymentId, address: string, status: LiveStatus) {
    if (isLast(status)) return { status: 204 } as const;
    const refusal = this.#refusal(id, address);
    if (refusal) return { ...refusal, headers: { 'Retry-After': String(RETRY_AFTER_SECONDS) } };
    return { status: 200, open: (sink: EventSink) => this.#open({ id, address, sink, shown: '' }, status) } as const;
  }

  #open(stream: Stream, status: LiveStatus): void {
    this.#streams.add(stream);
    const ending = setTimeout(() => this.#end(stream), this.#bounds.lifetimeMs);
    ending.unref();
    stream.sink.onClose(() => {
      clearTimeout(ending);
      this.#streams.delete(stream);
    });
    this.#send(stream, status);
    this.#look(); // the status may have changed since it was read
  }

  #refusal(id: PaymentId, address: string) {
    const { ofPayment, ofAddress, inAll } = this.#bounds;
    if (this.#streams.size >= inAll) return reject('service_unavailable', 'Too many pages are open at once.');
    let payments = 0;
    let addresses = 0;
    for (const stream of this.#streams) {
      if (stream.id === id) payments += 1;
      if (stream.address === address) addresses += 1;
    }
    return payments >= ofPayment || addresses >= ofAddress
      ? reject(
          'rate_limited',
          `More than ${ofPayment} pages of this charge or ${ofAddress} pages from this address are open.`,
        )
      : null;
  }

  close(): void {
    this.#undo();
    void this.#keepAlive.stop();
    for (const { sink } of this.#streams) sink.end();
  }

  #send(stream: Stream, status: LiveStatus): void {
    stream.shown = shownOf(status);
    stream.sink.send('status', status);
    if (isLast(status)) this.#end(stream);
  }

  #end(stream: Stream): void {
    this.#streams.delete(stream);
    stream.sink.end();
  }

  #look(sendAll = false): void {
    if (this.#streams.size === 0) return;
    if (this.#looking) {
      this.#again = true;
      return;
    }
    this.#looking = true;
    void this.#ask(sendAll).finally(() => {
      setTimeout(() => {
        this.#looking = false;
        if (this.#again) {
          this.#again = false;
          this.#look();
        }
      }, PAUSE_MS).unref();
    });
  }

  async #ask(sendAll: boolean): Promise<void> {
    try {
      const found = await this.#find([...new Set([...this.#streams].map(({ id }) => id))]);
      for (const stream of this.#streams) {
        const status = found.get(stream.id);
        if (status && (sendAll || shownOf(status) !== stream.shown)) this.#send(stream, status);
      }
    } catch {
      // The read model is unavailable. Its next advance or the keep-alive retries.
    }
  }
}
