// LISTEN on one connection for all listeners of this process: the server wakes every session that listens for each notice of any channel. A
// notice only wakes: after a missed notice, polling finds the work. Any role of the database may send a notice. If the sender can't act as
// Quita's role, the text is dropped: it could claim events that don't exist, or that read models have every event.

import type pg from 'pg';
import { backoffMs } from '../waiting.ts';
import { PgSession, type SessionConfig } from './session.ts';
import { processIdOf } from './sessionWatch.ts';

type Listener = (payload: string) => void;
type Check = (client: pg.Client) => Promise<void>;

const ACTS_AS_OURS = `SELECT pg_has_role(usesysid, current_user, 'USAGE') AS ours FROM pg_stat_activity WHERE pid = $1`;
/** How long a sender is remembered. Later, another process of the server may have its number. */
const KNOWN_MS = 60_000;
const SENDERS_MAX = 1_000;

/** A process of the server that sends notices. */
interface Sender {
  readonly untilMs: number;
  readonly isOurs: Promise<boolean>;
}

export class NotificationListener {
  readonly #config: SessionConfig;
  readonly #listeners = new Map<string, Set<Listener>>();
  readonly #whenLost = new Set<(error: Error) => void>();
  readonly #checks = new Set<Check>();
  readonly #senders = new Map<number, Sender>();
  #session: PgSession | null = null;
  #closed = false;
  /** Number of attempts to reconnect that failed in a row. */
  #failures = 0;
  #reconnect: NodeJS.Timeout | null = null;
  #reopening: Promise<void> | null = null;

  constructor(config: SessionConfig) {
    this.#config = config;
  }

  /** The session that listens, for statements whose loss with it is harmless; null while it is not open. */
  get session(): PgSession | null {
    return this.#session;
  }

  async open(): Promise<void> {
    const session = await PgSession.open(this.#config, (error) => this.#lost(error));
    try {
      for (const check of this.#checks) await check(session.client);
      const own = processIdOf(session.client);
      session.client.on('notification', ({ channel, payload, processId }) => {
        if (processId !== own) void this.#heard(this.#senderOf(processId, session), channel, payload ?? '');
      });
      for (const channel of this.#listeners.keys()) await session.query(`LISTEN ${channel}`);
    } catch (error) {
      await session.close();
      throw error;
    }
    if (this.#closed) return session.close();
    this.#session = session;
    this.#failures = 0;
    // Notices may have been missed before the connection was open, so every listener is called once.
    for (const channel of this.#listeners.keys()) this.#notify(channel, '');
  }

  /** Opens it in the background, and tries again until it succeeds. */
  start(): void {
    this.#reopening = this.open().catch((error: Error) => this.#lost(error));
  }

  /** `check` runs on each new connection before it is used, and rejects if it must not be. Returns a function that removes it. */
  beforeUse(check: Check): () => void {
    this.#checks.add(check);
    return () => void this.#checks.delete(check);
  }

  /**
   * Adds a listener, before or after `open`. `channel` is a plain identifier. The payload is empty if notices may have been missed. Notices
   * sent by `session` are ignored.
   */
  async on(channel: string, listener: Listener): Promise<() => void> {
    const known = this.#listeners.get(channel);
    const listeners = known ?? new Set();
    listeners.add(listener);
    this.#listeners.set(channel, listeners);
    if (!known) await this.#session?.query(`LISTEN ${channel}`);
    return () => void listeners.delete(listener);
  }

  /**
   * `listener` is called when the connection is lost, or can't be opened again. Notices are missed from then on, until the listeners of
   * channels are called. Returns a function that removes the listener.
   */
  onLost(listener: (error: Error) => void): () => void {
    this.#whenLost.add(listener);
    return () => void this.#whenLost.delete(listener);
  }

  async close(): Promise<void> {
    this.#closed = true;
    if (this.#reconnect) clearTimeout(this.#reconnect);
    await this.#reopening;
    const session = this.#session;
    this.#session = null;
    await session?.close();
  }

  #senderOf(processId: number, session: PgSession): Sender {
    const known = this.#senders.get(processId);
    const nowMs = performance.now();
    if (known !== undefined && nowMs < known.untilMs) return known;
    if (this.#senders.size >= SENDERS_MAX) this.#senders.clear();
    const isOurs = session.query<{ ours: boolean }>(ACTS_AS_OURS, [processId]).then(
      ({ rows }) => rows[0]?.ours === true,
      () => {
        if (this.#senders.get(processId) === sender) this.#senders.delete(processId);
        return false;
      },
    );
    const sender: Sender = { untilMs: nowMs + KNOWN_MS, isOurs };
    this.#senders.set(processId, sender);
    return sender;
  }

  /** Notices of a sender keep their order. */
  async #heard({ isOurs }: Sender, channel: string, payload: string): Promise<void> {
    this.#notify(channel, (await isOurs) ? payload : '');
  }

  /** A notice that a listener can't read only wakes it. */
  #notify(channel: string, payload: string): void {
    for (const listener of this.#listeners.get(channel) ?? [])
      try {
        listener(payload);
      } catch (error) {
        if (payload === '') throw error;
        listener('');
      }
  }

  #lost(error: Error): void {
    this.#session = null;
    this.#senders.clear(); // a restarted server uses the numbers of its processes again
    for (const listener of this.#whenLost) listener(error);
    if (this.#closed || this.#reconnect) return; // one attempt at a time, so that only one connection is opened
    this.#reconnect = setTimeout(
      () => {
        this.#reconnect = null;
        this.start();
      },
      backoffMs(this.#failures++),
    );
  }
}
