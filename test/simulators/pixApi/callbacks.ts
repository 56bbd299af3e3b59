// Sends callbacks: `POST {webhookUrl}/pix` with `{"pix": […]}`, retried after a pause until the response is 2xx.
import { Agent, request } from 'undici';
import type { Pauses } from './pauses.ts';
import type { Settings } from './settings.ts';

/** TLS material for calls to https webhooks. */
export interface CallbackTls {
  readonly ca: string | undefined;
  readonly certificate: string | undefined;
  readonly privateKey: string | undefined;
}

interface Pending {
  readonly item: object;
  attempts: number;
}

export interface Delivery {
  readonly at: string;
  readonly url: string;
  readonly body: unknown;
  /** The status of the response, or null without a response. */
  readonly status: number | null;
  readonly error: string | null;
}

export type CallbackMode = 'delivering' | 'paused' | 'dropping';

/** Number of deliveries that the log keeps. */
const LOG_MAX = 1_000;
const isAccepted = (status: number | null): boolean => status !== null && status >= 200 && status < 300;

/** The pending callbacks of one URL. Requests go out one at a time, so that their order is exact. */
class Line {
  readonly waiting: Pending[] = [];
  /** Failed callbacks, each with the function that cancels its pause. */
  readonly retrying = new Map<Pending, () => void>();
  busy: Promise<void> = Promise.resolve();
}

export class Callbacks {
  readonly log: Delivery[] = [];
  readonly counts = { announced: 0, accepted: 0, failed: 0, dropped: 0, givenUp: 0 };
  readonly #lines = new Map<string, Line>();
  readonly #settings: Settings;
  readonly #pauses: Pauses;
  readonly #agent: Agent;
  /** An agent without the certificate. */
  readonly #stranger: Agent;
  readonly #now: () => number;
  #mode: CallbackMode = 'delivering';
  #watchers = new Set<() => void>();
  #isClosed = false;

  constructor(settings: Settings, pauses: Pauses, now: () => number, { ca, certificate, privateKey }: CallbackTls) {
    this.#settings = settings;
    this.#pauses = pauses;
    this.#now = now;
    const trust = ca === undefined ? {} : { ca };
    const identity =
      certificate === undefined || privateKey === undefined ? {} : { cert: certificate, key: privateKey };
    this.#agent = new Agent({ connect: { ...trust, ...identity } });
    this.#stranger = new Agent({ connect: trust });
  }

  get mode(): CallbackMode {
    return this.#mode;
  }

  /** The number of callbacks that are not yet accepted. */
  get pending(): number {
    return [...this.#lines.values()].reduce((sum, { waiting, retrying }) => sum + waiting.length + retrying.size, 0);
  }

  announce(url: string, item: object): void {
    this.counts.announced += 1;
    if (this.#mode === 'dropping') this.counts.dropped += 1;
    else {
      const line = this.#lineOf(url);
      line.waiting.push({ item, attempts: 0 });
      if (this.#mode === 'delivering') this.#kick(url, line);
    }
    this.#changed();
  }

  /** `paused` keeps new callbacks for later, `dropping` discards them, and `delivering` also sends those that were kept. */
  setMode(mode: CallbackMode): void {
    this.#mode = mode;
    if (mode === 'delivering') for (const [url, line] of this.#lines) this.#kick(url, line);
  }

  /** Sends every pending callback once, without a pause, in any mode. */
  async flush(): Promise<{ readonly accepted: number; readonly pending: number }> {
    const before = this.counts.accepted;
    await Promise.all([...this.#lines].map(([url, line]) => this.#flushLine(url, line)));
    return { accepted: this.counts.accepted - before, pending: this.pending };
  }

  /** Calls the URL itself, as Efí does when a webhook is registered. Returns whether the response is 2xx. */
  test(url: string, withCertificate = true): Promise<boolean> {
    const body = { evento: 'teste_webhook', data_criacao: new Date(this.#now()).toISOString() };
    return this.#send(url, body, withCertificate ? this.#agent : this.#stranger);
  }

  /** Resolves when `condition` holds. It is evaluated after every change. */
  until(condition: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (!condition() && !this.#isClosed) return;
        this.#watchers.delete(look);
        resolve();
      };
      this.#watchers.add(look);
      look();
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#changed();
    await Promise.all([this.#agent.destroy(), this.#stranger.destroy()]);
    await Promise.all([...this.#lines.values()].map(({ busy }) => busy));
  }

  #lineOf(url: string): Line {
    const line = this.#lines.get(url) ?? new Line();
    this.#lines.set(url, line);
    return line;
  }

  #kick(url: string, line: Line): void {
    line.busy = line.busy.then(async () => {
      while (this.#mode === 'delivering' && line.waiting.length > 0 && !this.#isClosed) await this.#deliver(url, line);
    });
  }

  async #flushLine(url: string, line: Line): Promise<void> {
    line.busy = line.busy.then(async () => {
      const retried = [...line.retrying];
      line.retrying.clear();
      for (const [pending, cancel] of retried) {
        cancel();
        line.waiting.push(pending);
      }
      for (let left = line.waiting.length; left > 0 && !this.#isClosed; left -= this.#settings.callbackBatch)
        await this.#deliver(url, line);
    });
    await line.busy;
  }

  async #deliver(url: string, line: Line): Promise<void> {
    const { callbackBatch, callbackOrder, callbackRepeats, callbackAttempts, callbackRetryMs } = this.#settings;
    const isNewestFirst = callbackOrder === 'newestFirst';
    const batch = line.waiting.splice(isNewestFirst ? -callbackBatch : 0, callbackBatch);
    if (isNewestFirst) batch.reverse();
    if (batch.length === 0) return;
    const body = { pix: batch.map(({ item }) => item) };
    let isDone = false;
    for (let time = 0; time < callbackRepeats && !this.#isClosed; time++) isDone = await this.#send(`${url}/pix`, body);
    if (this.#isClosed) return;
    this.counts[isDone ? 'accepted' : 'failed'] += batch.length;
    for (const pending of isDone ? [] : batch) {
      pending.attempts += 1;
      if (pending.attempts >= callbackAttempts) this.counts.givenUp += 1;
      else this.#retryLater(url, line, pending, callbackRetryMs);
    }
    this.#changed();
  }

  #retryLater(url: string, line: Line, pending: Pending, ms: number): void {
    const cancel = this.#pauses.after(ms, () => {
      line.retrying.delete(pending);
      line.waiting.push(pending);
      this.#kick(url, line);
    });
    line.retrying.set(pending, cancel);
  }

  async #send(url: string, body: unknown, dispatcher = this.#agent): Promise<boolean> {
    const { status, error } = await this.#post(url, body, dispatcher);
    this.log.push({ at: new Date(this.#now()).toISOString(), url, body, status, error });
    if (this.log.length > LOG_MAX) this.log.shift();
    return isAccepted(status);
  }

  async #post(
    url: string,
    body: unknown,
    dispatcher: Agent,
  ): Promise<{ readonly status: number | null; readonly error: string | null }> {
    try {
      const answer = await request(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
        dispatcher,
        headersTimeout: this.#settings.callbackTimeoutMs,
        bodyTimeout: this.#settings.callbackTimeoutMs,
      });
      await answer.body.dump();
      return { status: answer.statusCode, error: null };
    } catch (error) {
      return { status: null, error: error instanceof Error ? error.message : String(error) };
    }
  }

  #changed(): void {
    for (const look of [...this.#watchers]) look();
  }
}
