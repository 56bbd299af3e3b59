// How processes learn of each other's appends: NOTIFY and LISTEN on a session of its own, and a query of the head every second, because a
// notice may be lost with its connection or its process. The notice is not part of the append: a transaction with a NOTIFY commits under a
// lock of the whole server, so that all such commits would wait for each other's write to the disk.

import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { processIdOf, type SessionWatch } from '../../postgres/sessionWatch.ts';
import { backoffMs } from '../../waiting.ts';
import type { HeadWatch } from './logMemory.ts';
import { closeSession, NEWEST_TEXT, openSession, withQueryTimeout } from './session.ts';

interface AnnouncementsOptions {
  readonly connectionString: string;
  readonly watch: SessionWatch;
  /** Learns of the appends of other processes. */
  readonly head: HeadWatch;
  /** Checks each new connection before it is used. */
  readonly check: (session: pg.Client) => Promise<void>;
  /** Called with the result of each query of the head. */
  readonly onLook: (place: number, id: string) => void;
  readonly onError: (error: unknown) => void;
}

const LOOK_EVERY_MS = 1_000;
const ANSWER_MS_MAX = 3_000;
/** Returns no row if the log is empty. */
const NEWEST = {
  name: 'newest',
  text: NEWEST_TEXT,
  rowMode: 'array',
} as const;
const ANNOUNCE = { name: 'announce', text: "SELECT pg_notify('quita_events', $1)" } as const;

const pauseUnless = async (ms: number, signal: AbortSignal): Promise<void> => {
  await pause(ms, undefined, { signal }).catch(() => undefined);
};

export class Announcements {
  readonly #options: AnnouncementsOptions;
  readonly #over = new AbortController();
  readonly #running: Promise<void>;
  #session: pg.Client | null = null;
  /** The newest place that this process has to announce; null if the others were told. */
  #untold: number | null = null;
  #isTelling = false;

  constructor(options: AnnouncementsOptions) {
    this.#options = options;
    this.#running = this.#run();
  }

  /** Tells other processes that this one has appended up to this place. What is appended meanwhile shares the next notice. */
  announce(place: number): void {
    this.#untold = place;
    if (!this.#isTelling) void this.#tell();
  }

  async close(): Promise<void> {
    this.#over.abort();
    await this.#running;
  }

  /** Never rejects. Without a session, the others find the events within a second. */
  async #tell(): Promise<void> {
    this.#isTelling = true;
    for (let session = this.#session; session !== null && this.#untold !== null; session = this.#session) {
      const values = [this.#untold];
      this.#untold = null;
      await withQueryTimeout(session, session.query({ ...ANNOUNCE, values }), ANSWER_MS_MAX).catch(() => undefined);
    }
    this.#isTelling = false;
  }

  /** Listens until it is closed, and reconnects after every loss. Never rejects. */
  async #run(): Promise<void> {
    const { connectionString, watch, check, onError } = this.#options;
    const { signal } = this.#over;
    for (let attempt = 0; !signal.aborted; attempt++) {
      let session: pg.Client | null = null;
      try {
        const name = 'quita event store: announcements';
        session = await openSession({ connectionString, watch, name, settings: 'SET idle_session_timeout = 0', check });
        attempt = 0;
        await this.#listen(session);
      } catch (error) {
        if (!signal.aborted) onError(error);
      }
      this.#session = null;
      if (session !== null) await closeSession(session);
      await pauseUnless(backoffMs(attempt), signal);
    }
  }

  /** Rejects when the connection is lost. */
  async #listen(session: pg.Client): Promise<void> {
    const { head, onLook } = this.#options;
    const lost = new AbortController();
    session.once('end', () => lost.abort());
    const own = processIdOf(session);
    session.on('notification', ({ payload, processId }) => {
      if (processId !== own) head.learn(Number(payload));
    });
    await withQueryTimeout(session, session.query('LISTEN quita_events'), ANSWER_MS_MAX);
    this.#session = session;
    const either = AbortSignal.any([this.#over.signal, lost.signal]);
    while (!this.#over.signal.aborted) {
      const { rows } = await withQueryTimeout(session, session.query<[string, string]>(NEWEST), ANSWER_MS_MAX);
      for (const [place, id] of rows) onLook(Number(place), id);
      await pauseUnless(LOOK_EVERY_MS, either);
    }
  }
}
