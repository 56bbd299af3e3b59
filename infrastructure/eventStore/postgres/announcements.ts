// Announces appends to other processes: by notices on the session that listens for the process, and by a query of the head every second,
// because a notice may be lost with its connection or its process. The notice is not part of the append: a transaction with a NOTIFY
// commits under a lock of the whole server, so that all such commits would wait for each other's write to the disk.

import { type Repeating, repeating } from '../../../application/ports/repeating.ts';
import type { NotificationListener } from '../../postgres/notificationListener.ts';
import type { LogMemory } from './logMemory.ts';
import { checkSession, NEWEST_TEXT } from './session.ts';

interface AnnouncementsOptions {
  readonly notices: NotificationListener;
  /** Whether to open and close the session. Otherwise the caller opens it later. */
  readonly isOwn: boolean;
  /** Checks each new session, and is informed of the appends of other processes. */
  readonly memory: LogMemory;
  readonly onError: (error: Error) => void;
}

const LOOK_EVERY_MS = 1_000;
/** Returns no row if the log is empty. */
const NEWEST = { name: 'newest', text: NEWEST_TEXT };
const CHANNEL = 'quita_events';
const ANNOUNCE = { name: 'announce', text: `SELECT pg_notify('${CHANNEL}', $1)` };

export class Announcements {
  readonly #options: AnnouncementsOptions;
  readonly #looking: Repeating;
  readonly #undo: (() => void)[] = [];
  /** The newest place that is not announced yet, or null. */
  #unannounced: number | null = null;
  #isAnnouncing = false;

  private constructor(options: AnnouncementsOptions) {
    this.#options = options;
    const { notices, onError } = options;
    const report = (error: Error): void => {
      if (notices.session !== null) onError(error); // a loss of the session is reported once
    };
    this.#looking = repeating(LOOK_EVERY_MS, () => this.#look(), { onError: report });
  }

  static async open(options: AnnouncementsOptions): Promise<Announcements> {
    const announcements = new Announcements(options);
    const { notices, isOwn, memory, onError } = options;
    announcements.#undo.push(
      notices.beforeUse((client) => checkSession(client, () => memory.check((query) => client.query(query)))),
      notices.onLost(onError),
      await notices.on(CHANNEL, (place) => {
        if (place === '') void announcements.#looking.now();
        else memory.head.learn(Number(place));
      }),
    );
    if (isOwn) notices.start();
    return announcements;
  }

  /** Notifies other processes that this one has appended up to this place. Appends made meanwhile share the next notice. */
  announce(place: number): void {
    this.#unannounced = place;
    if (!this.#isAnnouncing) void this.#announceAll();
  }

  /** Does not wait for a running query of the head, whose connection may be silent. */
  async close(): Promise<void> {
    void this.#looking.stop();
    for (const undo of this.#undo) undo();
    const { notices, isOwn } = this.#options;
    if (isOwn) await notices.close();
  }

  /** Never rejects. Without a session, the others find the events within a second. */
  async #announceAll(): Promise<void> {
    const { notices } = this.#options;
    this.#isAnnouncing = true;
    for (let { session } = notices; session !== null && this.#unannounced !== null; session = notices.session) {
      const values = [this.#unannounced];
      this.#unannounced = null;
      await session.query({ ...ANNOUNCE, values }).catch(() => undefined);
    }
    this.#isAnnouncing = false;
  }

  async #look(): Promise<void> {
    const { notices, memory } = this.#options;
    const { session } = notices;
    if (session === null) return;
    const { known } = memory.head;
    const { rows } = await session.query<{ position: number; id: string }>(NEWEST);
    for (const { position: place, id } of rows) {
      memory.saw({ place, id });
      memory.head.learn(place);
    }
    // Notices follow commits, so the announced event does not exist, and readers would wait for it.
    if (known > (rows[0]?.position ?? 0)) await memory.check((query) => session.client.query(query));
  }
}
