// Appends. One is carried through: sent, and while its outcome is unknown the stream is looked at and the append sent again with the
// same ids and the same expected revision, which can't write twice. Many are in flight on one stream of one connection.

import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { ClientDuplexStream } from '@grpc/grpc-js';
import {
  AppendOutcomeUnknown,
  type AppendResult,
  EMPTY_STREAM,
  EventStoreUnavailable,
  InvalidAppend,
} from '../../../application/ports/eventStore.ts';
import { isDeletable } from '../../../domain/aggregates.ts';
import { withTimeout } from '../../waiting.ts';
import type { CheckedAppend } from '../checkAppend.ts';
import { type Connection, type Connector, ReplaceableConnection, type SharedConnection } from './connection.ts';
import { notSentWithin, StoreFailure, translated } from './failures.ts';
import {
  type AppendAnswer,
  answerOf,
  appendRequest,
  type BatchRequest,
  type BatchResponse,
  uuidText,
} from './messages.ts';
import type { Reader } from './reader.ts';
import type { Timings } from './settings.ts';

interface AppenderOptions {
  readonly connector: Connector;
  readonly reader: Reader;
  readonly timings: Timings;
  readonly onError: (error: Error) => void;
  /** Of each new connection, before anything is sent over it. Throws EventStoreUnavailable. */
  readonly check: () => Promise<void>;
}

/** Beyond this the process would run out of memory before the server catches up. */
const IN_FLIGHT_BYTES_MAX = 64_000_000;
/** The look into the stream must leave time for another try. */
const LOOK_MS = 1_000;

const resultOf = (answer: AppendAnswer): AppendResult =>
  answer.kind === 'written'
    ? { ok: true, revision: answer.revision, position: answer.position }
    : { ok: false, actual: answer.actual };

export class Appender {
  readonly #options: AppenderOptions;
  readonly #streams: ReplaceableConnection<BatchStream>;
  #inFlightBytes = 0;
  readonly #inFlight = new Set<Promise<AppendResult>>();
  /** Grows when the log turns out to be another one: what was decided before is not carried on. */
  #generation = 0;

  constructor(options: AppenderOptions) {
    this.#options = options;
    const { connector, timings, onError, check } = options;
    this.#streams = new ReplaceableConnection(async () => {
      await check().catch((error: Error) => {
        throw error.cause instanceof StoreFailure ? error.cause : new StoreFailure('notSent', error.message);
      });
      return new BatchStream(await connector.connect(timings.connectMs), onError);
    });
  }

  /** Rejects as the port says, within 10 s. */
  async append(append: CheckedAppend): Promise<AppendResult> {
    const bytes = append.dataBytes + append.metadataBytes;
    if (this.#inFlightBytes + bytes > IN_FLIGHT_BYTES_MAX) {
      throw new EventStoreUnavailable(`more than ${IN_FLIGHT_BYTES_MAX} bytes are already waiting to be appended`);
    }
    this.#inFlightBytes += bytes;
    const result = this.#carryThrough(append);
    this.#inFlight.add(result);
    try {
      return await result;
    } finally {
      this.#inFlight.delete(result);
      this.#inFlightBytes -= bytes;
    }
  }

  /** Gives up what is not answered yet: it was decided on a log that is not there any more. */
  abandon(): void {
    this.#generation++;
  }

  /** Waits for what is in flight. */
  async close(): Promise<void> {
    await Promise.allSettled(this.#inFlight);
    this.#streams.close();
  }

  async #carryThrough(append: CheckedAppend): Promise<AppendResult> {
    const { timings, onError } = this.#options;
    const beganAtMs = performance.now();
    const generation = this.#generation;
    let outcomeUnknown = false;
    let wasRefused = false;
    const remainingMs = (): number =>
      (outcomeUnknown ? timings.outcomeUnknownMs : timings.notSentMs) - (performance.now() - beganAtMs);
    for (let attempt = 0; ; attempt++) {
      let failure: StoreFailure;
      try {
        return resultOf(await this.#try(append, remainingMs(), generation));
      } catch (error) {
        failure = translated(error, true);
      }
      onError(failure);
      // Deliveries alone are deleted: whoever still knew of one finds it gone, as in an empty stream (ADR 0008).
      if (failure.kind === 'streamDeleted' && isDeletable(append.stream)) return { ok: false, actual: EMPTY_STREAM };
      if (failure.kind === 'invalid' || failure.kind === 'streamDeleted')
        throw new InvalidAppend(failure.message, { cause: failure });
      outcomeUnknown ||= failure.kind === 'outcomeUnknown';
      if (outcomeUnknown) {
        const found = await this.#find(append);
        if (found !== null) return found;
      }
      const waitMs = timings.backoffMs(attempt);
      // A second stream that is refused, too: another try soon ends alike.
      const isFutile =
        generation !== this.#generation || failure.kind === 'refused' || (wasRefused && isOfRefusedStream(failure));
      if (isFutile || remainingMs() <= waitMs) throw givenUp(outcomeUnknown, failure);
      wasRefused = isOfRefusedStream(failure);
      await pause(waitMs);
    }
  }

  async #try(append: CheckedAppend, remainingMs: number, generation: number): Promise<AppendAnswer> {
    const { connector, timings } = this.#options;
    const stream = await withTimeout(
      this.#streams.get(),
      remainingMs,
      notSentWithin(remainingMs, 'no connection was ready'),
    );
    if (generation !== this.#generation)
      throw new StoreFailure('notSent', 'the log was restored to an older state in the meantime');
    try {
      return await stream.append(append, Math.max(1, Math.min(timings.attemptMs, remainingMs)));
    } catch (error) {
      const failure = translated(error, true);
      if (failure.kind !== 'invalid' && failure.kind !== 'streamDeleted') this.#streams.replace(stream);
      if (failure.leader !== null) connector.redirect(failure.leader);
      throw failure;
    }
  }

  /** The events where they belong: then the append was written. null: not there, or the stream can't be read. */
  async #find({ stream, expected, events }: CheckedAppend): Promise<AppendResult | null> {
    try {
      const look = this.#options.reader.page(stream, expected + 1, events.length, LOOK_MS);
      const page = await withTimeout(look, LOOK_MS, notSentWithin(LOOK_MS, 'the stream could not be read'));
      if (page.length < events.length || page.some(({ id }, index) => id !== events[index]?.id)) return null;
      const last = page[page.length - 1]!;
      return { ok: true, revision: last.revision, position: last.position };
    } catch (error) {
      this.#options.onError(translated(error, false));
      return null;
    }
  }
}

