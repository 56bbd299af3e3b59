// What a process manager is: pure reactions to events; the work itself is done by jobs (architecture §7).
import type { Category } from '../../domain/kernel/event.ts';
import type { AccountId, Mode } from '../../domain/kernel/ids.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import type { JobRequest } from './jobs.ts';
import type { LoggedEvent } from './loggedEvent.ts';
import type { Timer, TimerKey } from './timers.ts';

export type Reaction =
  /** For the tenant of the event. */
  | { readonly kind: 'job'; readonly job: Omit<JobRequest, 'tenant'> }
  /** `first`: no timer of this kind and key was ever set before, so that clearing it at once needs no write. */
  | { readonly kind: 'timer'; readonly timer: Timer; readonly first?: true }
  | { readonly kind: 'clearTimer'; readonly timer: TimerKey }
  /** All timers of the group are due now: what they wait for has come, or is gone. */
  | { readonly kind: 'fireNow'; readonly timers: Pick<Timer, 'kind'> & { readonly group: string } }
  /** The clock of the account's test mode jumped, to `until`: what it jumped over is worked off in order (X5). */
  | {
      readonly kind: 'drainClock';
      readonly account: string;
      readonly offsetSeconds: number;
      readonly until: Timestamp;
    };

/** Who wants webhooks of a tenant's payments, as of the event that is reacted to. */
export interface Subscriptions {
  /** Active endpoints of the account and mode. */
  readonly endpoints: (
    account: AccountId,
    mode: Mode,
  ) => readonly { readonly endpointId: string; readonly events: readonly string[] }[];
  /** Whether a payment of the account and mode ever had a webhookUrl of its own (W7). */
  readonly hasWebhookUrls: (account: AccountId, mode: Mode) => boolean;
}

export interface ProcessManager {
  readonly name: string;
  readonly categories: readonly Category[];
  /** What it decides on is kept under its own checkpoint: the index knows what the log says before the event, and nothing else. */
  readonly decidesOn: 'event' | 'subscriptions';
  /** Money is moved by what follows: an operator who has it pass over an event must name it twice. */
  readonly movesMoney: boolean;
  /** Pure. Throwing parks the event's stream for this process, loudly; other streams and processes go on. */
  react(event: LoggedEvent, subscriptions: Subscriptions): readonly Reaction[];
}

/** Names its checkpoint, and it in commands of operators. */
export const consumerName = ({ name }: Pick<ProcessManager, 'name'>): string => `process/${name}`;
