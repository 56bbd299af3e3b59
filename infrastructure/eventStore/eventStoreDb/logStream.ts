// One subscription call, read by pulling: only requested events leave the connection's buffers, which makes the server wait.

import { setImmediate as turn } from 'node:timers/promises';
import type { ClientReadableStream } from '@grpc/grpc-js';
import type { Position, RecordedEvent } from '../../../application/ports/eventStore.ts';
import { raceAbort, whenLate } from '../../waiting.ts';
import type { Connection, Connector } from './connection.ts';
import { StoreFailure, translated } from './failures.ts';
import { checkpointOf, eventOf, type ReadResponse, subscriptionRequest, tombstoneOf } from './messages.ts';
import type { Timings } from './settings.ts';

type Mark =
  | { readonly kind: 'checkpoint'; readonly position: Position }
  /** A stream was deleted, which the log records like an event. Of several in a row, the last. */
  | { readonly kind: 'deleted'; readonly position: Position }
  | { readonly kind: 'caughtUp' }
  | { readonly kind: 'fellBehind' };
type Item = Mark | { readonly kind: 'event'; readonly event: RecordedEvent };

/** `woken`: nothing arrived, but `wake` was called. */
export type LogStep =
  | Mark
  /** `upTo`: the newest position that was looked at; default: that of the last event. */
  | { readonly kind: 'events'; readonly events: readonly RecordedEvent[]; readonly upTo?: Position | null }
  | { readonly kind: 'woken' };

class LogStream {
  readonly #connection: Connection;
  readonly #stream: ClientReadableStream<ReadResponse>;
  #failure: StoreFailure | null = null;
  #woken = false;
  #resume: () => void = () => undefined;
  /** Read from the stream and not delivered yet. */
  #held: Item | null = null;

  constructor(connection: Connection, after: Position | null, prefixes: readonly string[]) {
    this.#connection = connection;
    this.#stream = connection.stub.read(
      subscriptionRequest(after, prefixes),
      connection.metadata({ requiresLeader: false }),
    );
    this.#stream.on('readable', () => this.#resume());
    this.#stream.on('error', (error) => this.#fail(translated(error, false)));
    // A server that ends the subscription sends status OK. For a subscription that is a failure, too.
    this.#stream.on('end', () => this.#fail(new StoreFailure('notSent', 'the server ended the subscription')));
  }

  /** Resolves when the server has confirmed. */
  async confirmed(withinMs: number): Promise<void> {
    await whenLate(this.#untilConfirmed(), withinMs, () =>
      this.#fail(new StoreFailure('notSent', `no confirmation within ${withinMs} ms`)),
    );
  }

  async #untilConfirmed(): Promise<void> {
    for (let response = this.#stream.read(); !response?.hasConfirmation(); response = this.#stream.read())
      if (response === null) await this.#more();
  }

  /** Returns the next step. A batch ends when it is full, or when a turn of the event loop brought nothing. Rejects with a StoreFailure. */
  async next(batchSize: number): Promise<LogStep> {
    for (this.#held ??= this.#pull(); this.#held === null && !this.#woken; this.#held ??= this.#pull())
      await this.#more();
    const first = this.#held;
    this.#held = null;
    if (first === null) {
      this.#woken = false;
      return { kind: 'woken' };
    }
    if (first.kind === 'deleted') return this.#lastDeleted(first);
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

  #lastDeleted(first: LogStep & { readonly kind: 'deleted' }): LogStep {
    let last = first;
    for (this.#held = this.#pull(); this.#held?.kind === 'deleted'; this.#held = this.#pull()) last = this.#held;
    return last;
  }

  /** Makes `next` return `woken` as soon as nothing else is available. */
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

  /** Waits until data may have arrived. */
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
  const tombstone = tombstoneOf(response);
  if (tombstone !== null) return { kind: 'deleted', position: tombstone };
  const position = checkpointOf(response);
  if (position !== null) return { kind: 'checkpoint', position };
  if (response.hasCaughtUp()) return { kind: 'caughtUp' };
  return response.hasFellBehind() ? { kind: 'fellBehind' } : null;
};

/** Opens a confirmed subscription to the streams with these prefixes. Returns null at once if the signal aborts first. */
export const openStream = async (
  connector: Connector,
  { connectMs, confirmMs }: Pick<Timings, 'connectMs' | 'confirmMs'>,
  after: Position | null,
  prefixes: readonly string[],
  signal: AbortSignal,
): Promise<LogStream | null> => {
  const connecting = connector.connect(connectMs);
  const connection = await raceAbort(connecting, signal);
  if (connection === null) {
    connecting.then(
      (late) => late.close(),
      () => undefined,
    );
    return null;
  }
  const stream = new LogStream(connection, after, prefixes);
  try {
    const confirming = stream.confirmed(confirmMs).then(() => true);
    if ((await raceAbort(confirming, signal)) !== null) return stream;
  } catch (error) {
    stream.close();
    throw error;
  }
  stream.close();
  return null;
};
