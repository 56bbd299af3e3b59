// Every capability there is. Queues, timers, processes, workers, the watchdog and operators' commands are derived from this list.
import type { Capability } from './core/capability.ts';
import type { WatchdogNeeds } from './core/watchdog.ts';
import { type PaymentsNeeds, payments } from './payments/capability.ts';
import { type RefundsNeeds, refunds } from './refunds/capability.ts';
import { type SandboxNeeds, sandbox } from './sandbox/capability.ts';
import { type WebhooksNeeds, webhooks } from './webhooks/capability.ts';

/** What the work of all capabilities needs of the world. */
export type Needs = WatchdogNeeds & PaymentsNeeds & RefundsNeeds & WebhooksNeeds & SandboxNeeds;

export const CAPABILITIES: readonly Capability<Needs>[] = [payments, refunds, webhooks, sandbox];
