// LISTEN on one connection for all listeners of this process. A notice only wakes: after a missed notice, polling finds the work.

import { PgSession, type SessionConfig } from './session.ts';

type Listener = (payload: string) => void;

const RECONNECT_MS = 250;

export class NotificationListener {
  readonly #config: SessionConfig;
  readonly #listeners = new Map<string, Set<Listener>>();
  readonly #whenLost = new Set<() => void>();
  #session: PgSession | null = null;
  #closed = false;
  #reconnect: NodeJS.Timeout | null = null;
  #reopening: Promise<void> | null = null;

  constructor(config: SessionConfig) {
    this.#config = config;
  }

  async open(): Promise<void> {
    const session = await PgSession.open(this.#config, () => this.#lost());
    try {
      session.client.on('notification', ({ channel, payload }) => this.#notify(channel, payload ?? ''));
      for (const channel of this.#listeners.keys()) await session.query(`LISTEN ${channel}`);
    } catch (error) {
      await session.close();
      throw error;
    }
    if (this.#closed) return session.close();
    this.#session = session;
    // Notices may have been missed before the connection was open, so every listener is called once.
    for (const channel of this.#listeners.keys()) this.#notify(channel, '');
  }

  /** Adds a listener, before or after `open`. `channel` is a plain identifier. The payload is empty if notices may have been missed. */
  async on(channel: string, listener: Listener): Promise<() => void> {
    const known = this.#listeners.get(channel);
    const listeners = known ?? new Set();
    listeners.add(listener);
    this.#listeners.set(channel, listeners);
    if (!known) await this.#session?.query(`LISTEN ${channel}`);
    return () => void listeners.delete(listener);
  }

  /** `listener` is called when the connection is lost. Notices are missed from then on, until the listeners of channels are called. */
  onLost(listener: () => void): void {
    this.#whenLost.add(listener);
  }

  async close(): Promise<void> {
    this.#closed = true;
    if (this.#reconnect) clearTimeout(this.#reconnect);
    await this.#reopening;
    await this.#session?.close();
  }

  #notify(channel: string, payload: string): void {
    for (const listener of this.#listeners.get(channel) ?? []) listener(payload);
  }

  #lost(): void {
    this.#session = null;
    for (const listener of this.#whenLost) listener();
    if (this.#closed || this.#reconnect) return; // one attempt at a time, so that only one connection is opened
    this.#reconnect = setTimeout(() => {
      this.#reconnect = null;
      this.#reopening = this.open().catch(() => this.#lost());
    }, RECONNECT_MS);
  }
}
