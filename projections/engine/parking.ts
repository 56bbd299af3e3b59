// Parks the stream of an event that a consumer can't process. The failing event is located within its batch; from it on, this consumer
// leaves the stream out, while all other streams continue (architecture §7).

import type { LogConsumer } from '../../application/ports/consumers.ts';
import { DataKeysUnavailable } from '../../application/ports/dataKeys.ts';
import {
  type Decoded,
  type EventCodec,
  type EventLog,
  readDecoded,
  UnreadableEvent,
} from '../../application/ports/eventCodec.ts';
import type { EventStore, Position, RecordedEvent } from '../../application/ports/eventStore.ts';
import { isOf, type LoggedEvent } from '../../application/ports/loggedEvent.ts';
import type { Sql, SqlTransaction } from '../../application/ports/sql.ts';
import { isDeletable } from '../../domain/aggregates.ts';
import type { StreamName } from '../../domain/kernel/ids.ts';
import { LOG_CONSUMER } from '../../domain/logConsumer/logConsumer.ts';
import { type ParkedStream, readParked } from './parkedStreams.ts';

/** The events that a consumer leaves out: streams from a revision on, and single events skipped by an operator. */
export class LeftOut {
  readonly #parkedFrom = new Map<string, number>();
  readonly #skipped = new Map<string, Set<number>>();

  park(stream: string, revision: number): void {
    this.#parkedFrom.set(stream, revision);
  }
  unpark(stream: string): void {
    this.#parkedFrom.delete(stream);
  }
  skip(stream: string, revision: number): void {
    this.#skipped.set(stream, (this.#skipped.get(stream) ?? new Set()).add(revision));
  }

  /** Parked streams, each with the revision from which it is left out. */
  get parked(): ReadonlyMap<string, number> {
    return this.#parkedFrom;
  }
  get isEmpty(): boolean {
    return this.#parkedFrom.size === 0 && this.#skipped.size === 0;
  }
  has({ stream, revision }: Pick<RecordedEvent, 'stream' | 'revision'>): boolean {
    const from = this.#parkedFrom.get(stream);
    return (from !== undefined && revision >= from) || this.isSkipped(stream, revision);
  }
  isSkipped(stream: string, revision: number): boolean {
    return this.#skipped.get(stream)?.has(revision) === true;
  }
}

/** `name` is that of the live consumer, whose skips also apply to its copies. `until`: leave out later skips. Default: none. */
export const readSkips = async (log: EventLog, name: string, into: LeftOut, until?: Position): Promise<void> => {
  for await (const page of readDecoded(log, LOG_CONSUMER.stream(name)))
    for (const logged of page) {
      if (logged instanceof UnreadableEvent) throw logged.reason;
      if (until !== undefined && logged.position > until) return;
      if (isOf(logged, LOG_CONSUMER)) into.skip(logged.event.data.stream, logged.event.data.revision);
    }
};

/** `parkedAs` is the consumer whose parked streams apply. Default: the consumer itself. */
export const readLeftOut = async (db: Sql, log: EventLog, name: string, parkedAs = name): Promise<LeftOut> => {
  const leftOut = new LeftOut();
  await readSkips(log, name, leftOut);
  for (const { stream, revision } of await readParked(db, [parkedAs])) leftOut.park(stream, revision);
  return leftOut;
};

/** An event that can't be processed, and the reason. */
export interface Poison {
  readonly recorded: Pick<RecordedEvent, 'stream' | 'revision' | 'id' | 'type'>;
  readonly account: string | null;
  readonly mode: string | null;
  readonly error: unknown;
}
export interface Readable {
  readonly events: readonly LoggedEvent[];
  /** At most one per stream; later events of its stream are not among `events`. */
  readonly poisoned: readonly Poison[];
}

/** Returns the category of each event. */
export const categoriesOf = (recorded: readonly RecordedEvent[]): readonly string[] =>
  recorded.map(({ stream }) => stream.slice(0, stream.indexOf('-')));

/** Decodes lists of events of one batch: each event once, however many of the lists contain it. */
export const decodeLists = async (
  codec: EventCodec,
  lists: readonly (readonly RecordedEvent[])[],
): Promise<readonly (readonly Decoded[])[]> => {
  if (lists.length === 1) return [await codec.decode(lists[0] as readonly RecordedEvent[])];
  const all = [...new Set(lists.flat())];
  const decoded = await codec.decode(all);
  const found = new Map(all.map((one, n) => [one, decoded[n] as Decoded]));
  return lists.map((list) => list.map((one) => found.get(one) as Decoded));
};

