// Keeps the claims of this worker alive, and reopens those of dead workers. Each heartbeat runs one statement for all running claims and
// one check. A job that ends within a heartbeat is never touched, so short jobs cost nothing. pg-boss has its own heartbeats, but they
// need at least 10 s, a scan for statistics with every check, and a delay before the job may be claimed again.
import { type Repeating, repeating } from '../../application/ports/repeating.ts';
import type { SqlPool } from '../../application/ports/sql.ts';
import type { Claim } from './jobLoop.ts';
import { REOPEN_EXPIRED, TOUCH } from './statements.ts';

/** A worker that has not touched a claim for this many heartbeats counts as dead. */
const HEARTBEATS_MISSED_MAX = 4;

export interface ReopenedClaim {
  readonly name: string;
  readonly tenant: string;
}
interface ClaimKeeperOptions {
  readonly pool: SqlPool;
  /** The queues of this program. */
  readonly queues: readonly string[];
  readonly heartbeatMs: number;
  /** Returns the claims that run in this process. */
  readonly running: () => readonly Claim[];
  /** Called when claims of dead workers were reopened. */
  readonly onReopened: (reopened: readonly ReopenedClaim[]) => Promise<void>;
  readonly onError: (error: Error) => void;
}

export class ClaimKeeper {
  readonly #options: ClaimKeeperOptions;
  #heartbeats: Repeating | null = null;
  /** The claims that ran at the previous heartbeat. */
  #known: ReadonlySet<string> = new Set();
  /** Number of successive heartbeats that were in time and did not fail. */
  #inTime = 0;
  #lastAtMs = 0;

  constructor(options: ClaimKeeperOptions) {
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
    // After an outage of the database, or a pause of this process, other workers first get time to touch their claims.
    const nowMs = performance.now();
    this.#inTime = nowMs - this.#lastAtMs < 2 * this.#options.heartbeatMs ? this.#inTime + 1 : 0;
    this.#lastAtMs = nowMs;
    if (this.#inTime >= HEARTBEATS_MISSED_MAX) await this.#reopenExpired(touchedAt);
  }

  /** Touches the running claims. Returns the time of that by the database's clock. */
  async #touch(): Promise<string> {
    const running = this.#options.running();
    const long = running.filter((claim) => this.#known.has(keyOf(claim)));
    this.#known = new Set(running.map(keyOf));
    // Without claims, the statement still checks that the database answers.
    const { rows } = await this.#options.pool.query<{ at: string }>(TOUCH, [
      long.map(({ id }) => id),
      long.map(({ attempt }) => attempt),
      this.#options.queues,
    ]);
    return (rows[0] as { at: string }).at;
  }

  /** Expiry counts up to the touch, so that a pause of this process between the two statements does not expire its own claims. */
  async #reopenExpired(touchedAt: string): Promise<void> {
    const { pool, queues, heartbeatMs, onReopened } = this.#options;
    const coldMs = HEARTBEATS_MISSED_MAX * heartbeatMs;
    const { rows } = await pool.query<ReopenedClaim>(REOPEN_EXPIRED, [queues, coldMs, touchedAt]);
    if (rows.length > 0) await onReopened(rows);
  }
}

const keyOf = ({ id, attempt }: Claim): string => `${id} ${attempt}`;
