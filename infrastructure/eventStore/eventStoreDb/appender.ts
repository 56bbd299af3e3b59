// Appends events. While the outcome of an append is unknown, its stream is read and the append repeated with the same ids and expected
// revision, which can't write twice. Many appends are in flight on one stream of one connection.

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
import { LogsDiffer } from '../compareLogs.ts';
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
  /** Checks each new connection before it is used. Throws EventStoreUnavailable. */
  readonly check: () => Promise<void>;
}

/** With more bytes in flight, the process could run out of memory before the server catches up. */
const IN_FLIGHT_BYTES_MAX = 64_000_000;
/** Bounds of appends in flight whose order matters. */
const ORDERED_MAX = 256;
const ORDERED_BYTES_MAX = 8_000_000;
/** Timeout for reading the stream, which must leave time for another try. */
const LOOK_MS = 1_000;

/** An append of an ordered copy, on its way. */
interface Ordered {
  readonly append: CheckedAppend;
  readonly outcome: Promise<AppendAnswer | StoreFailure>;
}

const bytesOf = ({ dataBytes, metadataBytes }: CheckedAppend): number => dataBytes + metadataBytes;

const assertWritten = (answer: AppendAnswer | AppendResult, { stream, expected }: CheckedAppend): void => {
  if ('actual' in answer)
    throw new Error(
      `${stream} ends at revision ${answer.actual} in the copy instead of ${expected}: is another program writing to it?`,
    );
};

const resultOf = (answer: AppendAnswer): AppendResult =>
  answer.kind === 'written'
    ? { ok: true, revision: answer.revision, position: answer.position }
    : { ok: false, actual: answer.actual };

export class Appender {
  readonly #options: AppenderOptions;
  readonly #streams: ReplaceableConnection<BatchStream>;
  #inFlightBytes = 0;
  readonly #inFlight = new Set<Promise<AppendResult>>();
  /** Grows when the log was replaced. Appends of an earlier generation are not retried. */
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

  /** Appends events. Settles within 10 s; rejects as the port specifies. */
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

