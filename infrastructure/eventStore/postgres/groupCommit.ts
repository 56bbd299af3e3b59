// Group commit. The appends of all requests of this process wait in one queue and go to the database together: one call of
// event_store.append (migration 0001_event_log), one transaction, one commit for up to 256 of them.
//
// From top to bottom: an append on its way to its one answer; the queue, which decides what goes together and when somebody has waited
// long enough; the flusher, which sends a flush, repeats it while its outcome is unknown, and answers every member.
import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import {
  AppendOutcomeUnknown,
  type AppendResult,
  EventStoreUnavailable,
  InvalidAppend,
  LogNotInUse,
  type RecordedEvent,
} from '../../../application/ports/eventStore.ts';
import { type Repeating, repeating } from '../../../application/ports/repeating.ts';
import type { StreamName } from '../../../domain/kernel/event.ts';
import { int8Array, textArray, uuidArray } from '../../postgres/binaryArrays.ts';
import { cutSession, isAsked, processIdOf, type SessionWatch } from '../../postgres/sessionWatch.ts';
import { backoffMs } from '../../waiting.ts';
import type { CheckedAppend } from '../checkAppend.ts';
import { positionOf, positionOrNull } from './reader.ts';
import {
  closeSession,
  isBadValue,
  isNotInUse,
  isTransient,
  openSession,
  wasRolledBack,
  withQueryTimeout,
} from './session.ts';

/** An append that was not sent, or is known to be rolled back, is refused after this time: soon, instead of being queued for long. */
const NOT_SENT_MS_MAX = 5_000;
/** An append that may be written is given up after this time: the port promises an answer within 10 s. */
const OUTCOME_UNKNOWN_MS_MAX = 9_000;
/** What an event weighs in a flush beside its JSON: id, type, offsets, lengths. */
const EVENT_OVERHEAD_BYTES = 100;

/** An append from the call until its one answer. */
export class PendingAppend {
  readonly append: CheckedAppend;
  readonly bytes: number;
  readonly result: Promise<AppendResult>;
  /** An attempt was sent whose end is unknown. It stays true until an answer comes. */
  mayBeWritten = false;
  /** The last failure on the way, for the error's `cause`. */
  cause: unknown = undefined;
  readonly #askedAtMs = performance.now();
  #settled = false;
  #resolve!: (result: AppendResult) => void;
  #reject!: (error: Error) => void;

