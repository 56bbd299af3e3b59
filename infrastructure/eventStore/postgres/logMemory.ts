// What this process remembers of the log, and how it finds out that the log is another one: PostgreSQL was restored to an older state, or a
// standby took over that had not received everything. A live connection can't be switched to another state, so each new one is
// checked before it is used. Appends and pages cost nothing more.
import type pg from 'pg';
import type { RecordedEvent } from '../../../application/ports/eventStore.ts';
import { RestoreSignal } from '../restoreSignal.ts';
import { HeadWatch } from './head.ts';
import { RecentEvents } from './recentEvents.ts';
import { NEWEST_TEXT, sqlStateOf } from './session.ts';

/** A place of the log and the id of the event there. */
export interface Landmark {
  readonly place: number;
  readonly id: string;
}

type Ask = <R extends unknown[]>(query: pg.QueryArrayConfig) => Promise<{ readonly rows: R[] }>;

/** Identity of the server and its timeline, which a promoted standby and a restored backup change. A standby has no timeline of its own. */
const SERVER = `(SELECT system_identifier::text FROM pg_control_system()) || ' ' || coalesce(
  CASE WHEN NOT pg_is_in_recovery() THEN left(pg_walfile_name(pg_current_wal_insert_lsn()), 8) END, 'standby')`;

/** $1 a place. The newest place and id, the id at $1, the server. */
const checkText = (server: string): string => `SELECT newest.position, newest.id,
    (SELECT e.id FROM event_store.events e WHERE e.position = $1), ${server}
  FROM (SELECT) one LEFT JOIN (${NEWEST_TEXT}) newest ON true`;

type CheckRow = [place: string | null, id: string | null, idThere: string | null, server: string | null];

/** The server has no such function, or does not let this role call it. */
const NOT_AVAILABLE = new Set(['42501', '42883', '0A000']);

export class LogMemory {
  readonly recent = new RecentEvents();
  readonly head: HeadWatch;
  /** New connections so far. A reader of an earlier one checks that the log still has what it read. */
  connections = 0;
  /** How often the log turned out to be an older one. */
  restores = 0;
  /** The newest event whose id is known here. */
  #landmark: Landmark | null = null;
  #server: string | null = null;
  #isServerKnown = true;
  readonly #restored: RestoreSignal<number>;

  constructor(onError: (error: unknown) => void) {
    this.#restored = new RestoreSignal(onError);
    this.head = new HeadWatch(0, onError);
  }

  /** Events of an acknowledged flush, at the places `first`, `first + 1`, … */
  wrote(first: number, events: readonly RecordedEvent[]): void {
    const place = first + events.length - 1;
    this.recent.add(first, events);
    this.saw({ place, id: (events.at(-1) as RecordedEvent).id });
    this.head.learn(place);
  }

  saw(landmark: Landmark): void {
    if (this.#landmark === null || landmark.place > this.#landmark.place) this.#landmark = landmark;
  }

  /** Called with the head whenever what is remembered of the log is no longer to be trusted. Returns the undo. */
  onRestored(listener: (head: number) => void): () => void {
    return this.#restored.listen(listener);
  }

  /** To be awaited on each new connection before it is used. Rejects with the connection's error. */
  async check(ask: Ask): Promise<void> {
    const { known } = this.head;
    const landmark = this.#landmark;
    const { restores } = this;
    const [place, id, idThere, server] = await this.#ask(ask, landmark?.place ?? 0);
    const newest = Number(place ?? 0);
    this.connections++;
    if (restores !== this.restores) return; // another connection found it out meanwhile
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
    this.#restored.tell(newest);
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
