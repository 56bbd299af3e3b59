// The safety net under notices: which lanes have work that is due, asked for all lanes of this process at once.
import { type Repeating, repeating } from '../../application/ports/repeating.ts';
import type { SqlPool } from '../../application/ports/sql.ts';
import { type Lane, laneBounds, lanePartsOf } from './lanes.ts';
import { DUE_LANES } from './statements.ts';

/** A lost notice costs at most this. */
const POLL_MS = 2_000;

interface DuePollOptions {
  readonly pool: SqlPool;
  /** Those whose jobs run here. */
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
    ];
    const { rows } = await pool.query<{ lane: Lane }>({ ...DUE_LANES, values });
    for (const { lane } of rows) onDue(lane);
  }
}
