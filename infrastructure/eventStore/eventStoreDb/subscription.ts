// Following the log through any number of lost connections: each time a new connection and a new subscription from the last position
// handled, after a pause with jitter.
//
// Positions that are given out never pass the newest event of our own streams: whoever stores one and compares it with `head` after a
// restart must find itself at the head, not beyond it, whatever system events and foreign streams the log holds. How far the filter
// has looked beyond that is remembered here, so that a resubscription does not scan again.

import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises';
import type { ClientReadableStream } from '@grpc/grpc-js';
import type { Position, RecordedEvent, SubscriptionSignal } from '../../../application/ports/eventStore.ts';
import { CATEGORIES } from '../../../domain/aggregates.ts';
import { readStreamName } from '../../../domain/kernel/aggregate.ts';
import { raceAbort, whenLate } from '../../waiting.ts';
import { restoredLog } from '../knownLog.ts';
import type { Connection, Connector } from './connection.ts';
import type { Deletion } from './deletion.ts';
import { isUnknownPosition, StoreFailure, translated } from './failures.ts';
import type { LogMemory } from './logMemory.ts';
import { checkpointOf, eventOf, later, type ReadResponse, subscriptionRequest, tombstoneOf } from './messages.ts';
import { OWN_CATEGORY } from './ownStreams.ts';
import type { Reader } from './reader.ts';
import type { Timings } from './settings.ts';

export interface LogSources {
  readonly connector: Connector;
  readonly memory: LogMemory;
  readonly reader: Pick<Reader, 'newest' | 'idAt'>;
  readonly deletion: Pick<Deletion, 'deletedBefore' | 'withoutDeleted'>;
  readonly timings: Timings;
  readonly onError: (error: Error) => void;
}

interface Following {
  readonly after: Position | null;
  readonly categories: readonly string[];
  readonly batchSize: number;
  /** Ends the subscription. */
  readonly signal: AbortSignal;
}

/** Where a subscription stands. */
class Progress {
  /** The newest position that the consumer has got: everything up to it was given, or is of no category asked for. */
  reported: Position | null;
  /** The newest position that the filter has passed. Never behind `reported`. */
  seen: Position | null;
  isLive = false;
  /** The last event given; before the first one, what stands where the subscription began, learnt with the first proof. */
  last: { readonly position: Position; readonly id: string | null } | null;
  /** How often the log had been restored when it was last proved to be the one that is followed. */
  restores: number;
  readonly #categories: ReadonlySet<string>;

  constructor({ after, categories }: Following, restores: number) {
    this.reported = after;
    this.seen = after;
    this.last = after === null ? null : { position: after, id: null };
    this.restores = restores;
    this.#categories = new Set(categories);
  }

  /** What a step of the server means. `head`: the newest known event of ours; `target`: the head when the subscription began. */
  take(step: LogStep, head: Position | null, target: Position | null | undefined): SubscriptionSignal[] {
    const signals: SubscriptionSignal[] = [];
    if (step.kind === 'events') signals.push(...this.#events(step.events));
    if (step.kind === 'checkpoint' || step.kind === 'deleted') this.seen = later(this.seen, step.position);
    if (step.kind === 'fellBehind') this.isLive = false;
    signals.push(...this.#checkpoint(head));
    // Servers before 23.10 never say that a subscription has caught up: it has when it passed what was there when it began.
    const passed = target === null || (target !== undefined && this.seen !== null && this.seen >= target);
    if (!this.isLive && (step.kind === 'caughtUp' || (passed && step.kind !== 'fellBehind'))) {
      this.isLive = true;
      signals.push({ kind: 'caughtUp', position: this.reported });
    }
    return signals;
  }

  #events(given: readonly RecordedEvent[]): SubscriptionSignal[] {
    const events = given.filter(
      ({ position, stream }) =>
        (this.seen === null || position > this.seen) && this.#categories.has(readStreamName(stream).category),
    );
    const last = events.at(-1);
    if (last === undefined) return [];
    this.last = { position: last.position, id: last.id };
    this.reported = last.position;
    this.seen = last.position;
    return [{ kind: 'events', events, position: last.position }];
  }

  #checkpoint(head: Position | null): SubscriptionSignal[] {
    const position = head === null || this.seen === null || this.seen < head ? this.seen : head;
    if (position === null || head === null || (this.reported !== null && position <= this.reported)) return [];
    this.reported = position;
    return [{ kind: 'checkpoint', position }];
  }
}

/** The log is not the one that was followed. */
class OtherLog extends StoreFailure {
  readonly found: 'no event' | 'another event';
  constructor(found: OtherLog['found']) {
    super('notSent', `the log has ${found} at the subscription's position`);
    this.found = found;
  }
}

/** Makes sure that the log still has what was given. Throws OtherLog, EventStoreUnavailable. */
const prove = async ({ memory, reader }: LogSources, { categories }: Following, progress: Progress): Promise<void> => {
  const { reported, last } = progress;
  await memory.check();
  const { restores } = memory;
  if (reported === null) return;
  const followed = [...CATEGORIES, OWN_CATEGORY, ...categories].map((category) => `${category}-`);
  const [newest, id] = await Promise.all([
    reader.newest([...new Set(followed)]),
    last === null ? null : reader.idAt(last.position),
  ]);
  if (newest === null || newest < reported) throw new OtherLog('no event');
  const isOther = id !== null && last !== null && last.id !== null && id !== last.id;
  // A filter passes positions without reading what stands there: in a restored log nothing tells whether it was the same.
  const isDoubtful = restores !== progress.restores && reported !== last?.position;
  if (isOther || isDoubtful) throw new OtherLog('another event');
  if (last !== null && last.id === null) progress.last = { position: last.position, id };
  progress.restores = restores;
};

