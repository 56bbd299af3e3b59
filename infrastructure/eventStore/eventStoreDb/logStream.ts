// One subscription call, pulled: at most what the consumer asks for leaves the connection's buffers, and the server waits behind them.
import { setImmediate as turn } from 'node:timers/promises';
import type { ClientReadableStream } from '@grpc/grpc-js';
import type { Position, RecordedEvent } from '../../../application/ports/eventStore.ts';
import type { Connection } from './connection.ts';
import { StoreFailure, translated } from './failures.ts';
import type { ReadResponse } from './protocol.ts';
import { checkpointOf, eventOf } from './records.ts';
import { subscriptionRequest } from './requests.ts';

type Mark =
  | { readonly kind: 'checkpoint'; readonly position: Position }
  | { readonly kind: 'caughtUp' }
  | { readonly kind: 'fellBehind' };
type Item = Mark | { readonly kind: 'event'; readonly event: RecordedEvent };

/** `woken`: nothing came, but `wake` was called. */
export type LogStep =
  | Mark
  | { readonly kind: 'events'; readonly events: readonly RecordedEvent[] }
  | { readonly kind: 'woken' };

export class LogStream {
  readonly #connection: Connection;
  readonly #stream: ClientReadableStream<ReadResponse>;
  #failure: StoreFailure | null = null;
  #woken = false;
  #resume: () => void = () => undefined;
  /** Taken from the stream and not given yet. */
  #held: Item | null = null;

  constructor(connection: Connection, after: Position | null, prefixes: readonly string[]) {
    this.#connection = connection;
    this.#stream = connection.stub.read(
      subscriptionRequest(after, prefixes),
      connection.metadata({ requiresLeader: false }),
    );
    this.#stream.on('readable', () => this.#resume());
    this.#stream.on('error', (error) => this.#fail(translated(error, false)));
    // Whoever ends the subscription by itself says so with the status OK: for a subscription even that is a failure.
    this.#stream.on('end', () => this.#fail(new StoreFailure('notSent', 'the server ended the subscription')));
  }

  /** Resolves when the server has confirmed. */
  async confirmed(withinMs: number): Promise<void> {
    const timer = setTimeout(
      () => this.#fail(new StoreFailure('notSent', `no confirmation within ${withinMs} ms`)),
      withinMs,
    );
    try {
      for (let response = this.#stream.read(); !response?.hasConfirmation(); response = this.#stream.read()) {
        if (response === null) await this.#more();
      }
    } finally {
      clearTimeout(timer);
    }
  }

  /** What comes next; a batch ends when it is full or when a turn of the event loop brought nothing. Rejects with a StoreFailure. */
  async next(batchSize: number): Promise<LogStep> {
    for (this.#held ??= this.#pull(); this.#held === null && !this.#woken; this.#held ??= this.#pull())
      await this.#more();
    const first = this.#held;
    this.#held = null;
    if (first === null) {
      this.#woken = false;
      return { kind: 'woken' };
    }
    if (first.kind !== 'event') return first;
    const events = [first.event];
    while (events.length < batchSize) {
      const following = this.#pull() ?? (await this.#pullNextTurn());
      if (following === null) break;
      if (following.kind !== 'event') {
        this.#held = following;
        break;
      }
      events.push(following.event);
    }
    return { kind: 'events', events };
  }

  /** `next` gives `woken` as soon as there is nothing else to give. */
  wake(): void {
    this.#woken = true;
    this.#resume();
  }

  close(): void {
    this.#stream.cancel();
    this.#connection.close();
  }

  #pull(): Item | null {
    for (let response: ReadResponse | null = this.#stream.read(); response !== null; response = this.#stream.read()) {
      const item = itemOf(response);
      if (item !== null) return item;
    }
    return null;
  }

  async #pullNextTurn(): Promise<Item | null> {
    await turn();
    return this.#pull();
  }

  /** Until something may be there. */
  async #more(): Promise<void> {
    if (this.#failure !== null) throw this.#failure;
    await new Promise<void>((resolve) => {
      this.#resume = resolve;
    });
  }

  #fail(failure: StoreFailure): void {
    this.#failure ??= failure;
    this.#resume();
  }
}

const itemOf = (response: ReadResponse): Item | null => {
  const event = eventOf(response);
  if (event !== null) return { kind: 'event', event };
  const position = checkpointOf(response);
  if (position !== null) return { kind: 'checkpoint', position };
  if (response.hasCaughtUp()) return { kind: 'caughtUp' };
  return response.hasFellBehind() ? { kind: 'fellBehind' } : null;
};
