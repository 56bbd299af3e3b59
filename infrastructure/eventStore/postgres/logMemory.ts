// This process's knowledge of the log, and the detection of a replaced log: PostgreSQL was restored to an older state, or a standby took
// over that had not received everything. A live connection can't change to another state, so only new connections are checked before
// use. Appends and reads cost nothing more.

import type pg from 'pg';
import type { RecordedEvent } from '../../../application/ports/eventStore.ts';
import { KnownHead, Listeners } from '../knownLog.ts';
import { RecentEvents } from './recentEvents.ts';
import { NEWEST_TEXT, sqlStateOf } from './session.ts';

/** The newest known place; 0 while the log is empty. */
export class HeadWatch extends KnownHead<number> {
  /** Also ignores values that are not numbers (a foreign NOTIFY). */
  override learn(place: number): void {
    if (Number.isSafeInteger(place)) super.learn(place);
  }

  /** Resolves when the head is beyond that place, after the timeout, or on the signal. Never rejects. */
  async wait(beyond: number, timeoutMs: number, signal: AbortSignal): Promise<void> {
    if (this.known > beyond || signal.aborted) return;
    await new Promise<void>((resolve) => {
      const wake = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', wake);
        stopListening();
        resolve();
      };
      const timer = setTimeout(wake, timeoutMs);
      signal.addEventListener('abort', wake);
      const stopListening = this.onHead((place) => {
        if (place > beyond) wake();
      });
    });
  }
}

/** A place of the log and the id of the event there. */
export interface Landmark {
  readonly place: number;
  readonly id: string;
}

type Ask = <R extends unknown[]>(query: pg.QueryArrayConfig) => Promise<{ readonly rows: R[] }>;

/** Identity of the server and its timeline, which changes with a promoted standby and a restored backup. A standby has no own timeline. */
const SERVER = `(SELECT system_identifier::text FROM pg_control_system()) || ' ' || coalesce(
  CASE WHEN NOT pg_is_in_recovery() THEN left(pg_walfile_name(pg_current_wal_insert_lsn()), 8) END, 'standby')`;

/** $1 a place. Returns the newest place and id, the id at $1, and the server. */
const checkText = (server: string): string => `SELECT newest.position, newest.id,
    (SELECT e.id FROM event_store.events e WHERE e.position = $1), ${server}
  FROM (SELECT) one LEFT JOIN (${NEWEST_TEXT}) newest ON true`;

type CheckRow = [place: string | null, id: string | null, idThere: string | null, server: string | null];

/** The server lacks the function, or this role may not call it. */
const NOT_AVAILABLE = new Set(['42501', '42883', '0A000']);

export class LogMemory {
  readonly recent = new RecentEvents();
  readonly head: HeadWatch;
  /** Number of new connections so far. A reader of an earlier one checks that the log still has the events it read. */
  connections = 0;
  /** Number of times that the log was found to be older. */
  restores = 0;
  /** The newest event with a known id. */
  #landmark: Landmark | null = null;
  #server: string | null = null;
  #isServerKnown = true;
  readonly #restored: Listeners<number>;

  constructor(onError: (error: unknown) => void) {
    this.#restored = new Listeners(onError);
    this.head = new HeadWatch(0, onError);
  }

  /** Records the events of an acknowledged flush, at the places `first`, `first + 1`, … */
  wrote(first: number, events: readonly RecordedEvent[]): void {
    const place = first + events.length - 1;
    this.recent.add(first, events);
    this.saw({ place, id: (events.at(-1) as RecordedEvent).id });
    this.head.learn(place);
  }

  saw(landmark: Landmark): void {
    if (this.#landmark === null || landmark.place > this.#landmark.place) this.#landmark = landmark;
  }

  /** Calls the listener with the head when the log was replaced. Returns a function that removes the listener. */
  onRestored(listener: (head: number) => void): () => void {
    return this.#restored.add(listener);
  }

  /** Checks the log. Await it on each new connection before use. Rejects with the connection's error. */
  async check(ask: Ask): Promise<void> {
    const { known } = this.head;
    const landmark = this.#landmark;
    const { restores } = this;
    const [place, id, idThere, server] = await this.#ask(ask, landmark?.place ?? 0);
    const newest = Number(place ?? 0);
    this.connections++;
    if (restores !== this.restores) return; // another connection detected it in the meantime
    const isOlder =
      newest < known || (landmark !== null && (newest < landmark.place || (idThere ?? landmark.id) !== landmark.id));
    const isElsewhere = this.#server !== null && server !== null && server !== this.#server;
    this.#server = server ?? this.#server;
    if (isOlder) this.restores++;
    if (isOlder || isElsewhere) this.#drop(newest);
    if (id !== null) this.saw({ place: newest, id });
    this.head.learn(newest);
  }

  #drop(newest: number): void {
    this.recent.clear();
    this.#landmark = null;
    this.head.reset(newest);
    this.#restored.call(newest);
  }

  async #ask(ask: Ask, place: number): Promise<CheckRow> {
    const query = (server: string) => ask<CheckRow>({ text: checkText(server), values: [place], rowMode: 'array' });
    if (this.#isServerKnown)
      try {
        return (await query(SERVER)).rows[0] as CheckRow;
      } catch (error) {
        if (!NOT_AVAILABLE.has(sqlStateOf(error) ?? '')) throw error;
        this.#isServerKnown = false;
      }
    return (await query('NULL::text')).rows[0] as CheckRow;
  }
}
