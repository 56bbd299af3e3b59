// Where the webhooks of all merchants arrive: each is verified with its merchant's secret, told apart by its event id, and counted.
import { createHash } from 'node:crypto';
import { expectSigned } from '../../world/deliveryFacts.ts';
import { type Hit, Receiver, typeOf } from '../../world/receiver.ts';

interface Arrived {
  readonly what: string;
  /** SHA-256 of the body. An hour's bodies would fill the memory. */
  readonly digest: string;
}

const digestOf = (body: string): string => createHash('sha256').update(body).digest('base64');

const whatOf = (hit: Hit): string => `${typeOf(hit)} ${(hit.body['data'] as { object: { id: string } }).object.id}`;

export class Inbox {
  readonly #receiver: Receiver;
  readonly #secrets = new Map<string, string>();
  readonly #byEventId = new Map<string, Arrived>();
  readonly #eventIds = new Map<string, Set<string>>();
  /** Of the events that are waited for. */
  readonly #missing = new Set<string>();
  #allCame: () => void = () => undefined;
  /** Deliveries beyond the first of an event. */
  duplicates = 0;
  /** What must never come: a bad signature, another body under the same event id. */
  readonly wrong: string[] = [];

  private constructor(receiver: Receiver) {
    this.#receiver = receiver;
  }

  static async open(): Promise<Inbox> {
    let inbox: Inbox | undefined;
    const receiver = await Receiver.open((hit, res) => {
      if (inbox) inbox.#take(hit);
      receiver.got.length = 0; // an hour's would fill the memory
      res.end();
    });
    inbox = new Inbox(receiver);
    return inbox;
  }

  /** Where that merchant's webhooks go. */
  urlOf(merchant: string): string {
    return `${this.#receiver.url}/${merchant}`;
  }
  learnSecret(merchant: string, secret: string): void {
    this.#secrets.set(new URL(this.urlOf(merchant)).pathname, secret);
  }

  /** Distinct events that came. */
  get events(): number {
    return this.#byEventId.size;
  }

  /** `<type> <charge id>` of which not exactly one event came, though many deliveries of it may have. */
  notOnce(expected: readonly string[]): readonly string[] {
    return expected
      .filter((what) => this.#eventIds.get(what)?.size !== 1)
      .map((what) => `${what}: ${this.#eventIds.get(what)?.size ?? 0} events`);
  }
  /** What came and nobody expected. */
  unexpected(expected: ReadonlySet<string>): readonly string[] {
    return [...this.#eventIds.keys()].filter((what) => !expected.has(what));
  }

  /** Until all of them came, at most so long. What is still missing then shows in `notOnce`. */
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