  /**
   * Writes appends, so that their events follow each other in the log in this order, and calls `onWritten` for each in turn. Many are in
   * flight on one stream, whose requests the server writes in their order. If one fails, the others are awaited, looked up, and repeated
   * one by one. Throws LogsDiffer if a later one was written without an earlier one, and the errors of `append`.
   */
  async appendInOrder(appends: readonly CheckedAppend[], onWritten: (events: number) => void): Promise<void> {
    const { outcomeUnknownMs, connectMs } = this.#options.timings;
    let sent: Ordered[] = [];
    let bytes = 0;
    let stream: BatchStream | null = null;
    const settle = async (): Promise<void> => {
      const { append, outcome } = sent[0] as Ordered;
      const answer = await outcome;
      const settled = answer instanceof StoreFailure ? sent : [{ append }];
      if (answer instanceof StoreFailure) {
        await this.#repeatInOrder(sent, answer);
        if (stream !== null) this.#streams.replace(stream);
        stream = null;
      } else assertWritten(answer, append);
      sent = sent.slice(settled.length);
      for (const { append: done } of settled) {
        bytes -= bytesOf(done);
        onWritten(done.events.length);
      }
    };
    for (const append of appends) {
      bytes += bytesOf(append);
      while (sent.length > 0 && (sent.length === ORDERED_MAX || bytes > ORDERED_BYTES_MAX)) await settle();
      stream ??= await withTimeout(this.#streams.get(), connectMs, notSentWithin(connectMs, 'no connection was ready'));
      const answer = stream.append(append, outcomeUnknownMs);
      sent.push({ append, outcome: answer.catch((error) => translated(error, true)) });
    }
    while (sent.length > 0) await settle();
  }

  /** Gives up unanswered appends, because they were decided on a log that no longer exists. */
  abandon(): void {
    this.#generation++;
  }

  /** Waits for appends in flight, then closes. */
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
      // Only deliveries are deleted. An append to a deleted one finds an empty stream (ADR 0008).
      if (failure.kind === 'streamDeleted' && isDeletable(append.stream)) return { ok: false, actual: EMPTY_STREAM };
      if (failure.kind === 'invalid' || failure.kind === 'streamDeleted')
        throw new InvalidAppend(failure.message, { cause: failure });
      outcomeUnknown ||= failure.kind === 'outcomeUnknown';
      if (outcomeUnknown) {
        const found = await this.#find(append);
        if (found !== null) return found;
      }
      const waitMs = timings.backoffMs(attempt);
      // If a second stream is rejected as well, another try would soon fail in the same way.
      const isFutile =
        generation !== this.#generation || failure.kind === 'refused' || (wasRefused && isOfRefusedStream(failure));
      if (isFutile || remainingMs() <= waitMs) throw givenUp(outcomeUnknown, failure);
      wasRefused = isOfRefusedStream(failure);
      await pause(waitMs);
    }
  }

  async #try(append: CheckedAppend, remainingMs: number, generation: number): Promise<AppendAnswer> {
    const { connector, timings } = this.#options;
    const stream =
      this.#streams.ready ??
      (await withTimeout(this.#streams.get(), remainingMs, notSentWithin(remainingMs, 'no connection was ready')));
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

  /** Repeats the unwritten appends of an ordered copy, once none of them is in flight. */
  async #repeatInOrder(sent: readonly Ordered[], failure: StoreFailure): Promise<void> {
    this.#options.onError(failure);
    const answers = await Promise.all(sent.map(({ outcome }) => outcome));
    let missing: CheckedAppend | null = null;
    const rest: CheckedAppend[] = [];
    for (const [n, { append }] of sent.entries()) {
      const answer = answers[n] as AppendAnswer | StoreFailure;
      if (answer instanceof StoreFailure ? !(await this.#holds(append)) : answer.kind === 'conflict') {
        missing ??= append;
        rest.push(append);
      } else if (missing !== null)
        throw new LogsDiffer(`the copy holds ${append.stream}@${append.expected + 1} before earlier events`);
    }
    for (const append of rest) assertWritten(await this.append(append), append);
  }

  /** Throws EventStoreUnavailable. */
  async #holds({ stream, expected, events }: CheckedAppend): Promise<boolean> {
    const page = await this.#options.reader.pageSoon(stream, expected + 1, events.length);
    return page.length === events.length && page.every(({ id }, n) => id === events[n]?.id);
  }

  /** Returns the result if the stream holds the append's events, or null if it does not or can't be read. */
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

/** Whether the server rejected the whole stream that the append was sent on. */
const isOfRefusedStream = ({ cause }: StoreFailure): boolean =>
  cause instanceof StoreFailure && cause.kind === 'refused';

const givenUp = (outcomeUnknown: boolean, cause: StoreFailure): Error =>
  outcomeUnknown
    ? new AppendOutcomeUnknown(`EventStoreDB did not report whether the append was written: ${cause.message}`, {
        cause,
      })
    : new EventStoreUnavailable(`the append was not written: ${cause.message}`, { cause });

// Many appends in flight on one stream of one connection. Each stream has its own table of pending appends, so the end of another stream
// does not affect it. An unexpected answer (late, or repeated) is reported and ignored.

interface Waiting {
  readonly sentAtMs: number;
  readonly withinMs: number;
  readonly resolve: (answer: AppendAnswer) => void;
  readonly reject: (failure: StoreFailure) => void;
}

/** The end of the stream leaves the outcome of earlier appends unknown: any of them may be written. */
const outcomeUnknown = (end: StoreFailure): StoreFailure =>
  new StoreFailure('outcomeUnknown', end.message, { cause: end, ...(end.leader && { leader: end.leader }) });

export class BatchStream implements SharedConnection {
  readonly #connection: Connection;
  readonly #stream: ClientDuplexStream<BatchRequest, BatchResponse>;
  readonly #onStray: (answer: Error) => void;
  readonly #waiting = new Map<string, Waiting>();
  /** One timer for all appends. It fires when the earliest deadline of those that waited when it was set is over. */
  #timer: { readonly handle: NodeJS.Timeout; readonly atMs: number } | null = null;
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

  /** Sends an append. Rejects with a StoreFailure, which is `outcomeUnknown` once the request may have left. */
  append(append: CheckedAppend, withinMs: number): Promise<AppendAnswer> {
    if (this.#end !== null) return Promise.reject(new StoreFailure('notSent', this.#end.message, { cause: this.#end }));
    const id = randomUUID();
    const sentAtMs = performance.now();
    const answer = new Promise<AppendAnswer>((resolve, reject) => {
      this.#waiting.set(id, { sentAtMs, withinMs, resolve, reject });
    });
    this.#lookAt(sentAtMs + withinMs);
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
    return waiting;
  }

  #lookAt(atMs: number): void {
    if (this.#timer !== null && this.#timer.atMs <= atMs) return;
    clearTimeout(this.#timer?.handle);
    this.#timer = { handle: setTimeout(() => this.#look(), Math.max(0, atMs - performance.now())), atMs };
  }

  #look(): void {
    this.#timer = null;
    const nowMs = performance.now();
    let nextMs = Number.POSITIVE_INFINITY;
    for (const [id, { sentAtMs, withinMs }] of [...this.#waiting]) {
      const deadlineMs = sentAtMs + withinMs;
      if (deadlineMs > nowMs) nextMs = Math.min(nextMs, deadlineMs);
      else this.#reject(id, new StoreFailure('outcomeUnknown', `no answer within ${Math.round(withinMs)} ms`));
    }
    if (this.#end === null && nextMs < Number.POSITIVE_INFINITY) this.#lookAt(nextMs);
  }

  #fail(failure: StoreFailure): void {
    this.#end ??= failure;
    clearTimeout(this.#timer?.handle);
    this.#timer = null;
    for (const id of [...this.#waiting.keys()]) this.#reject(id, failure);
  }

  #closeWhenDone(): void {
    if (this.#retired && this.#waiting.size === 0) this.close();
  }
}
