// Keeps the claims of this worker alive, and opens those of workers that died: one statement for all running claims and one look, each
// heartbeat. A job that is over within a heartbeat is never touched, so that the hot path pays nothing. pg-boss has heartbeats of its own;
// they need 10 s at least, a scan for its statistics with every look, and a delay before the job may be claimed again.
import { type Repeating, repeating } from '../../application/ports/repeating.ts';
import type { SqlPool } from '../../application/ports/sql.ts';
import type { Claim } from './jobLoop.ts';
import { REOPEN_EXPIRED, TOUCH } from './statements.ts';

/** A worker that has not touched a claim for so many heartbeats is dead. */
const HEARTBEATS_MISSED_MAX = 4;

export interface OpenedClaim {
  readonly name: string;
  readonly tenant: string;
}
interface LeaseKeeperOptions {
  readonly pool: SqlPool;
  /** Of this program. */
  readonly queues: readonly string[];
  readonly heartbeatMs: number;
  /** The claims that run here. */
  readonly running: () => readonly Claim[];
  /** Claims of dead workers are open again. */
  readonly onOpened: (opened: readonly OpenedClaim[]) => Promise<void>;
  readonly onError: (error: Error) => void;
}

export class LeaseKeeper {
  readonly #options: LeaseKeeperOptions;
  #heartbeats: Repeating | null = null;
  /** What ran at the heartbeat before. */
  #known: ReadonlySet<string> = new Set();
  /** Heartbeats in time without a failure. */
  #inTime = 0;
  #lastAtMs = 0;

  constructor(options: LeaseKeeperOptions) {
    this.#options = options;
  }

  start(): void {
    if (this.#heartbeats !== null) return;
    this.#lastAtMs = performance.now();
    const { heartbeatMs, onError } = this.#options;
    this.#heartbeats = repeating(heartbeatMs, () => this.#run(), {
      onError: (error) => {
        this.#inTime = 0;
        onError(error);
      },
    });
  }

  async stop(): Promise<void> {
    await this.#heartbeats?.stop();
  }

  async #run(): Promise<void> {
    const touchedAt = await this.#touch();
    // While the database was away (or we were), the others could not touch theirs either: they come first.
    const nowMs = performance.now();
    this.#inTime = nowMs - this.#lastAtMs < 2 * this.#options.heartbeatMs ? this.#inTime + 1 : 0;
    this.#lastAtMs = nowMs;
    if (this.#inTime >= HEARTBEATS_MISSED_MAX) await this.#reopenExpired(touchedAt);
  }

  /** Returns when that was, by the database's clock. */
  async #touch(): Promise<string> {
    const running = this.#options.running();
    const long = running.filter((claim) => this.#known.has(keyOf(claim)));
    this.#known = new Set(running.map(keyOf));
    // With none it asks whether the database is there.
    const { rows } = await this.#options.pool.query<{ at: string }>(TOUCH, [
      long.map(({ id }) => id),
      long.map(({ attempt }) => attempt),
      this.#options.queues,
    ]);
    return (rows[0] as { at: string }).at;
  }

  /** As of the touch: whoever stands still between the two must not find its own claims cold. */
  async #reopenExpired(touchedAt: string): Promise<void> {
    const { pool, queues, heartbeatMs, onOpened } = this.#options;
    const coldMs = HEARTBEATS_MISSED_MAX * heartbeatMs;
    const { rows } = await pool.query<OpenedClaim>(REOPEN_EXPIRED, [queues, coldMs, touchedAt]);
    if (rows.length > 0) await onOpened(rows);
  }
}

const keyOf = ({ id, attempt }: Claim): string => `${id} ${attempt}`;