  constructor(append: CheckedAppend) {
    this.append = append;
    this.bytes = append.dataBytes + append.metadataBytes + append.events.length * EVENT_OVERHEAD_BYTES;
    this.result = new Promise<AppendResult>((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  get settled(): boolean {
    return this.#settled;
  }

  succeed(result: AppendResult): void {
    this.#settled = true;
    this.#resolve(result);
  }

  refuse(error: InvalidAppend | EventStoreUnavailable): void {
    this.#settled = true;
    this.#reject(error);
  }

  /** Rejects with the error that says what is known of the outcome. */
  giveUp(): void {
    this.#settled = true;
    const options = { cause: this.cause };
    this.#reject(
      this.mayBeWritten
        ? new AppendOutcomeUnknown('the database did not report whether the append was written', options)
        : new EventStoreUnavailable('the append was not written: the database is unavailable or too busy', options),
    );
  }

  isOverdue(): boolean {
    const waitedMs = performance.now() - this.#askedAtMs;
    return waitedMs > (this.mayBeWritten ? OUTCOME_UNKNOWN_MS_MAX : NOT_SENT_MS_MAX);
  }
}

const FLUSH_APPENDS_MAX = 256;
const FLUSH_BYTES_MAX = 4_000_000;
/** How far one flush looks past appends that must wait because their stream is in it already. */
const FLUSH_LOOKAHEAD = 4 * FLUSH_APPENDS_MAX;
/** Beyond this the process would run out of memory before the database catches up. */
const QUEUE_BYTES_MAX = 64_000_000;
const SWEEP_EVERY_MS = 250;

/** Settles every member that is not settled yet, or leaves it to its deadline. Never rejects. */
type Flush = (members: readonly PendingAppend[]) => Promise<void>;

export class AppendQueue {
  readonly #flush: Flush;
  #waiting: PendingAppend[] = [];
  #waitingBytes = 0;
  #inFlight: readonly PendingAppend[] = [];
  #scheduled = false;
  #running = false;
  #whenIdle: (() => void)[] = [];
  #sweeper: Repeating | null = null;

  constructor(flush: Flush) {
    this.#flush = flush;
  }

  /** Rejects as the port says, within 10 s. */
  add(append: CheckedAppend): Promise<AppendResult> {
    const pending = new PendingAppend(append);
    if (this.#waitingBytes + pending.bytes > QUEUE_BYTES_MAX) {
      pending.refuse(
        new EventStoreUnavailable(`more than ${QUEUE_BYTES_MAX} bytes are already waiting to be appended`),
      );
      return pending.result;
    }
    this.#waiting.push(pending);
    this.#waitingBytes += pending.bytes;
    this.#sweeper ??= repeating(SWEEP_EVERY_MS, () => {
      this.#sweep();
      if (this.#waiting.length > 0 || this.#running) return;
      void this.#sweeper?.stop();
      this.#sweeper = null;
    });
    this.#schedule();
    return pending.result;
  }

  /** Answers all that waits or is in flight: it was decided on a log that is not there any more. */
  giveUpAll(cause: Error): void {
    for (const pending of [...this.#inFlight, ...this.#waiting]) {
      if (pending.settled) continue;
      pending.cause = cause;
      pending.giveUp();
    }
    this.#sweep();
  }

  /** Resolves when nothing waits and nothing is in flight. */
  async idle(): Promise<void> {
    if (this.#waiting.length === 0 && !this.#running) return;
    await new Promise<void>((resolve) => this.#whenIdle.push(resolve));
  }

  /**
   * The flush begins when this turn of the event loop is over: no delay, but the appends of all requests that were read from
   * their sockets in the same turn, or woken by the same flush, go together.
   */
  #schedule(): void {
    if (this.#scheduled || this.#running) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      void this.#run();
    });
  }

  async #run(): Promise<void> {
    this.#inFlight = this.#take();
    if (this.#inFlight.length > 0) {
      this.#running = true;
      await this.#flush(this.#inFlight);
      this.#running = false;
      this.#inFlight = [];
    }
    if (this.#waiting.length > 0) this.#schedule();
    else for (const resolve of this.#whenIdle.splice(0)) resolve();
  }

  /** The next flush, in order of asking; at most one append a stream, because the second one's revision depends on the first. */
  #take(): PendingAppend[] {
    const taken: PendingAppend[] = [];
    const left: PendingAppend[] = [];
    const streams = new Set<string>();
    let bytes = 0;
    let seen = 0;
    while (seen < this.#waiting.length && seen < FLUSH_LOOKAHEAD && taken.length < FLUSH_APPENDS_MAX) {
      const next = this.#waiting[seen]!;
      if (!next.settled && !streams.has(next.append.stream)) {
        if (taken.length > 0 && bytes + next.bytes > FLUSH_BYTES_MAX) break;
        streams.add(next.append.stream);
        taken.push(next);
        bytes += next.bytes;
      } else if (!next.settled) {
        left.push(next);
      }
      seen += 1;
    }
    this.#waiting = left.length === 0 ? this.#waiting.slice(seen) : left.concat(this.#waiting.slice(seen));
    this.#waitingBytes -= bytes;
    return taken;
  }

  /** Answers whoever has waited long enough. A member in flight that is answered here is left out of the flush's next attempt. */
  #sweep(): void {
    for (const pending of this.#inFlight) if (!pending.settled && pending.isOverdue()) pending.giveUp();
    for (const pending of this.#waiting) if (pending.isOverdue()) pending.giveUp();
    this.#waiting = this.#waiting.filter((pending) => !pending.settled);
    this.#waitingBytes = this.#waiting.reduce((bytes, pending) => bytes + pending.bytes, 0);
  }
}

interface FlusherOptions {
  readonly connectionString: string;
  readonly watch: SessionWatch;
  /** Events of an acknowledged flush, at the places `first`, `first + 1`, … Called before the appends are answered. */
  readonly onWritten: (first: number, events: readonly RecordedEvent[]) => void;
  readonly onError: (error: unknown) => void;
  /** Of each new connection, before anything is sent over it. */
  readonly check: (session: pg.Client) => Promise<void>;
}

export class Flusher {
  readonly #options: FlusherOptions;
  readonly #unwatch: () => void;
  #session: pg.Client | null = null;

  constructor(options: FlusherOptions) {
    this.#options = options;
    this.#unwatch = options.watch.onSilence(() =>
      this.#session === null || isAsked(this.#session) ? [] : [this.#session],
    );
  }

  /** Returns when every member is answered: by the database, or by its deadline, which the queue watches. Never rejects. */
  async flush(members: readonly PendingAppend[]): Promise<void> {
    for (let attempt = 0; ; attempt++) {
      const open = members.filter((member) => !member.settled);
      if (open.length === 0) return;
      const failure = await this.#try(open);
      if (failure === null) return;
      for (const member of open) member.cause = failure;
      this.#options.onError(failure);
      if (!isTransient(failure)) return await this.#oneByOne(open, failure);
      // Now, while it is known that nothing was written: another attempt would put the outcome in doubt again.
      for (const member of open) if (!member.settled && member.isOverdue()) member.giveUp();
      await pause(backoffMs(attempt));
    }
  }

  isWriter(serverProcess: number): boolean {
    return this.#session !== null && processIdOf(this.#session) === serverProcess;
  }

  async close(): Promise<void> {
    this.#unwatch();
    if (this.#session !== null) await closeSession(this.#session);
    this.#session = null;
  }

  /** One attempt; null when it was answered. */
  async #try(members: readonly PendingAppend[]): Promise<unknown> {
    let session: pg.Client;
    try {
      session = await this.#connected();
    } catch (error) {
      return error; // nothing was sent
    }
    // Connecting took time: an append that was answered meanwhile as not written must not be sent any more.
    const open = members.filter((member) => !member.settled);
    if (open.length === 0) return null;
    const mayBeWrittenBefore = new Set(open.filter((member) => member.mayBeWritten));
    for (const member of open) member.mayBeWritten = true;
    let outcomes: readonly Outcome[];
    try {
      outcomes = await callAppend(
        session,
        open.map((member) => member.append),
      );
    } catch (error) {
      if (!wasRolledBack(error)) this.#drop(session);
      else for (const member of open) member.mayBeWritten = mayBeWrittenBefore.has(member);
      return error;
    }
    this.#answer(open, outcomes);
    return null;
  }

  /** The server refuses something in this flush that the checks let through: only the append at fault may fail. */
  async #oneByOne(members: readonly PendingAppend[], failure: unknown): Promise<void> {
    if (members.length > 1) {
      for (const member of members) await this.flush([member]);
      return;
    }
    const [member] = members;
    if (member === undefined || member.settled) return;
    const options = { cause: failure };
    if (isNotInUse(failure)) member.refuse(new LogNotInUse(failure.message, options));
    else if (isBadValue(failure))
      member.refuse(new InvalidAppend('the database rejected a value of the append', options));
    else member.refuse(new EventStoreUnavailable('the database rejected the append', options));
  }

  #answer(members: readonly PendingAppend[], outcomes: readonly Outcome[]): void {
    const written: RecordedEvent[] = [];
    let last = 0;
    members.forEach((member, index) => {
      const outcome = outcomes[index]!;
      if (outcome.kind !== 'written') return;
      for (const event of recordedEvents(member.append, outcome)) written.push(event);
      last = outcome.place;
    });
    if (written.length > 0) this.#options.onWritten(last - written.length + 1, written);
    members.forEach((member, index) => {
      if (member.settled) return; // its deadline came first
      const { kind, revision, place } = outcomes[index]!;
      member.succeed(
        kind === 'conflict' ? { ok: false, actual: revision } : { ok: true, revision, position: positionOrNull(place) },
      );
    });
  }

