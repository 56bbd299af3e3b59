// Load, decide, append: the only way to write facts, for HTTP requests, jobs and recovery alike (architecture §3).

import type { Aggregate } from '../../domain/kernel/aggregate.ts';
import { type Decision, type Fact, fold } from '../../domain/kernel/decider.ts';
import type { AccountId, Mode, StreamName } from '../../domain/kernel/ids.ts';
import { isRejection, type Rejection, reject } from '../../domain/kernel/rejection.ts';
import { type EventLog, readDecoded, UnreadableEvent } from '../ports/eventCodec.ts';
import { EMPTY_STREAM, type Position } from '../ports/eventStore.ts';
import type { EventMetadata } from '../ports/loggedEvent.ts';
import type { Randomness, Stopwatch } from '../ports/system.ts';
import { KeyedLock } from './keyedLock.ts';
import { StateCache } from './stateCache.ts';

interface Loaded<State> {
  readonly state: State;
  /** Revision of the last event; -1 when the stream is empty. */
  readonly revision: number;
}

export interface Outcome<State, Reply> extends Loaded<State> {
  readonly reply: Reply;
  /** Number of events written; 0 if nothing had to change. */
  readonly appended: number;
  /** Position of the append; null if nothing was written or the store does not return it. */
  readonly position: Position | null;
}

/** One event of a stream, and the states before and after it. */
export interface Step<State, Event> {
  readonly before: State;
  readonly event: Event;
  readonly after: State;
  readonly revision: number;
  readonly account: AccountId;
  readonly mode: Mode;
}

/** Other writers kept appending to the stream first. Nothing was written; the caller may retry. */
export class CommandContention extends Error {
  override name = 'CommandContention';
}

/** The stream has an event that this version can't read. No decision on the stream is possible until that is fixed. */
export class StreamUnreadable extends Error {
  override name = 'StreamUnreadable';
}

/** Returns the result of the work, or its StreamUnreadable, so that the caller can go on. Throws all other errors. */
export const unlessUnreadable = async <T>(work: Promise<T>): Promise<T | StreamUnreadable> => {
  try {
    return await work;
  } catch (error) {
    if (error instanceof StreamUnreadable) return error;
    throw error;
  }
};

/** Returns the value. Throws StreamUnreadable if it is an event that could not be decoded. */
export const readable = <T>(value: T | UnreadableEvent): T => {
  if (!(value instanceof UnreadableEvent)) return value;
  const { recorded, reason } = value;
  throw new StreamUnreadable(`${recorded.stream}@${recorded.revision}: ${reason.message}`, { cause: reason });
};

const TOO_MANY_CHANGES = reject(
  'change_limit_reached',
  'The maximum number of changes is reached. Create a new one, or ask the operator of the gateway.',
);

/** Number of appends lost to other processes before a command gives up. */
const CONFLICTS_MAX = 10;
/** Longest pause after the first lost append, in milliseconds. It grows with each further one. */
const CONFLICT_PAUSE_MS = 5;

interface CommandOptions {
  /** The stream is assumed to be empty and is not read first. */
  readonly creates?: boolean;
  /** Rejects with `change_limit_reached` if the stream is at the aggregate's `changesMax` and the decision would add events (rule E10). */
  readonly isLimited?: boolean;
}

interface CommandNeeds extends EventLog {
  readonly randomness: Randomness;
  readonly stopwatch: Stopwatch;
}

export class CommandHandler {
  readonly #log: EventLog;
  readonly #randomness: Randomness;
  readonly #stopwatch: Stopwatch;
  readonly #locks = new KeyedLock();
  readonly #cache = new StateCache();
  /** Grows whenever a state is forgotten. A read that began before that may be stale and is not cached. */
  #generation = 0;
  /** Grows whenever all states are forgotten. Decisions on older states are made again. */
  #era = 0;

  constructor({ store, codec, randomness, stopwatch }: CommandNeeds) {
    this.#log = { store, codec };
    this.#randomness = randomness;
    this.#stopwatch = stopwatch;
  }

