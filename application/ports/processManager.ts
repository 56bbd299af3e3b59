// What a process manager is: pure reactions to events; the work itself is done by job handlers (design §7).
import type { Category } from '../../domain/kernel/event.ts';
import type { JobRequest } from './jobs.ts';
import type { LoggedEvent } from './loggedEvent.ts';
import type { Timer, TimerKind } from './timers.ts';

export type Reaction =
  | { readonly kind: 'job'; readonly job: JobRequest }
  /** `first`: no timer of this kind and key was ever set before, so that clearing it at once needs no write. */
  | { readonly kind: 'timer'; readonly timer: Timer; readonly first?: true }
  | { readonly kind: 'clearTimer'; readonly timer: { readonly kind: TimerKind; readonly key: string } }
  /** All timers of the group are due now: what they wait for has come, or is gone. */
  | { readonly kind: 'hurry'; readonly timers: { readonly kind: TimerKind; readonly group: string } }
  /** The clock of the account's test mode jumped: what it jumped over is worked off in order (X5). */
  | { readonly kind: 'drainClock'; readonly account: string; readonly offsetSeconds: number };

export interface ReactionContext {
  /** Active endpoints of the event's account and mode, as of this point of the log. */
  readonly endpoints: (
    account: string,
    mode: string,
  ) => readonly { readonly endpointId: string; readonly events: readonly string[] }[];
  /** Whether a payment of the event's account and mode ever had a webhookUrl of its own, as of this point of the log (W7). */
  readonly hasWebhookUrls: (account: string, mode: string) => boolean;
}

export interface ProcessManager {
  readonly name: string;
  readonly categories: readonly Category[];
  /** Pure. Throwing halts this process loudly at this event; the others go on. */
  react(event: LoggedEvent, context: ReactionContext): readonly Reaction[];
}

export const job = (queue: JobRequest['queue'], item: string, group?: string): Reaction => ({
  kind: 'job',
  job: group === undefined ? { queue, item } : { queue, item, group },
});
