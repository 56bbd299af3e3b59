// How this process learns of what other processes append: LISTEN, and a look at the head every second, because a NOTIFY may be lost with the
// connection.

import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import type { SessionWatch } from '../../postgres/sessionWatch.ts';
import { backoffMs } from '../../waiting.ts';
import type { HeadWatch } from './logMemory.ts';
import { closeSession, NEWEST_TEXT, openSession, withQueryTimeout } from './session.ts';

interface HeadAnnouncementsOptions {
  readonly connectionString: string;
  readonly watch: SessionWatch;
  readonly head: HeadWatch;
  /** Of each new connection, before it is used. */
  readonly check: (session: pg.Client) => Promise<void>;
  /** Called with what each look finds. */
  readonly onLook: (place: number, id: string) => void;
  /**
   * Whether that server process writes for us: its notices come before its answers, and whoever was woken by one would read from the
   * database what the answer is about to put into the tail.
   */
  readonly isOwnWriter: (serverProcess: number) => boolean;
  readonly onError: (error: unknown) => void;
  /** Ends it. */
  readonly signal: AbortSignal;
}

const LOOK_EVERY_MS = 1_000;
const ANSWER_MS_MAX = 3_000;
/** No row: the log is empty. */
const NEWEST = {
  name: 'newest',
  text: NEWEST_TEXT,
  rowMode: 'array',
} as const;

const pauseUnless = async (ms: number, signal: AbortSignal): Promise<void> => {
  await pause(ms, undefined, { signal }).catch(() => undefined);
};

/** Returns when the connection is lost (by rejecting) or the signal is given. */
const listen = async (
  session: pg.Client,
  { head, isOwnWriter, onLook, signal }: HeadAnnouncementsOptions,
): Promise<void> => {
  const lost = new AbortController();
  session.once('end', () => lost.abort());
  session.on('notification', ({ payload, processId }) => {
    if (!isOwnWriter(processId)) head.learn(Number(payload));
  });
  await withQueryTimeout(session, session.query('LISTEN quita_events'), ANSWER_MS_MAX);
  const either = AbortSignal.any([signal, lost.signal]);
  while (!signal.aborted) {
    const { rows } = await withQueryTimeout(session, session.query<[string, string]>(NEWEST), ANSWER_MS_MAX);
    for (const [place, id] of rows) onLook(Number(place), id);
    await pauseUnless(LOOK_EVERY_MS, either);
  }
};

/** Runs until the signal, through any number of lost connections. Never rejects. */
export const followHeadAnnouncements = async (options: HeadAnnouncementsOptions): Promise<void> => {
  const { connectionString, watch, check, onError, signal } = options;
  for (let attempt = 0; !signal.aborted; attempt++) {
    let session: pg.Client | null = null;
    try {
      session = await openSession({
        connectionString,
        watch,
        name: 'quita event store: announcements',
        settings: 'SET idle_session_timeout = 0',
        check,
      });
      attempt = 0;
      await listen(session, options);
    } catch (error) {
      if (!signal.aborted) onError(error);
    }
    if (session !== null) await closeSession(session);
    await pauseUnless(backoffMs(attempt), signal);
  }
};
