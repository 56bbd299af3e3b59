// Group commit. The appends of all requests of this process wait in one queue and are sent to the database together: up to 256 of them in
// one call of event_store.append (migration 0001_event_log), one transaction and one commit.
//
// From top to bottom: a pending append; the queue, which decides which appends go together and when one has waited too long; the flusher,
// which sends a flush, repeats it while its outcome is unknown, and answers every member.
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
import type { StreamName } from '../../../domain/kernel/ids.ts';
import { ask } from '../../postgres/ask.ts';
import { byteaArray, int8Array, textArray, uuidArray } from '../../postgres/binaryArrays.ts';
import { cutSession, endSession, isAsked, type SessionWatch } from '../../postgres/sessionWatch.ts';
import { backoffMs } from '../../waiting.ts';
import type { CheckedAppend } from '../checkAppend.ts';
import { positionOf, positionOrNull } from './reader.ts';
import { isBadValue, isNotInUse, isTransient, openSession, wasRolledBack, withQueryTimeout } from './session.ts';

/** An append that was not sent, or was rolled back, fails after this time instead of waiting longer in the queue. */
const NOT_SENT_MS_MAX = 5_000;
/** An append with an unknown outcome is given up after this time, because the port promises an answer within 10 s. */
const OUTCOME_UNKNOWN_MS_MAX = 9_000;
/** Size of an event in a flush beside its JSON: id, type, offsets, lengths. */
const EVENT_OVERHEAD_BYTES = 100;

/** An append that waits for its answer. */
export class PendingAppend {
  readonly append: CheckedAppend;
  readonly bytes: number;
  readonly result: Promise<AppendResult>;
  /** Whether an attempt with an unknown outcome was sent. It stays true until an answer arrives. */
  mayBeWritten = false;
  /** The last failure of an attempt, for the error's `cause`. */
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

  /** Rejects with the error for the known state: unknown outcome, or not written. */
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
/** Number of appends that a flush examines. Some must wait because the flush already has an append of their stream. */
const FLUSH_LOOKAHEAD = 4 * FLUSH_APPENDS_MAX;
/** With a longer queue, the process could run out of memory before the database catches up. */
const QUEUE_BYTES_MAX = 64_000_000;
const SWEEP_EVERY_MS = 250;

/** Answers every unsettled member, or leaves it to its deadline. Never rejects. */
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

  /** Appends events. Settles within 10 s; rejects as the port specifies. */
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

  /** Gives up all waiting and running appends, because they were decided on a log that no longer exists. */
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
   * Starts the flush at the end of this turn of the event loop. This adds no delay, but the appends of all requests that arrived in
   * the same turn, or were woken by the same flush, go together.
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

  /** Takes the next flush, in order of arrival, with at most one append per stream: a second one's revision depends on the first. */
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

  /** Gives up overdue appends. A running one is left out of the flush's next attempt. */
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
  /** Called with the events of an acknowledged flush, at the places `first`, `first + 1`, …, before the appends are answered. */
  readonly onWritten: (first: number, events: readonly RecordedEvent[]) => void;
  readonly onError: (error: unknown) => void;
  /** Checks each new connection before it is used. */
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

  /** Resolves when every member is answered, by the database or by its deadline, which the queue watches. Never rejects. */
  async flush(members: readonly PendingAppend[]): Promise<void> {
    for (let attempt = 0; ; attempt++) {
      const open = members.filter((member) => !member.settled);
      if (open.length === 0) return;
      const failure = await this.#try(open);
      if (failure === null) return;
      for (const member of open) member.cause = failure;
      this.#options.onError(failure);
      if (!isTransient(failure)) return await this.#oneByOne(open, failure);
      // Checked now, while it is certain that nothing was written. Another attempt would make the outcome uncertain again.
      for (const member of open) if (!member.settled && member.isOverdue()) member.giveUp();
      await pause(backoffMs(attempt));
    }
  }

  async close(): Promise<void> {
    this.#unwatch();
    if (this.#session !== null) await endSession(this.#session);
    this.#session = null;
  }

  /** Makes one attempt. Returns its failure, or null if it was answered. */
  async #try(members: readonly PendingAppend[]): Promise<unknown> {
    let session: pg.Client;
    try {
      session = await this.#connected();
    } catch (error) {
      return error; // nothing was sent
    }
    // An append that was given up as not written while connecting must not be sent.
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

  /** Sends the members one by one, because the server rejected a flush and only the invalid append may fail. */
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

/** Settings of the writing session. A synchronous_commit stronger than `on` is kept. */
export const WRITER_SETTINGS = [
  `SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') <> 'remote_apply'`,
  `SET default_transaction_isolation = 'read committed'`,
  `SET lock_timeout = '2s'`,
  `SET statement_timeout = '5s'`,
  `SET idle_session_timeout = 0`,
  // Each append would be planned anew, as `hidden` explains: 300 of 700 µs.
  `SET plan_cache_mode = force_generic_plan`,
  // Appends are announced after their commit (announcements.ts). Processes of an earlier version leave it to event_store.append.
  `SET quita.append_notifies = off`,
].join('; ');

// --- One call of event_store.append: sends a whole flush and reads its answer ---

/** Longer than the session's statement_timeout, so that a live server answers first and reports that nothing was written. */
const ANSWER_MS_MAX = 5_500;

const CALL = {
  name: 'append',
  text: 'SELECT * FROM event_store.append($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)',
  rowMode: 'array',
} as const;

/** Outcome of one append. `place` and `revision` are those of its last event; for a conflict, `revision` is the stream's head. */
export interface Outcome {
  readonly kind: 'written' | 'repeated' | 'conflict';
  readonly revision: number;
  readonly place: number;
  readonly recordedAtMs: number;
}
type Row = [kind: Outcome['kind'], revision: string, place: string | null, recordedAtMs: string];

/** Appends in one round trip and transaction. Returns one outcome per member, in order. Rejects with pg's error, or after 5.5 s. */
const callAppend = async (client: pg.Client, members: readonly CheckedAppend[]): Promise<Outcome[]> => {
  const values = parameters(members);
  const { rows } = await withQueryTimeout(client, ask<Row>(client, { ...CALL, values }), ANSWER_MS_MAX);
  if (rows.length !== members.length) throw new Error(`${rows.length} answers to ${members.length} appends`);
  return rows.map(([kind, revision, place, recordedAtMs]) => ({
    kind,
    revision: Number(revision),
    place: Number(place),
    recordedAtMs: Number(recordedAtMs),
  }));
};

/**
 * Returns the parameters of event_store.append: per member its stream, expected revision and size; per event its member and offset; per new
 * data key its member.
 */
const parameters = (members: readonly CheckedAppend[]): (Buffer | null)[] => {
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
    ...keyParameters(members),
  ];
};

const NO_KEYS = [null, null, null, null] as const;

const keyParameters = (members: readonly CheckedAppend[]): readonly (Buffer | null)[] => {
  const keys = members.flatMap(({ dataKey }, index) =>
    dataKey === undefined ? [] : [{ ...dataKey, member: index + 1 }],
  );
  if (keys.length === 0) return NO_KEYS;
  return [
    int8Array(keys.map(({ member }) => member)),
    textArray(keys.map(({ owner }) => owner)),
    int8Array(keys.map(({ secretId }) => secretId)),
    byteaArray(keys.map(({ salt }) => salt)),
  ];
};

const recordedEvents = (append: CheckedAppend, { revision, place, recordedAtMs }: Outcome): RecordedEvent[] => {
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
