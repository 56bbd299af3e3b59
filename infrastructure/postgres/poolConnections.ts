// The connections of a pool, and its end: pg-pool's own end() resolves when it has said goodbye, not when the server has heard it.
import type pg from 'pg';

const GOODBYE_MS_MAX = 1_000;

/** Cuts the socket at once, whatever is in flight. */
export const cutSession = (client: pg.ClientBase): void => {
  const { stream } = (client as unknown as { connection: { stream: { destroy(): void } } }).connection;
  stream.destroy();
};

export class PoolConnections {
  readonly #pool: pg.Pool;
  readonly #open = new Set<pg.PoolClient>();
  #onNone: () => void = () => undefined;

  /** The pool must be new: connections opened before are not known. */
  constructor(pool: pg.Pool) {
    this.#pool = pool;
    pool.on('connect', (client) => this.#open.add(client));
    pool.on('remove', (client) => {
      this.#open.delete(client);
      if (this.#open.size === 0) this.#onNone();
    });
  }

  /** Cuts all of them, idle or at work. */
  cut(): void {
    this.#open.forEach(cutSession);
  }

  /**
   * Waits for what is at work, then until the server has closed every connection, so that it may be stopped without cutting one
   * off. A server that does not answer the goodbye within a second is left alone.
   */
  async end(): Promise<void> {
    await this.#pool.end();
    if (this.#open.size === 0) return;
    const none = new Promise<void>((resolve) => {
      this.#onNone = resolve;
    });
    const impatient = setTimeout(() => this.cut(), GOODBYE_MS_MAX);
    await none;
    clearTimeout(impatient);
  }
}
