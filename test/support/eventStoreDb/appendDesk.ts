// Stands between the append services and the log: holds appends, drops repeats that race their original, and loses answers.
import type { Faults, Watch } from './faults.ts';
import type { Log, Verdict } from './log.ts';
import type { Expected, ProposedEvent } from './record.ts';
import { after } from './timers.ts';

export interface AppendRequest {
  readonly stream: string;
  readonly expected: Expected;
  readonly events: readonly ProposedEvent[];
}

export type Outcome = Verdict | { readonly kind: 'timedOut' } | { readonly kind: 'failed' };

interface Held {
  readonly request: AppendRequest;
  /** Answers once; later calls have no effect. */
  readonly answer: (outcome: Outcome) => void;
}

export class AppendDesk {
  readonly #log: Log;
  readonly #faults: Faults;
  readonly #watch: Watch;
  readonly #writeTimeoutMs: number;
  #held: Held[] = [];
  /** Number of append requests received, repeats included. */
  received = 0;

  constructor(log: Log, faults: Faults, watch: Watch, writeTimeoutMs: number) {
    this.#log = log;
    this.#faults = faults;
    this.#watch = watch;
    this.#writeTimeoutMs = writeTimeoutMs;
  }

  get held(): number {
    return this.#held.length;
  }

  /**
   * Calls `answer` once, in the same turn unless the append is held, or never if the answer is lost. An append with an id in flight is
   * silently dropped. Dropped and held appends are answered with `timedOut` after the write timeout.
   */
  take(request: AppendRequest, answer: (outcome: Outcome) => void): void {
    this.received += 1;
    const { stream, expected, events } = request;
    if (this.#isInFlight(request)) after(this.#writeTimeoutMs, () => answer({ kind: 'timedOut' }));
    else if (this.#faults.take('appendsToFail')) answer({ kind: 'failed' });
    else if (this.#faults.holding) this.#hold(request, answer);
    else this.#answer(this.#log.append(stream, expected, events), answer);
    this.#watch.happened();
  }

  /** Commits held appends in the order of their arrival. */
  release(): void {
    const held = this.#held;
    this.#held = [];
    for (const { request, answer } of held) {
      this.#answer(this.#log.append(request.stream, request.expected, request.events), answer);
    }
    this.#watch.happened();
  }

  /** Drops held appends, like a process that is killed. */
  drop(): void {
    this.#held = [];
  }

  #answer(verdict: Verdict, answer: (outcome: Outcome) => void): void {
    if (this.#faults.take('answersToLose')) return;
    answer(verdict);
  }

  #hold(request: AppendRequest, answer: (outcome: Outcome) => void): void {
    let answered = false;
    const once = (outcome: Outcome): void => {
      if (answered) return;
      answered = true;
      answer(outcome);
    };
    this.#held.push({ request, answer: once });
    after(this.#writeTimeoutMs, () => once({ kind: 'timedOut' }));
  }

  #isInFlight({ events }: AppendRequest): boolean {
    const ids = new Set(events.map(({ id }) => id));
    return this.#held.some(({ request }) => request.events.some(({ id }) => ids.has(id)));
  }
}
