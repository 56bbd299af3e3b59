// The published client, for tests of the test server.
import { randomUUID } from 'node:crypto';
import {
  type AllStreamSubscription,
  EventStoreDBClient,
  jsonEvent,
  type ResolvedEvent,
  type StreamSubscription,
} from '@eventstore/db-client';
import { status } from '@grpc/grpc-js';
import { Watch } from './faults.ts';
import type { EventStoreDbServer } from './server.ts';

export interface Failure {
  readonly name: string;
  readonly type: string | undefined;
  readonly code: number | undefined;
}

/** The clients of one test, disposed at its end. */
export class RealClients {
  readonly #open: EventStoreDBClient[] = [];

  /** `more` has additional options of the connection string, each starting with `&`. */
  open(server: EventStoreDbServer, more = ''): EventStoreDBClient {
    return this.openAt(server.connectionString + more);
  }

  openAt(connectionString: string): EventStoreDBClient {
    const client = EventStoreDBClient.connectionString(connectionString);
    this.#open.push(client);
    return client;
  }

  async dispose(): Promise<void> {
    await Promise.all(this.#open.splice(0).map((client) => client.dispose()));
  }
}

export const event = (data: object = { amount: 1250 }, id: string = randomUUID()) =>
  jsonEvent({ id, type: 'SomethingHappened', data: { ...data }, metadata: { actor: 'test' } });

export const newStream = (category = 'payment'): string => `${category}-${randomUUID().replaceAll('-', '')}`;

/** Returns the error of the work. Fails if the work succeeds. */
export const failureOf = async (work: PromiseLike<unknown>): Promise<Failure & Record<string, unknown>> => {
  let value: unknown;
  try {
    value = await work;
  } catch (error) {
    const { type, code } = error as Failure;
    return Object.assign(error as object, { name: (error as object).constructor.name, type, code }) as Failure &
      Record<string, unknown>;
  }
  throw new Error(`no failure but ${typeof value}`);
};

/** Returns all events of a bounded read. */
export const all = async <T>(items: AsyncIterable<T>): Promise<T[]> => {
  const seen: T[] = [];
  for await (const item of items) seen.push(item);
  return seen;
};

/**
 * Repeats the work until the server is available. A client that has not yet noticed a lost connection fails once more. So does a new client
 * of the same process, because grpc-js shares connections between clients.
 */
export const untilAnswered = async <T>(work: () => Promise<T>): Promise<T> => {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if ((error as Failure).code !== status.UNAVAILABLE) throw error;
    }
  }
};

/** Records the output of a subscription. An event may arrive before its append is answered. */
export class Seen {
  /** Ids of events and the words `confirmation` and `caughtUp`, in order of arrival. */
  readonly signals: string[] = [];
  readonly types: string[] = [];
  readonly #watch = new Watch();

  constructor(subscription: AllStreamSubscription | StreamSubscription) {
    for (const word of ['confirmation', 'caughtUp'] as const) subscription.on(word, () => this.#add(word));
    subscription.on('data', ({ event: recorded }: ResolvedEvent) => {
      this.types.push(recorded!.type);
      this.#add(recorded!.id);
    });
  }

  get ids(): readonly string[] {
    return this.signals.filter((signal) => signal !== 'confirmation' && signal !== 'caughtUp');
  }

  until(signal: string): Promise<void> {
    return this.#watch.until(() => this.signals.includes(signal));
  }

  #add(signal: string): void {
    this.signals.push(signal);
    this.#watch.happened();
  }
}

/**
 * Resolves with the next uncaught error, which would end a program. The client's data handler throws into a promise of grpc-js, so the
 * error arrives as an unhandled rejection. Mocha's own listeners are removed until then.
 */
export const nextUncaught = (): Promise<Error> => {
  const others = process.listeners('unhandledRejection');
  process.removeAllListeners('unhandledRejection');
  return new Promise((resolve) =>
    process.once('unhandledRejection', (error) => {
      for (const listener of others) process.on('unhandledRejection', listener);
      resolve(error as Error);
    }),
  );
};
