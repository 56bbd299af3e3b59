// What a process manager is: pure reactions to events; the work itself is done by job handlers (architecture §7).
import type { Category } from '../../domain/kernel/event.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import type { JobRequest } from './jobs.ts';
import type { LoggedEvent } from './loggedEvent.ts';
import type { Timer, TimerKind } from './timers.ts';

export type Reaction =
  /** For the tenant of the event. */
  | { readonly kind: 'job'; readonly job: Omit<JobRequest, 'tenant'> }
  /** `first`: no timer of this kind and key was ever set before, so that clearing it at once needs no write. */
  | { readonly kind: 'timer'; readonly timer: Timer; readonly first?: true }
  | { readonly kind: 'clearTimer'; readonly timer: { readonly kind: TimerKind; readonly key: string } }
  /** All timers of the group are due now: what they wait for has come, or is gone. */
  | { readonly kind: 'hurry'; readonly timers: { readonly kind: TimerKind; readonly group: string } }
  /** The clock of the account's test mode jumped, to `until`: what it jumped over is worked off in order (X5). */
  | {
      readonly kind: 'drainClock';
      readonly account: string;
      readonly offsetSeconds: number;
      readonly until: Timestamp;
    };

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
  /** Pure. Throwing parks the event's stream for this process, loudly; other streams and processes go on. */
  react(event: LoggedEvent, context: ReactionContext): readonly Reaction[];
}

export const job = (queue: JobRequest['queue'], item: string, target?: string): Reaction => ({
  kind: 'job',
  job: target === undefined ? { queue, item } : { queue, item, target },
});
