// Keeps the claims of this worker alive, and opens those of workers that died: one statement for all running claims and one look, each
// beat. A job that is over within a beat is never touched, so that the hot path pays nothing. pg-boss has heartbeats of its own; they
// need 10 s at least, a scan for its statistics with every look, and a delay before the job may be claimed again.
import { QUEUES, type QueueName } from '../../application/ports/jobs.ts';
import type { SqlPool } from '../../application/ports/sql.ts';
import { JOBS_SCHEMA } from './schema.ts';

/** A worker that has not touched a claim for so many beats is dead. */
const BEATS_MISSED_MAX = 4;

export interface ClaimBeatsOptions {
  readonly pool: SqlPool;
  readonly beatMs: number;
  /** Ids of the claims that run here. */
  readonly running: () => readonly string[];
  /** Claims of a dead worker are open again: once for each of them. */
  readonly onOpened: (queues: ReadonlySet<QueueName>) => Promise<void>;
  readonly onError: (error: Error) => void;
}

// pg-boss sets heartbeat_on with every claim. Whoever holds a row is about to end its job: nobody waits, so nobody deadlocks.
const TOUCH_TEXT = `UPDATE ${JOBS_SCHEMA}.job SET heartbeat_on = now() WHERE (name, id) IN (
  SELECT name, id FROM ${JOBS_SCHEMA}.job WHERE id = ANY($1::uuid[]) AND name = ANY($2::text[]) AND state = 'active' FOR UPDATE SKIP LOCKED)`;

// At once the first time; a job that kills its workers comes back later and later, and fails for good like one that throws.
const OPEN_TEXT = `UPDATE ${JOBS_SCHEMA}.job SET
    state = CASE WHEN retry_count < retry_limit THEN 'retry' ELSE 'failed' END::${JOBS_SCHEMA}.job_state,
    start_after = now() + LEAST(retry_delay_max, 2 ^ LEAST(retry_count, 16) - 1) * interval '1 s',
    completed_on = CASE WHEN retry_count < retry_limit THEN NULL ELSE now() END,
    output = '{"message":"its worker died"}'
  WHERE (name, id) IN (
    SELECT name, id FROM ${JOBS_SCHEMA}.job
    WHERE name = ANY($1::text[]) AND state = 'active' AND heartbeat_on < now() - $2 * interval '1 ms' FOR UPDATE SKIP LOCKED)
  RETURNING name`;

export class ClaimBeats {
  readonly #options: ClaimBeatsOptions;
  #timer: NodeJS.Timeout | undefined;
  #beat: Promise<void> | null = null;
  /** What ran at the beat before. */
  #known: ReadonlySet<string> = new Set();
  /** Beats in time without a failure. */
  #inTime = 0;
  #lastAtMs = 0;

  constructor(options: ClaimBeatsOptions) {
    this.#options = options;
  }

  start(): void {
    if (this.#timer !== undefined) return;
    this.#lastAtMs = performance.now();
    this.#timer = setInterval(() => {
      this.#beat ??= this.#run().finally(() => {
        this.#beat = null;
      });
    }, this.#options.beatMs);
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#beat;
  }

  async #run(): Promise<void> {
    const { beatMs, onError } = this.#options;
    try {
      await this.#touch();
      // While the database was away (or we were), the others could not touch theirs either: they come first.
      const nowMs = performance.now();
      this.#inTime = nowMs - this.#lastAtMs < 2 * beatMs ? this.#inTime + 1 : 0;
      this.#lastAtMs = nowMs;
      if (this.#inTime >= BEATS_MISSED_MAX) await this.#openDead();
    } catch (error) {
      this.#inTime = 0;
      onError(error as Error);
    }
  }

  async #touch(): Promise<void> {
    const running = this.#options.running();
    const long = running.filter((id) => this.#known.has(id));
    this.#known = new Set(running);
    await this.#options.pool.query(TOUCH_TEXT, [long, QUEUES]); // with none it asks whether the database is there
  }

  async #openDead(): Promise<void> {
    const { pool, beatMs, onOpened } = this.#options;
    const { rows } = await pool.query<{ name: QueueName }>(OPEN_TEXT, [QUEUES, BEATS_MISSED_MAX * beatMs]);
    if (rows.length > 0) await onOpened(new Set(rows.map(({ name }) => name)));
  }
}
