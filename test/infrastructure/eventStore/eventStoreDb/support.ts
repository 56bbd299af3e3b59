// One test server and one event store on it for each test, with short times, and every mended fault kept to be looked at.
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

/** Of a store that is to give up in time. */
export const QUICK: Partial<Timings> = {
  connectMs: 400,
  attemptMs: 150,
  notSentMs: 600,
  outcomeUnknownMs: 900,
  readMs: 200,
  readGiveUpMs: 600,
  confirmMs: 600,
};
/** Of a store that is to mend what happens: its tries are short, and it gives up nothing, however slow the machine is. */
const MENDING: Partial<Timings> = {
  ...QUICK,
  notSentMs: 20_000,
  outcomeUnknownMs: 25_000,
  readGiveUpMs: 20_000,
};
/** Where no fault is made: the product's own times. */
export const PATIENT: Partial<Timings> = {};
const OPENINGS_MAX = 10;

/** A store that gives up soon may do so before it is open: then it is opened again. */
export const opened = async (options: Parameters<typeof openEventStoreDb>[0]): Promise<EventStore> => {
  for (let n = 1; ; n++) {
    const store = await openEventStoreDb(options).catch((error: Error) => error);
    if (!(store instanceof Error)) return store;
    if (n === OPENINGS_MAX) throw store;
  }
};

/** Faults that a store has reported, and a way to wait for one. */
export class Reports {
  readonly messages: string[] = [];
  readonly #waiters = new Set<() => void>();

  readonly add = ({ message }: Error): void => {
    this.messages.push(message);
    for (const look of this.#waiters) look();
  };

  /** Resolves when a report holds the text, one already made included. */
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
  /** Subscriptions that ended without being asked to. */
  lost(): number;
  /** A further store on the same server. */
  open(timings?: Partial<Timings>): Promise<EventStore>;
  /** What was written to domain streams. */
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

/**
 * Runs the work and gives what nobody caught meanwhile: without a listener of its own, a rejection is an uncaught exception, too.
 * Mocha's listeners stand aside for that time.
 */
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

/** For the client package's own commands. */
export const clientEvent = () =>
  jsonEvent({ id: randomUUID(), type: 'SomethingHappened', data: { amount: 1250 }, metadata: {} });

export const rejection = async (work: Promise<unknown>): Promise<Error> =>
  work.then(
    (value) => new Error(`no error but ${JSON.stringify(value)}`),
    (error: unknown) => error as Error,
  );
