// Connections of a pool: watched, lent, and closed.
import pg from 'pg';
import { whenLate } from '../waiting.ts';
import { cutSession, GOODBYE_MS_MAX, type SessionWatch } from './sessionWatch.ts';

/** Longest time to connect. It is shorter than the pool's `connectionTimeoutMillis`, which includes the wait for a free connection. */
export const CONNECT_MS_MAX = 5_000;

/** Returns a client class for a pool, whose clients are watched from the first byte. */
export const watchedClient = (watch: SessionWatch): (new () => pg.Client) =>
  class extends pg.Client {
    constructor(config?: pg.ClientConfig) {
      super({ ...config, connectionTimeoutMillis: CONNECT_MS_MAX });
      watch.add(this);
    }
  };

interface Lent {
  readonly client: pg.PoolClient;
  /** Notes that the connection must not be used again. The first error counts, because it is the cause. */
  readonly onBroken: (error: Error) => void;
  readonly broken: () => Error | undefined;
}

/**
 * Runs `work` with a connection of the pool, which gets it back afterwards, and replaces it if it broke. The connection's errors are heard
 * from the turn on in which the pool stops listening, because an error event without a listener ends the process.
 */
export const withConnection = async <T>(pool: pg.Pool, work: (lent: Lent) => Promise<T>): Promise<T> => {
  let broken: Error | undefined;
  const onBroken = (error: Error): void => {
    broken ??= error;
  };
  const client = await new Promise<pg.PoolClient>((resolve, reject) => {
    pool.connect((error, lent) => {
      if (lent === undefined) return reject(error as Error);
      lent.on('error', onBroken);
      resolve(lent);
    });
  });
  try {
    return await work({ client, onBroken, broken: () => broken });
  } finally {
    client.release(broken); // the pool listens again from here on
    client.off('error', onBroken);
  }
};

/**
 * Closes a pool's connections. pg-pool's end() resolves when it has sent its goodbyes, not when the server has received them.
 */
export class PoolConnections {
  readonly #pool: pg.Pool;
  readonly #open = new Set<pg.PoolClient>();
  readonly #idle = new Set<pg.PoolClient>();
  readonly #unwatch: () => void;
  #onNone: () => void = () => undefined;

  /** The pool must be new, because connections opened before are unknown. If one connection is silent, the idle ones are cut as suspect. */
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

  /** Cuts all connections, idle or busy. */
  cut(): void {
    for (const client of this.#open) cutSession(client);
  }

  /**
   * Waits for running statements, then until the server has closed every connection, so that the server can stop without cutting one.
   * Connections that are still open after a second are cut.
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