/** Confirmed, or null when the signal came first: a subscription ends at once, whatever the server does. */
const openStream = async (sources: LogSources, asked: Following, after: Position | null): Promise<LogStream | null> => {
  const { connectMs, confirmMs } = sources.timings;
  const { signal } = asked;
  const prefixes = asked.categories.map((category) => `${category}-`);
  const connecting = sources.connector.connect(connectMs);
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
    if (
      (await raceAbort(
        stream.confirmed(confirmMs).then(() => true),
        signal,
      )) !== null
    )
      return stream;
  } catch (error) {
    stream.close();
    throw error;
  }
  stream.close();
  return null;
};

/** As often in a row a server must say so: a node that is just being put back in order may not know its own records for a moment. */
const UNKNOWN_POSITIONS_MAX = 3;

/** Ends without an error when the signal is given. Throws UnknownPosition, and nothing else of the server's. */
export async function* follow(sources: LogSources, asked: Following): AsyncGenerator<SubscriptionSignal, void> {
  const { signal } = asked;
  const progress = new Progress(asked, sources.memory.restores);
  let unknownPositions = 0;
  for (let attempt = 0; !signal.aborted; attempt++) {
    progress.isLive = false;
    try {
      for await (const given of once(sources, asked, progress)) {
        attempt = 0;
        unknownPositions = 0;
        yield given;
        if (signal.aborted) return;
      }
    } catch (error) {
      if (signal.aborted) return;
      const failure = translated(error, false);
      if (failure.leader !== null) sources.connector.redirect(failure.leader);
      const isOther = failure instanceof OtherLog;
      unknownPositions = isOther || isUnknownPosition(failure) ? unknownPositions + 1 : 0;
      if (unknownPositions === UNKNOWN_POSITIONS_MAX)
        throw restoredLog(progress.seen, isOther ? failure.found : 'no event', failure);
      sources.onError(failure);
    }
    await pause(sources.timings.backoffMs(attempt), undefined, { signal }).catch(() => undefined);
  }
}

/** One subscription, until it fails or the signal is given. */
async function* once(
  sources: LogSources,
  asked: Following,
  progress: Progress,
): AsyncGenerator<SubscriptionSignal, void> {
  const { signal, batchSize } = asked;
  const { memory } = sources;
  await prove(sources, asked, progress);
  const deletedBefore = await sources.deletion.deletedBefore();
  const stream = await openStream(sources, asked, progress.seen);
  if (stream === null) return;
  const wake = (): void => stream.wake();
  let target: Position | null | undefined;
  memory.readHead().then(
    (head) => {
      target = head;
      wake();
    },
    () => undefined, // newer servers say it themselves
  );
  const hasLooked = (): boolean => progress.seen !== progress.reported;
  const undo = memory.head.onHead(() => {
    if (hasLooked()) wake();
  });
  signal.addEventListener('abort', wake);
  try {
    while (!signal.aborted) {
      const step = await stream.next(batchSize);
      if (step.kind === 'deleted') memory.head.learn(step.position);
      for (const given of progress.take(step, memory.head.known, target))
        yield given.kind === 'events' ? await withoutDeleted(sources, given, deletedBefore) : given;
    }
  } finally {
    signal.removeEventListener('abort', wake);
    undo();
    stream.close();
  }
}

const withoutDeleted = async (
  { deletion }: LogSources,
  { events: given, position }: Extract<SubscriptionSignal, { kind: 'events' }>,
  deletedBefore: string,
): Promise<SubscriptionSignal> => {
  const events = await deletion.withoutDeleted(given, deletedBefore);
  return events.length === 0 ? { kind: 'checkpoint', position } : { kind: 'events', events, position };
};

// One subscription call, pulled: at most what the consumer asks for leaves the connection's buffers, and the server waits behind them.

type Mark =
  | { readonly kind: 'checkpoint'; readonly position: Position }
  /** A stream was deleted, which stands in the log like an event: the last of several. */
  | { readonly kind: 'deleted'; readonly position: Position }
  | { readonly kind: 'caughtUp' }
  | { readonly kind: 'fellBehind' };
type Item = Mark | { readonly kind: 'event'; readonly event: RecordedEvent };

/** `woken`: nothing came, but `wake` was called. */
type LogStep =
  | Mark
  | { readonly kind: 'events'; readonly events: readonly RecordedEvent[] }
  | { readonly kind: 'woken' };

class LogStream {
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
    await whenLate(this.#untilConfirmed(), withinMs, () =>
      this.#fail(new StoreFailure('notSent', `no confirmation within ${withinMs} ms`)),
    );
  }

  async #untilConfirmed(): Promise<void> {
    for (let response = this.#stream.read(); !response?.hasConfirmation(); response = this.#stream.read())
      if (response === null) await this.#more();
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
  const tombstone = tombstoneOf(response);
  if (tombstone !== null) return { kind: 'deleted', position: tombstone };
  const position = checkpointOf(response);
  if (position !== null) return { kind: 'checkpoint', position };
  if (response.hasCaughtUp()) return { kind: 'caughtUp' };
  return response.hasFellBehind() ? { kind: 'fellBehind' } : null;
};
