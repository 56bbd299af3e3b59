// Keeps the claims of this worker alive, and opens those of workers that died: one statement for all running claims and one look, each
// beat. A job that is over within a beat is never touched, so that the hot path pays nothing. pg-boss has heartbeats of its own; they
// need 10 s at least, a scan for its statistics with every look, and a delay before the job may be claimed again.
import { QUEUES, type QueueName } from '../../application/ports/jobs.ts';
import type { SqlPool } from '../../application/ports/sql.ts';
import type { Claim } from './jobLoop.ts';
import { OPEN_DEAD, TOUCH } from './statements.ts';

/** A worker that has not touched a claim for so many beats is dead. */
const BEATS_MISSED_MAX = 4;

export interface OpenedClaim {
  readonly name: QueueName;
  readonly tenant: string;
}
export interface ClaimBeatsOptions {
  readonly pool: SqlPool;
  readonly beatMs: number;
  /** The claims that run here. */
  readonly running: () => readonly Claim[];
  /** Claims of dead workers are open again. */
  readonly onOpened: (opened: readonly OpenedClaim[]) => Promise<void>;
  readonly onError: (error: Error) => void;
}

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
    const long = running.filter((claim) => this.#known.has(keyOf(claim)));
    this.#known = new Set(running.map(keyOf));
    // With none it asks whether the database is there.
    await this.#options.pool.query(TOUCH, [long.map(({ id }) => id), long.map(({ attempt }) => attempt), QUEUES]);
  }

  async #openDead(): Promise<void> {
    const { pool, beatMs, onOpened } = this.#options;
    const { rows } = await pool.query<OpenedClaim>(OPEN_DEAD, [QUEUES, BEATS_MISSED_MAX * beatMs]);
    if (rows.length > 0) await onOpened(rows);
  }
}

const keyOf = ({ id, attempt }: Claim): string => `${id} ${attempt}`;
