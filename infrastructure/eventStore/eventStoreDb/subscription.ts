// Follows the log across any number of lost connections: near the head in the process's tail, otherwise by a separate subscription. After
// each loss, it opens a new connection and subscription from the last position, after a pause with jitter.
//
// Reported positions never pass the newest event of Quita's own streams. A consumer that stores a position and compares it with `head`
// after a restart must not be beyond the head, even if the log holds system events and foreign streams. The position up to which the
// filter has read beyond that is remembered here, so that a resubscription does not scan again.

import { setTimeout as pause } from 'node:timers/promises';
import type { Position, RecordedEvent, SubscriptionSignal } from '../../../application/ports/eventStore.ts';
import { CATEGORIES } from '../../../domain/aggregates.ts';
import { readStreamName } from '../../../domain/kernel/aggregate.ts';
import { restoredLog } from '../knownLog.ts';
import type { Connector } from './connection.ts';
import type { Deletion } from './deletion.ts';
import { isUnknownPosition, StoreFailure, translated } from './failures.ts';
import type { LogMemory } from './logMemory.ts';
import { type LogStep, openStream } from './logStream.ts';
import { later } from './messages.ts';
import { OWN_CATEGORY } from './ownStreams.ts';
import type { Reader } from './reader.ts';
import type { Timings } from './settings.ts';
import type { Tail } from './tail.ts';

export interface LogSources {
  readonly connector: Connector;
  readonly memory: LogMemory;
  readonly reader: Pick<Reader, 'newest' | 'idAt'>;
  readonly deletion: Pick<Deletion, 'deletedBefore' | 'withoutDeleted'>;
  readonly timings: Timings;
  readonly onError: (error: Error) => void;
  /** Called when a confirmed subscription ended without being asked to. */
  readonly onLost: () => void;
}

interface Following {
  readonly after: Position | null;
  readonly categories: readonly string[];
  readonly batchSize: number;
  /** Ends the subscription. */
  readonly signal: AbortSignal;
  /** The tail to read near the head; null: always read from the server. The tail must receive all these categories. */
  readonly tail: Tail | null;
  /** Called each time the log was found to hold the delivered events, before the events after them, and when the server is lost. */
  readonly onProved?: () => void;
  readonly onInterrupted?: () => void;
}

/** The progress of a subscription. */
class Progress {
  /** The newest position that the consumer received: every matching event up to it was delivered. */
  reported: Position | null;
  /** The newest position that the filter has passed. Never behind `reported`. */
  seen: Position | null;
  isLive = false;
  /** Whether the server has accepted the starting position as a place of its log. */
  isAccepted = false;
  /** The last delivered event. Before the first, the event at the starting position; the first proof adds its id. */
  last: { readonly position: Position; readonly id: string | null } | null;
  /** Number of restores of the log at the last proof. */
  restores: number;
  readonly #categories: ReadonlySet<string>;

  constructor({ after, categories }: Following, restores: number) {
    this.reported = after;
    this.seen = after;
    this.last = after === null ? null : { position: after, id: null };
    this.restores = restores;
    this.#categories = new Set(categories);
  }

  /** Whether the log certainly has the position reached. */
  get isKnown(): boolean {
    return this.isAccepted || this.last === null || this.last.id !== null;
  }