/** Returns the decoded events of a batch without those that are left out. */
export const readableOf = (decoded: readonly Decoded[], leftOut: LeftOut): Readable => {
  const takesAll = leftOut.isEmpty;
  const events: LoggedEvent[] = [];
  const poisoned = new Map<string, Poison>();
  for (const one of decoded) {
    const recorded = one instanceof UnreadableEvent ? one.recorded : one;
    if (!takesAll && leftOut.has(recorded)) continue;
    if (poisoned.size > 0 && poisoned.has(recorded.stream)) continue;
    if (one instanceof UnreadableEvent)
      poisoned.set(recorded.stream, { recorded: one.recorded, ...tenantOf(one.recorded), error: one.reason });
    else events.push(takesAll ? one : afterSkipped(one, leftOut));
  }
  return { events, poisoned: [...poisoned.values()] };
};

/** Sets the previous revision of an event that follows skipped ones. */
const afterSkipped = (logged: LoggedEvent, leftOut: LeftOut): LoggedEvent => {
  let previousRevision = logged.revision - 1;
  while (leftOut.isSkipped(logged.stream, previousRevision)) previousRevision--;
  return previousRevision === logged.revision - 1 ? logged : { ...logged, previousRevision };
};

const tenantOf = ({ metadata }: RecordedEvent): Pick<Poison, 'account' | 'mode'> => {
  try {
    const { account, mode } = JSON.parse(metadata) as { account?: unknown; mode?: unknown };
    return { account: typeof account === 'string' ? account : null, mode: typeof mode === 'string' ? mode : null };
  } catch {
    return { account: null, mode: null };
  }
};

/** Returns the row to park. If the event has no account and mode, those of the stream's first event are used. */
export const parkedStream = async (
  consumer: string,
  { recorded, account, mode, error }: Poison,
  store: EventStore,
): Promise<ParkedStream> => {
  let tenant = { account, mode };
  if (account === null || mode === null)
    for await (const first of store.readStream(recorded.stream)) {
      tenant = tenantOf(first);
      break;
    }
  const { stream, revision, id: eventId, type: eventType } = recorded;
  return { consumer, stream, ...tenant, revision, eventId, eventType, error: faultText(error) };
};

/**
 * Leaves out deliveries whose streams were deleted after they were read (ADR 0008). A slow consumer may read remnants of them, which must
 * not be parked.
 */
export const ofLivingStreams = async (poisoned: readonly Poison[], store: EventStore): Promise<readonly Poison[]> => {
  const living = await Promise.all(poisoned.map(({ recorded }) => isLiving(recorded.stream, store)));
  return poisoned.filter((_, n) => living[n]);
};

const isLiving = async (stream: StreamName, store: EventStore): Promise<boolean> => {
  if (!isDeletable(stream)) return true;
  for await (const _ of store.readStream(stream)) return true;
  return false;
};

type Applying = Pick<LogConsumer, 'reset' | 'apply'>;

/** This many streams, spread over the batch, are tried individually. If all of them fail, no event is at fault. */
const SAMPLES = 8;
const SAMPLES_MIN = 3;
/** Maximum of failing streams per batch. If more fail, the consumer is at fault. */
const POISONED_MAX = 200;

/**
 * Applies all applicable events in log order, and returns those of a few streams that can't be applied. Throws ConsumerFailed if no event
 * is at fault, and any transient fault; the transaction must then be rolled back.
 */
export const applyCarefully = async (
  consumer: Applying,
  events: readonly LoggedEvent[],
  tx: SqlTransaction,
): Promise<readonly Poison[]> => {
  if (events.length === 0) return [];
  const error = await attempt(consumer, events, tx, KEEP);
  if (error === null) return [];
  const poisoned = await new Search(consumer, events, tx).run();
  const from = new Map(poisoned.map(({ recorded }) => [recorded.stream, recorded.revision]));
  const rest = events.filter(({ stream, revision }) => revision < (from.get(stream) ?? Number.POSITIVE_INFINITY));
  const failure = rest.length === 0 ? null : await attempt(consumer, rest, tx, KEEP);
  if (failure !== null) throw new ConsumerFailed(faultText(failure), { cause: failure });
  return poisoned;
};

const KEEP = 'RELEASE SAVEPOINT attempt';
const UNDO = 'ROLLBACK TO SAVEPOINT attempt; RELEASE SAVEPOINT attempt';

/** Applies the events within a savepoint, which is kept or undone. Returns null on success, otherwise the failure. */
const attempt = async (
  consumer: Applying,
  events: readonly LoggedEvent[],
  tx: SqlTransaction,
  end: typeof KEEP | typeof UNDO,
): Promise<unknown> => {
  await tx.query('SAVEPOINT attempt');
  let failure: unknown = null;
  let isKept = false;
  const attempted: SqlTransaction = {
    query: (statement, values) => tx.query(statement, values),
    onEnd: (listener) => tx.onEnd((isCommitted) => listener(isCommitted && isKept)),
  };
  try {
    await consumer.apply(events, attempted);
  } catch (error) {
    failure = error ?? new Error('no reason given');
  }
  await tx.query(failure === null ? end : UNDO); // rejects if the connection is lost
  isKept = failure === null && end === KEEP;
  if (failure !== null || end === UNDO) await consumer.reset(tx);
  if (failure !== null && isTransient(failure)) throw failure;
  if (failure !== null && !mayBeOfEvent(failure)) throw new ConsumerFailed(faultText(failure), { cause: failure });
  return failure;
};

