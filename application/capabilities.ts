// The list of all capabilities. Use cases and their needs, queues, timers, processes, workers, the watchdog, operators' commands and
// account settings are derived from it.

import { accounts } from './accounts/capability.ts';
import { analytics } from './analytics/capability.ts';
import { audit } from './audit/capability.ts';
import {
  declaredSettingsOf,
  jobsOf,
  type NeedsOfAll,
  notifiedWorkOf,
  type OperatingOf,
  type OperatorsOf,
  processesOf,
  type UseCasesOf,
} from './core/capabilityList.ts';
import type { WatchdogNeeds } from './core/watchdog.ts';
import { disputes } from './disputes/capability.ts';
import { operations } from './operations/capability.ts';
import { payments } from './payments/capability.ts';
import { settle, settlementOf } from './payments/settle.ts';
import { payouts } from './payouts/capability.ts';
import { privacy } from './privacy/capability.ts';
import { providers } from './providers/capability.ts';
import { refunds } from './refunds/capability.ts';
import { requests } from './requests/capability.ts';
import { sandbox } from './sandbox/capability.ts';
import { statements } from './statements/capability.ts';
import { webhooks } from './webhooks/capability.ts';

/** The order matters: events contain account settings and sandbox switches in this order. */
export const CAPABILITIES = [
  payments,
  refunds,
  payouts,
  accounts,
  disputes,
  webhooks,
  privacy,
  sandbox,
  requests,
  operations,
  providers,
  statements,
  audit,
  analytics,
] as const;
type Capabilities = typeof CAPABILITIES;

/** External dependencies of all capabilities. */
export type Needs = WatchdogNeeds & NeedsOfAll<Capabilities>;
/** External dependencies of operators' use cases. */
export type OperatorsNeeds = OperatingOf<Capabilities>;
/** Use cases that routes call for merchants and payers. */
export type Services = UseCasesOf<Capabilities>;
/** Use cases that operators of the platform call, by a request or on the command line. */
export type Platform = OperatorsOf<Capabilities>;

export const DECLARED_SETTINGS = declaredSettingsOf(CAPABILITIES);
export const PROCESSES = processesOf(CAPABILITIES);
/** Names of the queues. */
export const QUEUES: readonly string[] = jobsOf(CAPABILITIES).map(({ kind }) => kind.name);
export const NOTIFIED_WORK = notifiedWorkOf(CAPABILITIES, settle, settlementOf);