  /** Returns the signals for a step of the server. `head`: Quita's newest known event; `target`: the head when the subscription began. */
  take(step: LogStep, head: Position | null, target: Position | null): SubscriptionSignal[] {
    const signals: SubscriptionSignal[] = [];
    if (step.kind === 'events') {
      signals.push(...this.#events(step.events));
      this.seen = later(this.seen, step.upTo ?? null);
    }
    if (step.kind === 'checkpoint' || step.kind === 'deleted') this.seen = later(this.seen, step.position);
    if (step.kind === 'fellBehind') this.isLive = false;
    signals.push(...this.#checkpoint(head));
    // Servers before 23.10 never report that a subscription has caught up. It has when it passed the head at its start.
    const passed = target === null || (this.seen !== null && this.seen >= target);
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

/** The log was replaced by another one. */
class OtherLog extends StoreFailure {
  readonly found: 'no event' | 'another event';
  constructor(found: OtherLog['found']) {
    super('notSent', `the log has ${found} at the subscription's position`);
    this.found = found;
  }
}

/** Proves that the log still has the delivered events. Throws OtherLog, EventStoreUnavailable. */
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
  // A filter passes positions without reading their events. After a restore, it is unknown whether they were the same.
  const isDoubtful = restores !== progress.restores && reported !== last?.position;
  if (isOther || isDoubtful) throw new OtherLog('another event');
  if (last !== null && last.id === null) progress.last = { position: last.position, id };
  progress.restores = restores;
};

/** Number of successive reports of an unknown position that count: a recovering node may not know its own records for a moment. */
const UNKNOWN_POSITIONS_MAX = 3;

/** Follows the log. Ends without an error when the signal aborts. Throws UnknownPosition, but no other server errors. */
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
      asked.onInterrupted?.();
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

/** A subscription between two proofs. */
interface Run {
  readonly sources: LogSources;
  readonly asked: Following;
  readonly progress: Progress;
  /** Grows when the tail's subscription is opened again: then this one needs a new proof, too. */
  readonly generation: number | undefined;
  /** The head at the beginning. */
  readonly target: Position | null;
  readonly deletedBefore: string;
}

/** Follows until it fails, the signal aborts, or a new proof is due. */
async function* once(
  sources: LogSources,
  asked: Following,
  progress: Progress,
): AsyncGenerator<SubscriptionSignal, void> {
  const { signal, tail } = asked;
  await tail?.opened(signal);
  const generation = tail?.generation;
  await prove(sources, asked, progress);
  asked.onProved?.();
  const [deletedBefore, target] = await Promise.all([sources.deletion.deletedBefore(), sources.memory.readHead()]);
  const run = { sources, asked, progress, generation, target, deletedBefore };
  while (!signal.aborted && tail?.generation === generation)
    yield* progress.isKnown && tail?.covers(progress.seen) ? fromTail(tail, run) : fromServer(run);
}

/** Follows in the tail until it no longer holds the next event, or a new proof is due. */
async function* fromTail(tail: Tail, run: Run): AsyncGenerator<SubscriptionSignal, void> {
  const { asked, progress, generation } = run;
  const { signal, batchSize } = asked;
  while (!signal.aborted && tail.generation === generation) {
    const slice = tail.after(progress.seen, batchSize);
    if (slice === null) break;
    yield* signalsOf(run, { kind: 'events', ...slice });
    if (slice.events.length === 0 && later(progress.seen, tail.seen) === progress.seen) await tail.changed(signal);
  }
  progress.isLive = false;
}

/** Follows by a subscription of its own until the tail holds the next event. */
async function* fromServer(run: Run): AsyncGenerator<SubscriptionSignal, void> {
  const { sources, asked, progress } = run;
  const { signal, batchSize, categories, tail } = asked;
  const { connector, memory, timings } = sources;
  const prefixes = categories.map((category) => `${category}-`);
  const stream = await openStream(connector, timings, progress.seen, prefixes, signal);
  if (stream === null) return;
  progress.isAccepted = true;
  const wake = (): void => stream.wake();
  const undo = memory.head.onHead(() => {
    if (progress.seen !== progress.reported) wake();
  });
  signal.addEventListener('abort', wake);
  try {
    yield* signalsOf(run, { kind: 'woken' });
    while (!signal.aborted && !tail?.covers(progress.seen)) {
      const step = await stream.next(batchSize).catch((error: unknown) => {
        if (!signal.aborted) sources.onLost();
        throw error;
      });
      if (step.kind === 'deleted') memory.head.learn(step.position);
      yield* signalsOf(run, step);
    }
  } finally {
    signal.removeEventListener('abort', wake);
    undo();
    stream.close();
  }
}

async function* signalsOf(run: Run, step: LogStep): AsyncGenerator<SubscriptionSignal, void> {
  const { sources, progress, target, deletedBefore } = run;
  for (const given of progress.take(step, sources.memory.head.known, target))
    yield given.kind === 'events' ? await withoutDeleted(sources, given, deletedBefore) : given;
}

const withoutDeleted = async (
  { deletion }: LogSources,
  { events: given, position }: Extract<SubscriptionSignal, { kind: 'events' }>,
  deletedBefore: string,
): Promise<SubscriptionSignal> => {
  const events = await deletion.withoutDeleted(given, deletedBefore);
  return events.length === 0 ? { kind: 'checkpoint', position } : { kind: 'events', events, position };
};