/** The stream that it was sent on was refused as a whole. */
const isOfRefusedStream = ({ cause }: StoreFailure): boolean =>
  cause instanceof StoreFailure && cause.kind === 'refused';

const givenUp = (outcomeUnknown: boolean, cause: StoreFailure): Error =>
  outcomeUnknown
    ? new AppendOutcomeUnknown(`EventStoreDB did not report whether the append was written: ${cause.message}`, {
        cause,
      })
    : new EventStoreUnavailable(`the append was not written: ${cause.message}`, { cause });

// Many appends in flight on one stream of one connection. Each stream has its own table of who waits for what: the end of another stream
// touches nobody here, and an answer that nobody waits for (late, or given twice) is counted and is no accident.

interface Waiting {
  readonly sentAtMs: number;
  readonly resolve: (answer: AppendAnswer) => void;
  readonly reject: (failure: StoreFailure) => void;
  readonly timer: NodeJS.Timeout;
}

/** What ended the stream says nothing of the appends that were sent on it before: any of them may be written. */
const outcomeUnknown = (end: StoreFailure): StoreFailure =>
  new StoreFailure('outcomeUnknown', end.message, { cause: end, ...(end.leader && { leader: end.leader }) });

export class BatchStream implements SharedConnection {
  readonly #connection: Connection;
  readonly #stream: ClientDuplexStream<BatchRequest, BatchResponse>;
  readonly #onStray: (answer: Error) => void;
  readonly #waiting = new Map<string, Waiting>();
  #end: StoreFailure | null = null;
  #retired = false;

  constructor(connection: Connection, onStray: (answer: Error) => void) {
    this.#connection = connection;
    this.#onStray = onStray;
    this.#stream = connection.stub.batchAppend(connection.metadata({ requiresLeader: true }));
    this.#stream.on('data', (response: BatchResponse) => this.#answer(response));
    this.#stream.on('error', (error) => this.#fail(outcomeUnknown(translated(error, true))));
    this.#stream.on('end', () =>
      this.#fail(new StoreFailure('outcomeUnknown', 'the server ended the stream of appends')),
    );
  }

  /** Rejects with a StoreFailure: `outcomeUnknown` as soon as the request may have left. */
  append(append: CheckedAppend, withinMs: number): Promise<AppendAnswer> {
    if (this.#end !== null) return Promise.reject(new StoreFailure('notSent', this.#end.message, { cause: this.#end }));
    const id = randomUUID();
    const answer = new Promise<AppendAnswer>((resolve, reject) => {
      const silent = (): void =>
        this.#reject(id, new StoreFailure('outcomeUnknown', `no answer within ${Math.round(withinMs)} ms`));
      this.#waiting.set(id, { sentAtMs: performance.now(), resolve, reject, timer: setTimeout(silent, withinMs) });
    });
    this.#stream.write(appendRequest(append, id));
    return answer;
  }

  drain(): void {
    this.#retired = true;
    this.#closeWhenDone();
  }

  close(): void {
    this.#fail(new StoreFailure('outcomeUnknown', 'the event store is closed'));
    this.#stream.cancel();
    this.#connection.close();
  }

  #answer(response: BatchResponse): void {
    const id = uuidText(response.getCorrelationId());
    const waiting = this.#take(id);
    if (waiting === undefined) {
      this.#onStray(new Error(`EventStoreDB answered append ${id} after it was given up`));
      return;
    }
    try {
      waiting.resolve(answerOf(response, performance.now() - waiting.sentAtMs));
    } catch (failure) {
      waiting.reject(translated(failure, true));
    }
    this.#closeWhenDone();
  }

  #reject(id: string, failure: StoreFailure): void {
    this.#take(id)?.reject(failure);
    this.#closeWhenDone();
  }

  #take(id: string): Waiting | undefined {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    clearTimeout(waiting?.timer);
    return waiting;
  }

  #fail(failure: StoreFailure): void {
    this.#end ??= failure;
    for (const id of [...this.#waiting.keys()]) this.#reject(id, failure);
  }

  #closeWhenDone(): void {
    if (this.#retired && this.#waiting.size === 0) this.close();
  }
}
