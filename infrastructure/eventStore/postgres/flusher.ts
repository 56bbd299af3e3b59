// Carries a flush through: sends it, repeats it while its outcome is unknown, and answers every member.
import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import {
  EventStoreUnavailable,
  InvalidAppend,
  LogNotInUse,
  type RecordedEvent,
} from '../../../application/ports/eventStore.ts';
import type { StreamName } from '../../../domain/kernel/event.ts';
import { cutSession, isAsked, processIdOf, type SessionWatch } from '../../postgres/sessionWatch.ts';
import { backoffMs } from '../backoff.ts';
import { isBadValue, isNotInUse, isTransient, wasRolledBack } from './failures.ts';
import { callAppend, type MemberOutcome, WRITER_SETTINGS } from './flushCall.ts';
import type { PendingAppend } from './pendingAppend.ts';
import { positionOf, positionOrNull } from './position.ts';
import { closeSession, openSession } from './session.ts';

export interface FlusherOptions {
  readonly connectionString: string;
  readonly watch: SessionWatch;
  /** Events of an acknowledged flush, at the places `first`, `first + 1`, … Called before the appends are answered. */
  readonly onWritten: (first: number, events: readonly RecordedEvent[]) => void;
  readonly onError: (error: unknown) => void;
}

const recordedEvents = (member: PendingAppend, { revision, place, recordedAtMs }: MemberOutcome): RecordedEvent[] => {
  const { stream, events } = member.append;
  const recordedAt = new Date(recordedAtMs).toISOString();
  const before = events.length - 1;
  return events.map((event, index) => ({
    ...event,
    stream: stream as StreamName,
    revision: revision - before + index,
    position: positionOf(place - before + index),
    recordedAt,
  }));
};

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
    // Connecting took time: whoever was told meanwhile that nothing was written must not be sent any more.
    const open = members.filter((member) => !member.settled);
    if (open.length === 0) return null;
    const inDoubt = new Set(open.filter((member) => member.mayBeWritten));
    for (const member of open) member.mayBeWritten = true;
    let outcomes: readonly MemberOutcome[];
    try {
      outcomes = await callAppend(
        session,
        open.map((member) => member.append),
      );
    } catch (error) {
      if (!wasRolledBack(error)) this.#drop(session);
      else for (const member of open) member.mayBeWritten = inDoubt.has(member);
      return error;
    }
    this.#answer(open, outcomes);
    return null;
  }

  /** The server refuses something in this flush that the checks let through: only the guilty append may fail. */
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
      member.refuse(new InvalidAppend('the database refused a value of the append', options));
    else member.refuse(new EventStoreUnavailable('the database refused the append', options));
  }

  #answer(members: readonly PendingAppend[], outcomes: readonly MemberOutcome[]): void {
    const written: RecordedEvent[] = [];
    let last = 0;
    members.forEach((member, index) => {
      const outcome = outcomes[index]!;
      if (outcome.outcome !== 'written') return;
      for (const event of recordedEvents(member, outcome)) written.push(event);
      last = outcome.place;
    });
    if (written.length > 0) this.#options.onWritten(last - written.length + 1, written);
    members.forEach((member, index) => {
      if (member.settled) return; // its deadline came first
      const { outcome, revision, place } = outcomes[index]!;
      member.succeed(
        outcome === 'conflict'
          ? { ok: false, actual: revision }
          : { ok: true, revision, position: positionOrNull(place) },
      );
    });
  }

  async #connected(): Promise<pg.Client> {
    if (this.#session !== null) return this.#session;
    const session = await openSession({
      connectionString: this.#options.connectionString,
      watch: this.#options.watch,
      name: 'quita event store: appends',
      settings: WRITER_SETTINGS,
    });
    session.once('end', () => this.#drop(session));
    this.#session = session;
    return session;
  }

  #drop(session: pg.Client): void {
    cutSession(session);
    if (this.#session === session) this.#session = null;
  }
}
