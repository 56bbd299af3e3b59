// What webhooks need of the world.
import type { ProbeRule } from '../../application/ports/failingTargets.ts';
import type { JobQueue } from '../../application/ports/jobs.ts';
import type { SqlPool } from '../../application/ports/sql.ts';
import { failingTargets } from '../deliveries/failingTargets.ts';
import { redrives } from '../deliveries/redrives.ts';
import { scheduledDeliveries } from '../deliveries/scheduledDeliveries.ts';
import { SubscriptionIndex } from '../deliveries/subscriptionIndex.ts';
import type { Log } from '../log/log.ts';
import { reportingBlocked, securityLog } from '../monitoring/securityLog.ts';
import type { SecretsKeyring } from '../secrets/keyring.ts';
import { webhookSecrets } from '../secrets/webhookSecrets.ts';
import { openWebhookSender, type WebhookSenderOptions } from '../webhookSender/webhookSender.ts';

interface World {
  readonly storage: { readonly operations: SqlPool; readonly derived: SqlPool };
  readonly jobs: JobQueue;
  readonly keyring: SecretsKeyring;
  readonly log: Log;
  readonly webhookAllowPrivate: boolean;
  readonly webhookRetentionDays: number;
  readonly webhookSender?: Pick<WebhookSenderOptions, 'deadlineMs' | 'resolver'>;
}

/** What processes remember, by the name under which they declare it. */
export const processMemories = new Map([['subscriptions', () => new SubscriptionIndex()]]);

/** `attempts`: the kind of their timers. `isShown`: the condition under which the read model shows a delivery. */
export const webhookAdapters = (
  world: World,
  attempts: string,
  probeRule: ProbeRule,
  isShown: (id: string) => string,
) => {
  const { operations, derived } = world.storage;
  const sender = openWebhookSender({ allowPrivate: world.webhookAllowPrivate, ...world.webhookSender });
  return {
    sender: reportingBlocked(sender, securityLog(world.log)),
    secrets: webhookSecrets(operations, world.keyring),
    targets: failingTargets(derived, attempts, probeRule),
    scheduled: scheduledDeliveries(derived, world.jobs, isShown),
    redrives: redrives(operations, world.jobs),
    retentionDays: world.webhookRetentionDays,
  };
};
