// Many appends in flight on one stream of one connection. Each stream has its own table of who waits for what: the end of another stream
// touches nobody here, and an answer that nobody waits for (late, or given twice) is counted and is no accident.
import { randomUUID } from 'node:crypto';
import type { ClientDuplexStream } from '@grpc/grpc-js';
import type { CheckedAppend } from '../checkAppend.ts';
import { type AppendAnswer, answerOf } from './answers.ts';
import type { Connection } from './connection.ts';
import { StoreFailure, translated } from './failures.ts';
import { type BatchRequest, type BatchResponse, uuidText } from './protocol.ts';
import type { SharedConnection } from './replaceableConnection.ts';
import { appendRequest } from './requests.ts';

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
      this.#onStray(new Error(`EventStoreDB answered append ${id}, which nobody waits for any more`));
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
