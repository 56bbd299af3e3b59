// Makes deferred jobs ready when their time has come, and is the safety net for lost notices: it polls for ready work in all lanes of this
// process at once.
import { type Repeating, repeating } from '../../application/ports/repeating.ts';
import type { SqlPool } from '../../application/ports/sql.ts';
import { type Lane, laneBounds, lanePartsOf } from './lanes.ts';
import { READY_LANES } from './statements.ts';

/** Interval of the poll in milliseconds: the longest delay that a lost notice causes. */
const POLL_MS = 2_000;
/** Most deferred jobs that one statement makes ready. If more are due, another statement follows at once. */
const READY_MAX = 1_000;

interface DuePollOptions {
  readonly pool: SqlPool;
  /** Lanes whose jobs run in this process. */
  readonly lanes: () => Iterable<Lane>;
  readonly onDue: (lane: Lane) => void;
  readonly onError: (error: Error) => void;
}

export class DuePoll {
  readonly #options: DuePollOptions;
  #looking: Repeating | null = null;

  constructor(options: DuePollOptions) {
    this.#options = options;
  }

  start(): void {
    this.#looking ??= repeating(POLL_MS, () => this.#look(), { onError: this.#options.onError });
  }

  async stop(): Promise<void> {
    await this.#looking?.stop();
  }

  async #look(): Promise<void> {
    const { pool, lanes, onDue } = this.#options;
    const all = [...lanes()];
    const parts = all.map(lanePartsOf);
    const bounds = parts.map(({ mode }) => laneBounds(mode));
    const values = [
      all,
      parts.map(({ queue }) => queue),
      bounds.map(([first]) => first),
      bounds.map(([, below]) => below),
      READY_MAX,
    ];
    for (let readied = READY_MAX; readied === READY_MAX; ) {
      const { rows } = await pool.query<{ lane: Lane; readied: number }>({ ...READY_LANES, values });
      readied = rows[0]?.readied ?? 0;
      for (const { lane } of rows) onDue(lane);
    }
  }
}
