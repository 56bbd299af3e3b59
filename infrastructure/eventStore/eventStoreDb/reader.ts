// Reads pages of streams and the newest event, always from the leader, on a separate connection and with a timeout.
import { setTimeout as pause } from 'node:timers/promises';
import type { ClientReadableStream } from '@grpc/grpc-js';
import { EventStoreUnavailable, type Position, type RecordedEvent } from '../../../application/ports/eventStore.ts';
import type { Connection, Connector } from './connection.ts';
import { ReplaceableConnection, type SharedConnection } from './connection.ts';
import { isUnknownPosition, StoreFailure, translated } from './failures.ts';
import type { ReadRequest, ReadResponse } from './messages.ts';
import { eventOf, headOf, newestRequest, recordOf, recordRequest, streamPageRequest } from './messages.ts';
import type { Timings } from './settings.ts';

interface ReaderOptions {
  readonly connector: Connector;
  readonly timings: Timings;
  readonly onError: (error: Error) => void;
}

/** A connection for calls that end by themselves. */
export class CallConnection implements SharedConnection {
  readonly connection: Connection;
  #running = 0;
  #retired = false;

  constructor(connection: Connection) {
    this.connection = connection;
  }

  async run<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    this.#running += 1;
    try {
      return await work(this.connection);
    } finally {
      this.#running -= 1;
      if (this.#retired && this.#running === 0) this.close();
    }
  }

  drain(): void {
    this.#retired = true;
    if (this.#running === 0) this.close();
  }

  close(): void {
    this.connection.close();
  }
}

/**
 * Returns the results of `of` for the answers of one read, without nulls. `silenceMs`: longest time between two answers. Rejects with the
 * call's error.
 */
const collect = <T>(
  stream: ClientReadableStream<ReadResponse>,
  silenceMs: number,
  of: (response: ReadResponse) => T | null,
): Promise<T[]> =>
  new Promise((resolve, reject) => {
    const found: T[] = [];
    const fail = (error: unknown): void => {
      clearTimeout(timer);
      stream.cancel();
      reject(error);
    };
    const timer = setTimeout(
      () => fail(new StoreFailure('notSent', `a read was silent for ${silenceMs} ms`)),
      silenceMs,
    );
    stream.on('data', (response: ReadResponse) => {
      timer.refresh();
      try {
        const one = of(response);
        if (one !== null) found.push(one);
      } catch (error) {
        fail(error);
      }
    });
    stream.on('error', fail); // stays after the end, because a cancel emits an error, too
    stream.on('end', () => {
      clearTimeout(timer);
      resolve(found);
    });
  });

export class Reader {
  readonly #options: ReaderOptions;
  readonly #connections: ReplaceableConnection<CallConnection>;
  #closed = false;

  constructor(options: ReaderOptions) {
    this.#options = options;
    const { connector, timings } = options;
    this.#connections = new ReplaceableConnection(
      async () => new CallConnection(await connector.connect(timings.connectMs)),
    );
  }

  /** Returns at most `count` events of the stream from revision `from`, without retries; none if it was deleted. Throws StoreFailure. */
  async page(
    stream: string,
    from: number,
    count: number,
    withinMs = this.#options.timings.readMs,
  ): Promise<RecordedEvent[]> {
    return await this.#once(streamPageRequest(stream, from, count), withinMs, eventOf);
  }

  /** Like `page`, with retries while the server is unavailable. Throws EventStoreUnavailable. */
  async pageSoon(stream: string, from: number, count: number): Promise<RecordedEvent[]> {
    return await this.#soon(() => streamPageRequest(stream, from, count), eventOf);
  }

  /** Returns whether the stream has a tombstone. Throws EventStoreUnavailable. */
  async isDeleted(stream: string): Promise<boolean> {
    const ofDeleted = [true];
    const found = await this.#soon<boolean>(
      () => streamPageRequest(stream, 0, 1),
      () => null,
      ofDeleted,
    );
    return found.length > 0;
  }

  /**
   * Returns the position of the newest event or tombstone of the streams with these prefixes, or null without one. Tombstones outlive
   * deleted events, so the position never decreases. Throws EventStoreUnavailable.
   */
  async newest(prefixes: readonly string[]): Promise<Position | null> {
    const [position] = await this.#soon(() => newestRequest(prefixes), headOf);
    return position ?? null;
  }

  /** Returns the id of the record at that position, or null if no readable record is there. Throws EventStoreUnavailable. */
  async idAt(position: Position): Promise<string | null> {
    const [record] = await this.#soon(() => recordRequest(position), recordOf);
    return record?.position === position ? record.id : null;
  }

  close(): void {
    this.#closed = true;
    this.#connections.close();
  }

  async #once<T>(
    request: ReadRequest,
    silenceMs: number,
    of: (response: ReadResponse) => T | null,
    ofDeleted: T[] = [],
  ): Promise<T[]> {
    const shared = await this.#connections.get();
    try {
      return await shared.run(({ stub, metadata }) =>
        collect(stub.read(request, metadata({ requiresLeader: true })), silenceMs, of),
      );
    } catch (error) {
      const failure = translated(error, false);
      if (failure.kind === 'streamDeleted') return ofDeleted;
      if (isUnknownPosition(failure)) return [];
      this.#connections.replace(shared);
      if (failure.leader !== null) this.#options.connector.redirect(failure.leader);
      throw failure;
    }
  }

  async #soon<T>(request: () => ReadRequest, of: (response: ReadResponse) => T | null, ofDeleted?: T[]): Promise<T[]> {
    const { timings, onError } = this.#options;
    const beganAtMs = performance.now();
    for (let attempt = 0; ; attempt++) {
      let failure: StoreFailure;
      try {
        return await this.#once(request(), timings.readMs, of, ofDeleted);
      } catch (error) {
        failure = translated(error, false);
      }
      const waitMs = timings.backoffMs(attempt);
      const isOver = performance.now() - beganAtMs + waitMs > timings.readGiveUpMs;
      if (this.#closed || isOver || failure.kind === 'refused' || failure.kind === 'invalid') {
        throw new EventStoreUnavailable(`EventStoreDB cannot be read: ${failure.message}`, { cause: failure });
      }
      onError(failure);
      await pause(waitMs);
    }
  }
}
