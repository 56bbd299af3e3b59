// The connections of a pool, and its end: pg-pool's own end() resolves when it has said goodbye, not when the server has heard it.
import pg from 'pg';
import { whenLate } from '../waiting.ts';
import { cutSession, type SessionWatch } from './sessionWatch.ts';

const GOODBYE_MS_MAX = 1_000;

/** A pool's own `connectionTimeoutMillis` is also how long one may wait for a free connection: connecting must not take as long. */
export const CONNECT_MS_MAX = 5_000;

/** Clients of a pool, watched from the first byte on. */
export const watchedClient = (watch: SessionWatch): (new () => pg.Client) =>
  class extends pg.Client {
    constructor(config?: pg.ClientConfig) {
      super({ ...config, connectionTimeoutMillis: CONNECT_MS_MAX });
      watch.add(this);
    }
  };

export class PoolConnections {
  readonly #pool: pg.Pool;
  readonly #open = new Set<pg.PoolClient>();
  readonly #idle = new Set<pg.PoolClient>();
  readonly #unwatch: () => void;
  #onNone: () => void = () => undefined;

  /** The pool must be new: connections opened before are not known. When one is silent, the idle ones are cut: they are suspect. */
  constructor(pool: pg.Pool, watch: SessionWatch) {
    this.#pool = pool;
    pool.on('connect', (client) => this.#open.add(client));
    pool.on('acquire', (client) => this.#idle.delete(client));
    pool.on('release', (_error, client) => this.#idle.add(client));
    pool.on('remove', (client) => {
      this.#open.delete(client);
      this.#idle.delete(client);
      if (this.#open.size === 0) this.#onNone();
    });
    this.#unwatch = watch.onSilence(() => this.#idle);
  }

  /** Cuts all of them, idle or at work. */
  cut(): void {
    for (const client of this.#open) cutSession(client);
  }

  /**
   * Waits for what is at work, then until the server has closed every connection, so that it may be stopped without cutting one
   * off. A server that does not answer the goodbye within a second is left alone.
   */
  async end(): Promise<void> {
    await this.#pool.end();
    this.#unwatch();
    if (this.#open.size === 0) return;
    const none = new Promise<void>((resolve) => {
      this.#onNone = resolve;
    });
    await whenLate(none, GOODBYE_MS_MAX, () => this.cut());
  }
}