  async #connected(): Promise<pg.Client> {
    if (this.#session !== null) return this.#session;
    const { connectionString, watch, check } = this.#options;
    const name = 'quita event store: appends';
    const session = await openSession({ connectionString, watch, name, settings: WRITER_SETTINGS, check });
    session.once('end', () => this.#drop(session));
    this.#session = session;
    return session;
  }

  #drop(session: pg.Client): void {
    cutSession(session);
    if (this.#session === session) this.#session = null;
  }
}

/** What a flush may hold up, and for how long. A stronger synchronous_commit than `on` is left as it is. */
export const WRITER_SETTINGS = [
  `SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') <> 'remote_apply'`,
  `SET default_transaction_isolation = 'read committed'`,
  `SET lock_timeout = '2s'`,
  `SET statement_timeout = '5s'`,
  `SET idle_session_timeout = 0`,
].join('; ');

// --- One call of event_store.append: a whole flush to the database, and its answer ---

/** Above the session's statement_timeout, so that a living server answers first and its answer says that nothing was written. */
const ANSWER_MS_MAX = 5_500;

const CALL = {
  name: 'append',
  text: 'SELECT * FROM event_store.append($1, $2, $3, $4, $5, $6, $7, $8, $9)',
  rowMode: 'array',
} as const;

/** What became of one append. `place` and `revision` are those of its last event; of a conflict, `revision` is the stream's head. */
export interface Outcome {
  readonly kind: 'written' | 'repeated' | 'conflict';
  readonly revision: number;
  readonly place: number;
  readonly recordedAtMs: number;
}
type Row = [kind: Outcome['kind'], revision: string, place: string | null, recordedAtMs: string];

/** One round trip, one transaction, one outcome a member, in order. Rejects with pg's error, or after 5.5 s of silence. */
export const callAppend = async (client: pg.Client, members: readonly CheckedAppend[]): Promise<Outcome[]> => {
  const values = parameters(members);
  const { rows } = await withQueryTimeout(client, client.query<Row>({ ...CALL, values }), ANSWER_MS_MAX);
  if (rows.length !== members.length) throw new Error(`${rows.length} answers to ${members.length} appends`);
  return rows.map(([kind, revision, place, recordedAtMs]) => ({
    kind,
    revision: Number(revision),
    place: Number(place),
    recordedAtMs: Number(recordedAtMs),
  }));
};

/** The parameters of event_store.append: of each member its stream, expected revision and size; of each event its member and offset. */
const parameters = (members: readonly CheckedAppend[]): Buffer[] => {
  const events = members.flatMap((member) => member.events);
  const sum = (bytesOf: (member: CheckedAppend) => number) => members.reduce((bytes, one) => bytes + bytesOf(one), 0);
  return [
    textArray(members.map((member) => member.stream)),
    int8Array(members.map((member) => member.expected)),
    int8Array(members.map((member) => member.events.length)),
    int8Array(members.flatMap((member, index) => member.events.map(() => index + 1))),
    int8Array(members.flatMap((member) => member.events.map((_, offset) => offset))),
    uuidArray(events.map((event) => event.id)),
    textArray(events.map((event) => event.type)),
    textArray(
      events.map((event) => event.data),
      sum((member) => member.dataBytes),
    ),
    textArray(
      events.map((event) => event.metadata),
      sum((member) => member.metadataBytes),
    ),
  ];
};

export const recordedEvents = (append: CheckedAppend, { revision, place, recordedAtMs }: Outcome): RecordedEvent[] => {
  const recordedAt = new Date(recordedAtMs).toISOString();
  const before = append.events.length - 1;
  return append.events.map((event, index) => ({
    ...event,
    stream: append.stream as StreamName,
    revision: revision - before + index,
    position: positionOf(place - before + index),
    recordedAt,
  }));
};
