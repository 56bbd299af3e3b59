// The fault switches of the test server, and conditions on its state that tests wait for.
import { APPEND_BYTES_MAX, type CallError, type Endpoint } from './errors.ts';

export type Busy = 'Server Is Busy' | 'Server Is Not Ready';

export class Faults {
  /** Delay of every answer in ms. The operation itself happens at once. */
  delayMs = 0;
  /** Number of next appends that are written but never answered. */
  answersToLose = 0;
  /** Number of next batch appends that are answered twice. */
  answersToDouble = 0;
  /** Number of next appends that are not written and end with an ambiguous error. */
  appendsToFail = 0;
  busy: Busy | null = null;
  leaderElsewhere: Endpoint | null = null;
  serverFeaturesFail = false;
  /** If true, appends are accepted but not committed. */
  holding = false;
  /** Milliseconds by which the server's clock is ahead of this machine's. */
  clockAheadMs = 0;
  appendBytesMax = APPEND_BYTES_MAX;
  /** Maximum size of data and metadata of one event, as in servers from 24.10 on. Null for no check. */
  eventBytesMax: number | null = null;
  /** Number of next batch appends that are written, and whose stream ends with `streamEnd` instead of an answer. */
  streamsToEnd = 0;
  streamEnd: CallError | null = null;
  /** If true, all positions are invalid, as after a backup was restored and newer records were appended. */
  positionsUnknown = false;
  version = '23.10.0';

  /** Returns the server's time in milliseconds since 1970. */
  readonly now = (): number => Date.now() + this.clockAheadMs;

  /** Decrements a counter. Returns whether it was above 0. */
  take(counter: 'answersToLose' | 'answersToDouble' | 'appendsToFail' | 'streamsToEnd'): boolean {
    if (this[counter] === 0) return false;
    this[counter] -= 1;
    return true;
  }
}

/** Conditions on the server's state that tests wait for. They are checked after every change. */
export class Watch {
  readonly #waiters = new Set<() => void>();

  readonly happened = (): void => {
    for (const look of this.#waiters) look();
  };

  until(condition: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (!condition()) return;
        this.#waiters.delete(look);
        resolve();
      };
      this.#waiters.add(look);
      look();
    });
  }
}