class Search {
  readonly #consumer: Applying;
  readonly #events: readonly LoggedEvent[];
  readonly #tx: SqlTransaction;
  readonly #found: Poison[] = [];

  constructor(consumer: Applying, events: readonly LoggedEvent[], tx: SqlTransaction) {
    this.#consumer = consumer;
    this.#events = events;
    this.#tx = tx;
  }

  async run(): Promise<readonly Poison[]> {
    const streams = [...new Set(this.#events.map(({ stream }) => stream))];
    if (streams.length >= SAMPLES_MIN) await this.#sample(streams);
    await this.#among(streams);
    if (this.#found.length === 0) throw new ConsumerFailed('events fail together, but each stream succeeds alone');
    return this.#found;
  }

  async #sample(streams: readonly StreamName[]): Promise<void> {
    const count = Math.min(SAMPLES, streams.length);
    for (let n = 0; n < count; n++) {
      const one = streams[Math.floor((n * streams.length) / count)] as StreamName;
      const failure = await this.#try(this.#eventsOf([one]));
      if (failure === null) return;
      if (n === count - 1) throw new ConsumerFailed(faultText(failure), { cause: failure });
    }
  }

  async #among(streams: readonly StreamName[]): Promise<void> {
    const events = this.#eventsOf(streams);
    const failure = await this.#try(events);
    if (failure === null) return;
    if (streams.length === 1) return this.#within(events, failure);
    const half = Math.ceil(streams.length / 2);
    await this.#among(streams.slice(0, half));
    await this.#among(streams.slice(half));
  }

  /** Finds the first event of a stream whose predecessors can all be applied without it. */
  async #within(events: readonly LoggedEvent[], last: unknown): Promise<void> {
    let error = last;
    let [good, bad] = [0, events.length];
    while (bad - good > 1) {
      const middle = Math.floor((good + bad) / 2);
      const failure = await this.#try(events.slice(0, middle));
      if (failure === null) good = middle;
      else [bad, error] = [middle, failure];
    }
    const { stream, revision, id, account, mode, event } = events[bad - 1] as LoggedEvent;
    this.#found.push({ recorded: { stream, revision, id, type: event.type }, account, mode, error });
    if (this.#found.length > POISONED_MAX) throw new ConsumerFailed(faultText(error), { cause: error });
  }

  #eventsOf(streams: readonly StreamName[]): readonly LoggedEvent[] {
    const wanted = new Set<string>(streams);
    return this.#events.filter(({ stream }) => wanted.has(stream));
  }

  #try(events: readonly LoggedEvent[]): Promise<unknown> {
    return attempt(this.#consumer, events, this.#tx, UNDO);
  }
}

// --- Kinds of faults: transient, of an event, or of the consumer ---

/** No event is at fault: the consumer can't process anything, or nothing of this batch. */
export class ConsumerFailed extends Error {
  override name = 'ConsumerFailed';
}

const sqlStateOf = (error: unknown): string | null => {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) ? code : null;
};

/** Returns whether a retry may succeed: connection, conflict, disk, memory, lock, shutdown and I/O errors, and missing data keys. */
export const isTransient = (error: unknown): boolean =>
  error instanceof DataKeysUnavailable || /^(08|40|53|57|58|55P03)/.test(sqlStateOf(error) ?? '');

/** Returns whether an event may be at fault: data and constraint errors, and exceptions of the code. Excludes schema and server errors. */
const mayBeOfEvent = (error: unknown): boolean => /^(2[123]|P0)|^$/.test(sqlStateOf(error) ?? '');

const ERROR_LENGTH_MAX = 300;
/** Only this much of a message is searched for personal data, because it may quote a merchant's data. */
const MESSAGE_LENGTH_MAX = 1_000;

/** Drops the word at the cut, because half an address would not be recognized as one. */
const cut = (message: string): string => {
  if (message.length <= MESSAGE_LENGTH_MAX) return message;
  const head = message.slice(0, MESSAGE_LENGTH_MAX);
  return head.slice(0, Math.max(head.lastIndexOf(' '), 0));
};

/** Returns a fault text without personal data for rows, logs and operators. Omits values that the database or a parser quotes. */
export const faultText = (error: unknown): string => {
  const { name, message, constraint, table } = error as Error & { constraint?: string; table?: string };
  const code = sqlStateOf(error);
  if (code !== null) return ['database error', code, table, constraint].filter((part) => part !== undefined).join(' ');
  if (error instanceof SyntaxError) return name;
  const shown = cut(message)
    .replaceAll(/[^\s"'<>]+@[^\s"'<>]+/g, '…')
    .replaceAll(/\d[\d./-]{9,}\d/g, '…');
  return `${name}: ${shown}`.slice(0, ERROR_LENGTH_MAX);
};
