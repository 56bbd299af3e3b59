// Projection lag under load: the age of the oldest event that the slowest read model of payments has yet to handle, sampled every 100 ms.
// The other read models have no events to handle, and their checkpoints may be up to a second behind.
import type pg from 'pg';
import { PROJECTIONS } from '../../projections/registry.ts';

const EVERY_MS = 100;

const LAG = {
  name: 'lag',
  text: `SELECT coalesce(extract(epoch FROM clock_timestamp() - (
      SELECT recorded_at FROM event_store.events WHERE position > (
        SELECT min(coalesce(position, '0'))::bigint FROM subscriptions.checkpoints
          WHERE coalesce(consumer, name) = ANY ($1) AND partitions IS NULL)
      ORDER BY position LIMIT 1)) * 1000, 0)::float AS ms`,
  values: [PROJECTIONS.filter(({ categories }) => categories.includes('payment')).map(({ name }) => name)],
};

export class LagSampler {
  readonly #sql: pg.Client;
  readonly #samplesMs: number[] = [];
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> = Promise.resolve();

  constructor(sql: pg.Client) {
    this.#sql = sql;
  }

  start(): void {
    this.#timer = setInterval(() => {
      this.#looking = this.#looking.then(() => this.#look());
    }, EVERY_MS);
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#looking;
  }

  get maxMs(): number {
    return Math.max(0, ...this.#samplesMs);
  }
  get samples(): number {
    return this.#samplesMs.length;
  }

  async #look(): Promise<void> {
    const { rows } = await this.#sql.query<{ ms: number }>(LAG);
    this.#samplesMs.push(rows[0]!.ms);
  }
}
