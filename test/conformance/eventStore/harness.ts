// What the suite requires of an adapter, and helpers for its tests.
import { randomUUID } from 'node:crypto';
import type { DeletesDeliveries } from '../../../application/ports/deliveryRetention.ts';
import type {
  AppendResult,
  EventStore,
  NewEvent,
  Position,
  RecordedEvent,
  SubscribeOptions,
  SubscriptionSignal,
} from '../../../application/ports/eventStore.ts';
import { AppendOutcomeUnknown, EventStoreUnavailable } from '../../../application/ports/eventStore.ts';
import type { Sql } from '../../../application/ports/sql.ts';
import type { StreamName } from '../../../domain/kernel/ids.ts';

/** An append begun by another process. Its outcome is decided when it is released. */
export interface HeldAppend {
  release(): Promise<void>;
}

export interface LogUnderTest {
  /** Opens another instance on the same log, as another process would. */
  connect(): Promise<EventStore & DeletesDeliveries>;
  /** Runs a transaction of the database that deletes deliveries. If the log is not in a database, it accepts no statements. */
  transaction<T>(work: (tx: Sql) => Promise<T>): Promise<T>;
  /** Cuts every connection of every instance abruptly. */
  cutConnections(): Promise<void>;
  /** Begins an append of one event to an empty stream and keeps it from ending. Engines without such a state begin it at the release. */
  holdAppend(stream: StreamName, event: NewEvent): Promise<HeldAppend>;
  /** Restores a backup whose newest event is at the position, and cuts every connection of every instance. */
  restore(head: Position): Promise<void>;
  /** Closes all instances and removes the log. */
  dispose(): Promise<void>;
}

export interface EventStoreHarness {
  /** Creates a log that was never written to. */
  createLog(): Promise<LogUnderTest>;
}

/**
 * Registers the hooks of a suite. Instances opened by a test are closed after it, because open ones follow all later writes. `enter` is
 * called before the first test, with the log and a shared instance.
 */
export const useLog = (
  open: () => Promise<LogUnderTest>,
  enter: (log: LogUnderTest, store: EventStore & DeletesDeliveries) => void,
): void => {
  const opened: EventStore[] = [];
  let log: LogUnderTest;
  before(async () => {
    log = await open();
    const connect: LogUnderTest['connect'] = async () => {
      const store = await log.connect();
      opened.push(store);
      return store;
    };
    enter({ ...log, connect }, await log.connect());
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((store) => store.close()));
  });
  after(() => log.dispose());
};

export const newEvent = (content: Partial<NewEvent> = {}): NewEvent => ({
  id: randomUUID(),
  type: 'SomethingHappened',
  data: '{"amount":1250}',
  metadata: '{"actor":"test"}',
  ...content,
});

export const newEvents = (count: number, content: Partial<NewEvent> = {}): NewEvent[] =>
  Array.from({ length: count }, () => newEvent(content));

let streams = 0;
/** Returns the name of a stream that no other test uses. */
export const newStream = (category = 'payment'): StreamName => {
  streams += 1;
  return `${category}-${streams}${randomUUID().replaceAll('-', '')}` as StreamName;
};

export const collect = async <T>(items: AsyncIterable<T>): Promise<T[]> => {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
};

export const idsOf = (events: readonly { readonly id: string }[]): string[] => events.map(({ id }) => id);

/** Returns `ok` and the revision only, because the position of a repeated append may be null. */
export const brief = (result: AppendResult): object =>
  result.ok ? { ok: true, revision: result.revision } : { ok: false, actual: result.actual };

/** Returns the error’s name, or the value that was returned instead of an error. */
export const failureOf = async (work: () => Promise<unknown>): Promise<string> => {
  try {
    return `no error but ${JSON.stringify(await work())}`;
  } catch (error) {
    return (error as Error).name;
  }
};

/**
 * Repeats an append with the same ids and expected revision until there is an answer, as a command handler does. Ends if the store is
 * closed.
 */
export const appendUntilAnswered = async (
  store: EventStore,
  stream: StreamName,
  expected: number,
  events: readonly NewEvent[],
): Promise<AppendResult> => {
  for (;;) {
    try {
      return await store.append(stream, expected, events);
    } catch (error) {
      if (!(error instanceof AppendOutcomeUnknown || error instanceof EventStoreUnavailable)) throw error;
      if (error.message === 'the event store is closed') throw error;
    }
  }
};

/** A subscription that is consumed in the background, with methods to wait for events. */
export class TestSubscription {
  readonly signals: SubscriptionSignal[] = [];
  readonly events: RecordedEvent[] = [];
  readonly ended: Promise<void>;
  readonly #abort = new AbortController();
  #waiting: { readonly condition: (subscription: TestSubscription) => boolean; readonly resolve: () => void }[] = [];

  constructor(store: EventStore, options: Partial<Omit<SubscribeOptions, 'signal'>> = {}) {
    this.ended = this.#consume(
      store.subscribe({ after: null, categories: null, ...options, signal: this.#abort.signal }),
    );
    this.ended.catch(() => undefined);
  }

  get caughtUp(): (Position | null)[] {
    return this.signals.filter((signal) => signal.kind === 'caughtUp').map(({ position }) => position);
  }

  get checkpoints(): Position[] {
    return this.signals.filter((signal) => signal.kind === 'checkpoint').map(({ position }) => position);
  }

  /** Resolves as soon as the condition holds. Rejects if the subscription ends before. */
  async until(condition: (subscription: TestSubscription) => boolean): Promise<void> {
    if (condition(this)) return;
    const met = new Promise<void>((resolve) => this.#waiting.push({ condition, resolve }));
    const over = this.ended.then(() => {
      throw new Error('the subscription ended before the condition held');
    });
    await Promise.race([met, over]);
  }

  async untilIds(ids: readonly string[]): Promise<void> {
    const last = ids.at(-1);
    await this.until(({ events }) => events.some(({ id }) => id === last));
  }

  async stop(): Promise<void> {
    this.#abort.abort();
    await this.ended;
  }

  async #consume(signals: AsyncIterable<SubscriptionSignal>): Promise<void> {
    for await (const signal of signals) {
      this.signals.push(signal);
      if (signal.kind === 'events') this.events.push(...signal.events);
      const met = this.#waiting.filter(({ condition }) => condition(this));
      this.#waiting = this.#waiting.filter((waiting) => !met.includes(waiting));
      for (const { resolve } of met) resolve();
    }
  }
}
