// Server-sent events of the payer's page: one question to the read model for all open pages, whenever it moved.
import type { Response } from 'express';
import type { Progress } from '../../application/ports/readModels.ts';
import type { PaymentId } from '../../domain/kernel/ids.ts';

export interface LiveStatus {
  readonly status: string;
  readonly expires_at: string | null;
  readonly now: string;
}

/** Proxies close silent connections; the page also takes silence as a lost connection. */
const KEEP_ALIVE_MS = 10_000;
/** At most so many questions a second, however fast the read model moves. */
const PAUSE_MS = 200;
/** Pages open at once in this process; beyond it a page asks by itself every second. */
const STREAMS_MAX = 5_000;

interface Stream {
  readonly id: PaymentId;
  readonly res: Response;
  shown: string;
}

/** What is news: the status, and that a payment can be paid now or for longer. */
const shownOf = (status: LiveStatus): string => `${status.status} ${status.expires_at}`;

export class StatusStreams {
  readonly #streams = new Set<Stream>();
  readonly #find: (ids: readonly PaymentId[]) => Promise<ReadonlyMap<PaymentId, LiveStatus>>;
  readonly #undo: () => void;
  readonly #keepAlive: NodeJS.Timeout;
  #looking = false;
  #again = false;

  constructor(progress: Progress, find: (ids: readonly PaymentId[]) => Promise<ReadonlyMap<PaymentId, LiveStatus>>) {
    this.#find = find;
    this.#undo = progress.onMove(() => this.#look());
    this.#keepAlive = setInterval(() => this.#look(true), KEEP_ALIVE_MS);
    this.#keepAlive.unref();
  }

  add(id: PaymentId, res: Response, status: LiveStatus): void {
    if (this.#streams.size >= STREAMS_MAX) return void res.status(503).end();
    res.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no' });
    const stream: Stream = { id, res, shown: '' };
    this.#streams.add(stream);
    res.on('close', () => this.#streams.delete(stream));
    this.#tell(stream, status);
    this.#look(); // it may have changed since it was read
  }

  close(): void {
    this.#undo();
    clearInterval(this.#keepAlive);
    for (const { res } of this.#streams) res.end();
  }

  #tell(stream: Stream, status: LiveStatus): void {
    stream.shown = shownOf(status);
    stream.res.write(`event: status\ndata: ${JSON.stringify(status)}\n\n`);
  }

  #look(tellAll = false): void {
    if (this.#streams.size === 0) return;
    if (this.#looking) {
      this.#again = true;
      return;
    }
    this.#looking = true;
    void this.#ask(tellAll).finally(() => {
      setTimeout(() => {
        this.#looking = false;
        if (this.#again) {
          this.#again = false;
          this.#look();
        }
      }, PAUSE_MS).unref();
    });
  }

  async #ask(tellAll: boolean): Promise<void> {
    try {
      const found = await this.#find([...new Set([...this.#streams].map(({ id }) => id))]);
      for (const stream of this.#streams) {
        const status = found.get(stream.id);
        if (status && (tellAll || shownOf(status) !== stream.shown)) this.#tell(stream, status);
      }
    } catch {
      // The read model is away: the next move or the keep-alive asks again.
    }
  }
}
