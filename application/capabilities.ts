// Every capability there is. Queues, timers, processes, workers, the watchdog and operators' commands are derived from this list.

import { type AccountsNeeds, accounts } from './accounts/capability.ts';
import { type Capability, jobsOf, processesOf } from './core/capability.ts';
import type { WatchdogNeeds } from './core/watchdog.ts';
import { type DisputesNeeds, disputes } from './disputes/capability.ts';
import { type PaymentsNeeds, payments } from './payments/capability.ts';
import { settle, settlementOf } from './payments/settle.ts';
import type { NotifiedWork } from './ports/providerNotifications.ts';
import { type RefundsNeeds, refunds } from './refunds/capability.ts';
import { refund } from './refunds/refundExecution.ts';
import { type RequestsNeeds, requests } from './requests/capability.ts';
import { type SandboxNeeds, sandbox } from './sandbox/capability.ts';
import { type WebhooksNeeds, webhooks } from './webhooks/capability.ts';

/** What the work of all capabilities needs of the world. */
export type Needs = WatchdogNeeds &
  PaymentsNeeds &
  RefundsNeeds &
  DisputesNeeds &
  WebhooksNeeds &
  SandboxNeeds &
  AccountsNeeds &
  RequestsNeeds;

export const CAPABILITIES: readonly Capability<Needs>[] = [
  payments,
  refunds,
  disputes,
  webhooks,
  accounts,
  sandbox,
  requests,
];

export const PROCESSES = processesOf(CAPABILITIES);
/** Names of the queues. */
export const QUEUES: readonly string[] = jobsOf(CAPABILITIES).map(({ kind }) => kind.name);

/** The jobs that notifications of providers lead to. */
export const NOTIFIED_WORK: NotifiedWork = {
  settlement: { queue: settle.name, requestOf: (key) => ({ queue: settle.name, ...settlementOf(key) }) },
  refund: {
    queue: refund.name,
    requestOf: (tenant, which) => ({ queue: refund.name, tenant, payload: { ...which } }),
  },
};
