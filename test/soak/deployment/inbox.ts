// Receives the webhooks of all merchants, verifies each with its merchant’s secret, and counts them by event id.
import { createHash } from 'node:crypto';
import { expectSigned } from '../../world/deliveryFacts.ts';
import { type Hit, Receiver, typeOf } from '../../world/receiver.ts';

interface Arrived {
  readonly what: string;
  /** SHA-256 of the body. The bodies of an hour would fill the memory. */
  readonly digest: string;
}

const digestOf = (body: string): string => createHash('sha256').update(body).digest('base64');

const whatOf = (hit: Hit): string => `${typeOf(hit)} ${(hit.body['data'] as { object: { id: string } }).object.id}`;

export class Inbox {
  readonly #receiver: Receiver;
  readonly #secrets = new Map<string, string>();
  readonly #byEventId = new Map<string, Arrived>();
  readonly #eventIds = new Map<string, Set<string>>();
  /** Expected events that have not arrived yet. */
  readonly #missing = new Set<string>();
  #allCame: () => void = () => undefined;
  /** Number of deliveries after the first of each event. */
  duplicates = 0;
  /** Errors: bad signatures, and different bodies under one event id. Must stay empty. */
  readonly wrong: string[] = [];

  private constructor(receiver: Receiver) {
    this.#receiver = receiver;
  }

  static async open(): Promise<Inbox> {
    let inbox: Inbox | undefined;
    const receiver = await Receiver.open((hit, res) => {
      if (inbox) inbox.#take(hit);
      receiver.got.length = 0; // The requests of an hour would fill the memory.
      res.end();
    });
    inbox = new Inbox(receiver);
    return inbox;
  }

  /** Returns the webhook URL of a merchant. */
  urlOf(merchant: string): string {
    return `${this.#receiver.url}/${merchant}`;
  }
  learnSecret(merchant: string, secret: string): void {
    this.#secrets.set(new URL(this.urlOf(merchant)).pathname, secret);
  }

  /** The number of distinct events received. */
  get events(): number {
    return this.#byEventId.size;
  }

  /** Returns each expected `<type> <charge id>` that did not arrive as exactly one event, however many deliveries it had. */
  notOnce(expected: readonly string[]): readonly string[] {
    return expected
      .filter((what) => this.#eventIds.get(what)?.size !== 1)
      .map((what) => `${what}: ${this.#eventIds.get(what)?.size ?? 0} events`);
  }
  /** Returns the events that were not expected. */
  unexpected(expected: ReadonlySet<string>): readonly string[] {
    return [...this.#eventIds.keys()].filter((what) => !expected.has(what));
  }

  /** Resolves when all have arrived, or after `timeoutMs`. `notOnce` then reports those that are missing. */
  until(expected: readonly string[], timeoutMs: number): Promise<void> {
    for (const what of expected) if (!this.#eventIds.has(what)) this.#missing.add(what);
    if (this.#missing.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, timeoutMs);
      this.#allCame = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  close(): Promise<void> {
    return this.#receiver.close();
  }

  #take(hit: Hit): void {
    const secret = this.#secrets.get(hit.path);
    try {
      expectSigned(hit, secret ?? 'nobody', 'canonical');
    } catch (error) {
      this.wrong.push(`${hit.path}: ${(error as Error).message}`);
    }
    const id = String(hit.headers['webhook-id']);
    const what = whatOf(hit);
    const first = this.#byEventId.get(id);
    if (first !== undefined) {
      this.duplicates += 1;
      if (first.digest !== digestOf(hit.rawBody) || first.what !== what)
        this.wrong.push(`${id} has two bodies: ${hit.rawBody}`);
      return;
    }
    this.#byEventId.set(id, { what, digest: digestOf(hit.rawBody) });
    this.#eventIds.set(what, (this.#eventIds.get(what) ?? new Set()).add(id));
    if (this.#missing.delete(what) && this.#missing.size === 0) this.#allCame();
  }
}
