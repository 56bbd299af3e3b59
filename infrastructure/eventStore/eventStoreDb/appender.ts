// Carries one append through: sends it, and while its outcome is unknown looks into the stream and sends it again with the same ids
// and the same expected revision, which can't write twice.
import { setTimeout as pause } from 'node:timers/promises';
import {
  AppendOutcomeUnknown,
  type AppendResult,
  EventStoreUnavailable,
  InvalidAppend,
} from '../../../application/ports/eventStore.ts';
import type { CheckedAppend } from '../checkAppend.ts';
import type { AppendAnswer } from './answers.ts';
import { BatchStream } from './batchStream.ts';
import type { Connector } from './connection.ts';
import { StoreFailure, translated } from './failures.ts';
import type { Reader } from './reader.ts';
import { ReplaceableConnection } from './replaceableConnection.ts';
import type { Timings } from './timings.ts';
import { withTimeout } from './within.ts';

export interface AppenderOptions {
  readonly connector: Connector;
  readonly reader: Reader;
  readonly timings: Timings;
  readonly onError: (error: Error) => void;
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

  constructor(options: AppenderOptions) {
    this.#options = options;
    const { connector, timings, onError } = options;
    this.#streams = new ReplaceableConnection(
      async () => new BatchStream(await connector.connect(timings.connectMs), onError),
    );
  }

  /** Rejects as the port says, within 10 s. */
  async append(append: CheckedAppend): Promise<AppendResult> {
    const bytes = append.dataBytes + append.metadataBytes;
    if (this.#inFlightBytes + bytes > IN_FLIGHT_BYTES_MAX) {
      throw new EventStoreUnavailable(`more than ${IN_FLIGHT_BYTES_MAX} bytes wait to be appended`);
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

  /** Waits for what is in flight. */
  async close(): Promise<void> {
    await Promise.allSettled(this.#inFlight);
    this.#streams.close();
  }

  async #carryThrough(append: CheckedAppend): Promise<AppendResult> {
    const { timings, onError } = this.#options;
    const beganAtMs = performance.now();
    let outcomeUnknown = false;
    let wasRefused = false;
    const remainingMs = (): number =>
      (outcomeUnknown ? timings.outcomeUnknownMs : timings.notSentMs) - (performance.now() - beganAtMs);
    for (let attempt = 0; ; attempt++) {
      let failure: StoreFailure;
      try {
        return resultOf(await this.#try(append, remainingMs()));
      } catch (error) {
        failure = translated(error, true);
      }
      onError(failure);
      if (failure.kind === 'invalid') throw new InvalidAppend(failure.message, { cause: failure });
      outcomeUnknown ||= failure.kind === 'outcomeUnknown';
      if (outcomeUnknown) {
        const found = await this.#find(append);
        if (found !== null) return found;
      }
      const waitMs = timings.backoffMs(attempt);
      // A second stream that is refused, too: another try soon ends alike.
      const isFutile = failure.kind === 'refused' || (wasRefused && isOfRefusedStream(failure));
      if (isFutile || remainingMs() <= waitMs) throw givenUp(outcomeUnknown, failure);
      wasRefused = isOfRefusedStream(failure);
      await pause(waitMs);
    }
  }

  async #try(append: CheckedAppend, remainingMs: number): Promise<AppendAnswer> {
    const { connector, timings } = this.#options;
    const stream = await withTimeout(this.#streams.get(), remainingMs, 'no connection was ready');
    try {
      return await stream.append(append, Math.max(1, Math.min(timings.attemptMs, remainingMs)));
    } catch (error) {
      const failure = translated(error, true);
      if (failure.kind !== 'invalid') this.#streams.replace(stream);
      if (failure.leader !== null) connector.redirect(failure.leader);
      throw failure;
    }
  }

  /** The events where they belong: then the append was written. null: not there, or the stream can't be read. */
  async #find({ stream, expected, events }: CheckedAppend): Promise<AppendResult | null> {
    try {
      const look = this.#options.reader.page(stream, expected + 1, events.length, LOOK_MS);
      const page = await withTimeout(look, LOOK_MS, 'the stream could not be read');
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
    ? new AppendOutcomeUnknown(`EventStoreDB did not say whether the append was written: ${cause.message}`, { cause })
    : new EventStoreUnavailable(`the append was not written: ${cause.message}`, { cause });
