// The switches of the test server, and the one place where somebody can wait for what it has seen.
import { APPEND_BYTES_MAX, type CallError, type Endpoint } from './errors.ts';

export type Busy = 'Server Is Busy' | 'Server Is Not Ready';

export class Faults {
  /** Every answer waits this long; what it answers has already happened. */
  delayMs = 0;
  /** So many of the next appends are written and never answered. */
  answersToLose = 0;
  /** So many of the next batch appends are answered twice. */
  answersToDouble = 0;
  /** So many of the next appends are not written and end in an error of unknown meaning. */
  appendsToFail = 0;
  busy: Busy | null = null;
  leaderElsewhere: Endpoint | null = null;
  serverFeaturesFail = false;
  /** Appends are taken and not committed. */
  holding = false;
  /** Its clock is so far ahead of this machine's. */
  clockAheadMs = 0;
  appendBytesMax = APPEND_BYTES_MAX;
  /** Of data + metadata of one event, as servers from 24.10 on judge it; null: not judged. */
  eventBytesMax: number | null = null;
  /** So many of the next batch appends are written, and their stream is ended by `streamEnd` instead of an answer. */
  streamsToEnd = 0;
  streamEnd: CallError | null = null;
  /** No position is that of a record: the log was put back, and has grown since. */
  positionsUnknown = false;
  version = '23.10.0';

  /** By its own clock: milliseconds since 1970. */
  readonly now = (): number => Date.now() + this.clockAheadMs;

  /** Takes one from a counter. True if there was one. */
  take(counter: 'answersToLose' | 'answersToDouble' | 'appendsToFail' | 'streamsToEnd'): boolean {
    if (this[counter] === 0) return false;
    this[counter] -= 1;
    return true;
  }
}

/** Conditions on the server's state that somebody waits for; looked at whenever something has happened. */
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
