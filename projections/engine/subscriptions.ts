// One reader of the log for the consumers that this process leads; the processes of a role share its consumers. Rows and checkpoints of a
// batch share a transaction. A failing event parks its stream; a consumer that fails as a whole gets its own lane; the others continue
// (architecture §6, §7).

import { type Position, UnknownPosition } from '../../application/ports/eventStore.ts';
import { repeating } from '../../application/ports/repeating.ts';
import { CheckpointMismatch } from './checkpoints.ts';
import { Leadership } from './leadership.ts';
import { readName } from './partitions.ts';
import { pause } from './pause.ts';
import type { RetryHooks } from './retry.ts';
import type { SubscriptionsOptions } from './subscriptionsOptions.ts';

/** Longest wait for running work when a leadership ends. */
const ENDING_MS_MAX = 2_000;
/** Interval at which requested retries are polled, because a notice may be missed. */
const LOOK_MS = 5_000;

export class Subscriptions {
  readonly #options: SubscriptionsOptions;
  readonly #stopping = new AbortController();
  readonly #hooks: RetryHooks;
  #running: Promise<void> = Promise.resolve();
  #leadership: Leadership | null = null;
  #attending: Promise<void> = Promise.resolve();
  #waiting: Promise<void> | null = null;
  /** Leaderships ended by a fault since the last processed batch. */
  #failures = 0;
  /** Whether the last position was missing in the log. Checkpoints may have been restored, too, so they are read once more. */
  #isLogDoubted = false;

  constructor(options: SubscriptionsOptions) {
    this.#options = options;
    const { role, store, codec, onMoved, onParked, onTaken } = options;
    const onWorked: SubscriptionsOptions['onMoved'] = (...progress) => {
      this.#failures = 0;
      this.#isLogDoubted = false;
      onMoved(...progress);
    };
    this.#hooks = {
      role,
      store,
      codec,
      onMoved: onWorked,
      ...(onParked && { onParked }),
      ...(onTaken && { onTaken }),
    };
  }

  start(): void {
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  /** Whether this process leads anything of its role. */
  get isLeading(): boolean {
    return this.led.length > 0;
  }

  /** Names of the consumers and duties of the role. */
  get names(): readonly string[] {
    const { consumers, duties = [] } = this.#options;
    return [...consumers.map(({ name }) => name), ...duties];
  }

  /** Names of the consumers, partitions and duties that this process leads. */
  get led(): readonly string[] {
    return this.#leadership?.led ?? [];
  }

  /** Whether the consumer's tables have a newer version that no living process can lead: that version was rolled back. */
  isOrphaned(name: string): boolean {
    return this.#leadership?.isOrphaned(name) === true;
  }

  /** Returns the number of partitions of the consumer that this process leads: 1 if it leads a consumer that is not divided, or a duty. */
  ledOf(consumer: string): number {
    return this.led.filter((name) => readName(name).consumer === consumer).length;
  }

  /** Returns the consumers that failed as a whole, with their errors. */
  faults(): readonly { readonly name: string; readonly error: Error }[] {
    const members = this.#leadership?.lanes.members ?? [];
    return members.flatMap(({ consumer, fault }) => (fault ? [{ name: consumer.name, error: fault }] : []));
  }

  /** Returns the positions of the consumers that this process leads, by the names of their checkpoints. */
  positions(): ReadonlyMap<string, Position | null> {
    const members = this.#leadership?.lanes.members ?? [];
    return new Map(members.map(({ name, position }) => [name, position]));
  }

  /** Performs requested retries of parked streams, of the consumers that this process leads. */
  attend(): Promise<void> {
    if (this.#waiting !== null) return this.#waiting; // it has not polled yet
    this.#waiting = this.#attending
      .then(() => {
        this.#waiting = null;
        return this.#leadership?.lanes.attend();
      })
      .catch(async (error: Error) => {
        // If the leadership ends meanwhile, it reports that itself, and the next one polls again.
        const leadership = this.#leadership;
        if (leadership === null || this.#stopping.signal.aborted) return;
        const goesOn = await leadership.turns
          .take((session) => session.query('SELECT'))
          .then(
            () => true,
            () => false,
          );
        if (goesOn) this.#options.onRestart?.(error);
      });
    this.#attending = this.#waiting;
    return this.#attending;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      try {
        await this.#leadOnce();
      } catch (error) {
        if (error instanceof CheckpointMismatch) return this.#options.onMismatch(error);
        if (error instanceof UnknownPosition && this.#isLogDoubted)
          return this.#options.onMismatch(new CheckpointMismatch(error.message));
        this.#isLogDoubted ||= error instanceof UnknownPosition;
        this.#options.onRestart?.(error as Error);
        await pause(Math.min(100 * 2 ** ++this.#failures, 5_000), signal);
      }
    }
  }

  async #leadOnce(): Promise<void> {
    const { openSession, role, onRestart = () => undefined } = this.#options;
    const session = await openSession(role);
    const over = new AbortController();
    const until = AbortSignal.any([this.#stopping.signal, over.signal]);
    const options = { ...this.#options, hooks: this.#hooks, onTook: () => void this.attend() };
    const leadership = new Leadership(session, options, until);
    const looking = repeating(LOOK_MS, () => this.attend());
    this.#leadership = leadership;
    try {
      await leadership.work();
      await atMost(leadership.lanes.store().catch(onRestart), ENDING_MS_MAX);
    } finally {
      this.#leadership = null;
      over.abort();
      void looking.stop();
      await Promise.all([leadership.lanes.close(), session.close()]);
      // Running work ends with its session. A silent session must not keep this process from leading again.
      await atMost(Promise.all([leadership.lanes.ended(), this.#attending]), ENDING_MS_MAX);
    }
  }
}

/** Resolves with the work, or after `ms` milliseconds. */
const atMost = async (work: Promise<unknown>, ms: number): Promise<void> => {
  const done = new AbortController();
  await Promise.race([work, pause(ms, done.signal)]);
  done.abort();
};