  /** Returns the stream's current state from the store. Throws StreamUnreadable or EventStoreUnavailable. */
  async load<State, Event extends Fact<string, unknown>>(
    { decider }: Aggregate<State, Event>,
    stream: StreamName,
  ): Promise<Loaded<State>> {
    const generation = this.#generation;
    const cached = this.#cache.get(stream) as Loaded<State> | undefined;
    let { state, revision } = cached ?? { state: decider.initial, revision: EMPTY_STREAM };
    for await (const page of readDecoded(this.#log, stream, { from: revision + 1 }))
      for (const logged of page.map(readable)) {
        state = decider.evolve(state, logged.event as Event);
        revision = logged.revision;
      }
    const isNewest = (this.#cache.peek(stream)?.revision ?? EMPTY_STREAM) < revision;
    if (isNewest && generation === this.#generation) this.#cache.set(stream, { state, revision });
    return { state, revision };
  }

  /** Returns the event at `revision` with the states before and after it, or null if the stream has no such event. */
  async loadStep<State, Event extends Fact<string, unknown>>(
    aggregate: Aggregate<State, Event>,
    stream: StreamName,
    revision: number,
  ): Promise<Step<State, Event> | null> {
    for await (const step of this.loadSteps(aggregate, stream)) if (step.revision === revision) return step;
    return null;
  }

  /** Yields every event of the stream in order, with the states before and after it. */
  async *loadSteps<State, Event extends Fact<string, unknown>>(
    { decider }: Aggregate<State, Event>,
    stream: StreamName,
  ): AsyncIterable<Step<State, Event>> {
    let before = decider.initial;
    for await (const page of readDecoded(this.#log, stream))
      for (const decoded of page) {
        const logged = readable(decoded);
        const { revision, account, mode } = logged;
        const event = logged.event as Event;
        const after = decider.evolve(before, event);
        yield { before, event, after, revision, account, mode };
        before = after;
      }
  }

  /** Forgets the cached state of the stream if it is older than `revision`, which another process wrote. */
  forget(stream: StreamName, revision: number = Number.POSITIVE_INFINITY): void {
    const cached = this.#cache.get(stream);
    if (cached && cached.revision >= revision) return;
    this.#generation++;
    this.#cache.delete(stream);
  }

  /** Forgets all cached states. Decisions that were not appended yet are made again on states from the store. */
  forgetAll(): void {
    this.#generation++;
    this.#era++;
    this.#cache.clear();
  }

  /** Returns the cached state of the stream, which may be stale. Use it only to choose an effect, never for a response. */
  async loadRecent<State, Event extends Fact<string, unknown>>(
    aggregate: Aggregate<State, Event>,
    stream: StreamName,
  ): Promise<Loaded<State>> {
    return (this.#cache.get(stream) as Loaded<State> | undefined) ?? this.load(aggregate, stream);
  }

  /** Like `execute`, for decisions that only record facts and never reject. Throws if the decision rejects. */
  async record<State, Event extends Fact<string, unknown>, Reply>(
    aggregate: Aggregate<State, Event>,
    stream: StreamName,
    decide: Decision<State, Event, Reply>,
    metadata: EventMetadata,
    options: Pick<CommandOptions, 'creates'> = {},
  ): Promise<Outcome<State, Reply>> {
    const outcome = await this.execute(aggregate, stream, decide, metadata, options);
    if (isRejection(outcome)) throw new Error(`${stream}: ${metadata.actor} was rejected: ${outcome.message}`);
    return outcome;
  }

  /**
   * Runs one decision on one stream and returns its outcome or rejection. Throws CommandContention, StreamUnreadable, EventStoreUnavailable
   * or AppendOutcomeUnknown. All events are written or none, and a retry is safe.
   */
  execute<State, Event extends Fact<string, unknown>, Reply>(
    aggregate: Aggregate<State, Event>,
    stream: StreamName,
    decide: Decision<State, Event, Reply>,
    metadata: EventMetadata,
    options: CommandOptions = {},
  ): Promise<Outcome<State, Reply> | Rejection> {
    // Commands of this process on one stream run one at a time, so that only other processes conflict.
    return this.#locks.run(stream, () => this.#run(aggregate, stream, decide, metadata, options));
  }

  async #run<State, Event extends Fact<string, unknown>, Reply>(
    aggregate: Aggregate<State, Event>,
    stream: StreamName,
    decide: Decision<State, Event, Reply>,
    metadata: EventMetadata,
    { creates = false, isLimited = false }: CommandOptions,
  ): Promise<Outcome<State, Reply> | Rejection> {
    const { decider, serde } = aggregate;
    const commandId = this.#randomness.bytes(16).toString('hex');
    const guess =
      (this.#cache.get(stream) as Loaded<State> | undefined) ??
      (creates ? { state: decider.initial, revision: EMPTY_STREAM } : undefined);
    // A guessed state may only lead to an append, which verifies it. A response without an append needs the stream itself.
    let isGuess = guess !== undefined;
    let era = this.#era;
    let loaded = guess ?? (await this.load(aggregate, stream));
    for (let conflicts = 0; conflicts < CONFLICTS_MAX; ) {
      const decided = decide(loaded.state);
      if (isRejection(decided) || decided.events.length === 0) {
        if (!isGuess)
          return isRejection(decided) ? decided : { ...loaded, reply: decided.reply, appended: 0, position: null };
        loaded = await this.load(aggregate, stream);
        isGuess = false;
        continue;
      }
      const { store, codec } = this.#log;
      const after = loaded.revision;
      if (isLimited && after + 1 >= (aggregate.changesMax ?? Number.POSITIVE_INFINITY)) return TOO_MANY_CHANGES;
      const isCreation = isGuess && after === EMPTY_STREAM;
      const events = await codec.encode({
        ...{ serde, stream, after, events: decided.events, commandId, metadata, isCreation },
      });
      if (era !== this.#era) {
        era = this.#era;
        loaded = await this.load(aggregate, stream);
        isGuess = false;
        continue;
      }
      const result = await store.append(stream, loaded.revision, events);
      if (result.ok) {
        const state = fold(decider, decided.events, loaded.state);
        if (era === this.#era) this.#cache.set(stream, { state, revision: result.revision });
        return {
          state,
          revision: result.revision,
          reply: decided.reply,
          appended: events.length,
          position: result.position,
        };
      }
      if (!isGuess) {
        conflicts++;
        // A random pause keeps two processes from colliding repeatedly.
        await this.#stopwatch.pause(1 + this.#randomness.fraction() * CONFLICT_PAUSE_MS * conflicts);
      }
      this.#cache.delete(stream);
      loaded = await this.load(aggregate, stream);
      isGuess = false;
    }
    throw new CommandContention(`${stream}: ${CONFLICTS_MAX} conflicts in a row`);
  }
}
