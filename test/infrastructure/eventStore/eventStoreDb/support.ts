// A test server with one event store per test, short times, and a list of all faults that were recovered.
import { randomUUID } from 'node:crypto';
import { jsonEvent } from '@eventstore/db-client';
import type { EventStore } from '../../../../application/ports/eventStore.ts';
import { IDENTITY_STREAM } from '../../../../infrastructure/eventStore/eventStoreDb/ownStreams.ts';
import type { Timings } from '../../../../infrastructure/eventStore/eventStoreDb/settings.ts';
import { openEventStoreDb } from '../../../../infrastructure/eventStore/eventStoreDb/store.ts';
import {
  type EventStoreDbOptions,
  EventStoreDbServer,
  type StoredEvent,
} from '../../../support/eventStoreDb/server.ts';

/** Times of a store that gives up early. */
export const QUICK: Partial<Timings> = {
  connectMs: 400,
  attemptMs: 150,
  notSentMs: 600,
  outcomeUnknownMs: 900,
  readMs: 200,
  readGiveUpMs: 600,
  confirmMs: 600,
};
/** Times of a store that recovers from faults: attempts are short, but it never gives up, however slow the machine is. */
const MENDING: Partial<Timings> = {
  ...QUICK,
  notSentMs: 20_000,
  outcomeUnknownMs: 25_000,
  readGiveUpMs: 20_000,
};
/** The product's own times, for tests without faults. */
export const PATIENT: Partial<Timings> = {};
const OPENINGS_MAX = 10;

/** A store that gives up early may do so while it opens, so this retries. */
export const opened = async (options: Parameters<typeof openEventStoreDb>[0]): Promise<EventStore> => {
  for (let n = 1; ; n++) {
    const store = await openEventStoreDb(options).catch((error: Error) => error);
    if (!(store instanceof Error)) return store;
    if (n === OPENINGS_MAX) throw store;
  }
};

/** Collects the faults that a store reports, and can wait for one. */
export class Reports {
  readonly messages: string[] = [];
  readonly #waiters = new Set<() => void>();

  readonly add = ({ message }: Error): void => {
    this.messages.push(message);
    for (const look of this.#waiters) look();
  };

  /** Resolves when a report contains the text, including earlier reports. */
  until(text: string): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (!this.messages.some((message) => message.includes(text))) return;
        this.#waiters.delete(look);
        resolve();
      };
      this.#waiters.add(look);
      look();
    });
  }
}

export interface World {
  readonly server: EventStoreDbServer;
  readonly store: EventStore;
  readonly reports: Reports;
  /** Returns the number of subscriptions that ended unexpectedly. */
  lost(): number;
  /** Opens another store on the same server. */
  open(timings?: Partial<Timings>): Promise<EventStore>;
  /** Returns the events of domain streams. */
  written(): readonly StoredEvent[];
  end(): Promise<void>;
}

export const startWorld = async (options: EventStoreDbOptions = {}, timings = MENDING): Promise<World> => {
  const server = await EventStoreDbServer.start(options);
  const reports = new Reports();
  const stores: EventStore[] = [];
  let lost = 0;
  const onLost = (): void => {
    lost++;
  };
  const open = async (its = timings): Promise<EventStore> => {
    const options = { connectionString: server.connectionString, onError: reports.add, onLost, timings: its };
    const store = await opened(options);
    stores.push(store);
    return store;
  };
  const store = await open();
  return {
    server,
    store,
    reports,
    lost: () => lost,
    open,
    written: () => server.events.filter(({ stream }) => stream !== IDENTITY_STREAM),
    async end() {
      await Promise.all(stores.map((each) => each.close()));
      await server.stop();
    },
  };
};

/** Runs the work and returns all uncaught exceptions and rejections meanwhile. Mocha's own listeners are removed for that time. */
export const uncaughtDuring = async (work: (first: Promise<unknown>) => Promise<void>): Promise<unknown[]> => {
  const exceptions = process.listeners('uncaughtException');
  const rejections = process.listeners('unhandledRejection');
  process.removeAllListeners('uncaughtException').removeAllListeners('unhandledRejection');
  const caught: unknown[] = [];
  const first = new Promise<unknown>((resolve) => {
    process.on('uncaughtException', (error) => {
      caught.push(error);
      resolve(error);
    });
  });
  try {
    await work(first);
  } finally {
    process.removeAllListeners('uncaughtException');
    for (const listener of exceptions) process.on('uncaughtException', listener);
    for (const listener of rejections) process.on('unhandledRejection', listener);
  }
  return caught;
};

/** Returns an event for the client package's own commands. */
export const clientEvent = () =>
  jsonEvent({ id: randomUUID(), type: 'SomethingHappened', data: { amount: 1250 }, metadata: {} });

export const rejection = async (work: Promise<unknown>): Promise<Error> =>
  work.then(
    (value) => new Error(`no error but ${JSON.stringify(value)}`),
    (error: unknown) => error as Error,
  );
