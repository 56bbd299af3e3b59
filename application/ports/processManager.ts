// What a process manager is: pure reactions to events; the work itself is done by jobs (architecture §7).
import type { JobRequest } from './jobs.ts';
import type { LoggedEvent } from './loggedEvent.ts';
import type { Sql } from './sql.ts';
import type { Timer, TimerKey } from './timers.ts';

export type Reaction =
  /** For the tenant of the event. */
  | { readonly kind: 'job'; readonly job: Omit<JobRequest, 'tenant'> }
  /** `first`: no timer of this kind and key was ever set before, so that clearing it at once needs no write. */
  | { readonly kind: 'timer'; readonly timer: Timer; readonly first?: true }
  | { readonly kind: 'clearTimer'; readonly timer: TimerKey }
  /** Makes all timers of the group due now, because what they wait for has come, or never will. */
  | { readonly kind: 'fireNow'; readonly timers: Pick<Timer, 'kind'> & { readonly group: string } }
  /** What a capability declares under the name of the effect is done, in the transaction that moves the process's checkpoint. */
  | { readonly kind: 'effect'; readonly effect: string; readonly about: unknown };

/** Does what the reactions to one batch ask of an effect, in their order. It may lock rows before any timer is written. */
export type EffectHandler = (asked: readonly unknown[], tx: Sql) => Promise<void>;

/** What a process knows of earlier events, kept under its own checkpoint, so that it is as of the event that is reacted to. */
export interface ProcessMemory {
  /** Replaces what is in memory, which may be out of date, by what is stored. */
  load(db: Sql): Promise<void>;
  /** Applies an event, in the transaction that moves the checkpoint. Returns null when it changes nothing, as nearly all. */
  take(logged: LoggedEvent, tx: Sql): Promise<void> | null;
}

export interface ProcessManager {
  readonly name: string;
  readonly categories: readonly string[];
  /** The name of the memory that `react` is given; null: it decides on the event alone. */
  readonly remembers: string | null;
  /** Whether its jobs move money. An operator who has such a process skip an event must name it a second time. */
  readonly movesMoney: boolean;
  /** Returns what the event leads to. Pure. Throwing parks the event's stream for this process; other streams and processes go on. */
  react(event: LoggedEvent, memory: unknown): readonly Reaction[];
}

/** Returns the name of the process as a consumer of the log: of its checkpoint, and in operators' commands. */
export const consumerName = ({ name }: Pick<ProcessManager, 'name'>): string => `process/${name}`;
