// Adapters of webhooks.
import type { DeletesDeliveries } from '../../application/ports/deliveryRetention.ts';
import type { EventStore } from '../../application/ports/eventStore.ts';
import type { ProbeRule } from '../../application/ports/failingTargets.ts';
import type { JobQueue } from '../../application/ports/jobs.ts';
import type { SqlPool } from '../../application/ports/sql.ts';
import type { WebhookSender } from '../../application/ports/webhookSender.ts';
import { type Closing, capabilityAdapters } from '../capabilityAdapters.ts';
import { failingTargets } from '../deliveries/failingTargets.ts';
import { redrives } from '../deliveries/redrives.ts';
import { scheduledDeliveries } from '../deliveries/scheduledDeliveries.ts';
import { SubscriptionIndex } from '../deliveries/subscriptionIndex.ts';
import type { Log } from '../log/log.ts';
import { reportingBlocked, securityLog } from '../monitoring/securityLog.ts';
import type { SecretsKeyring } from '../secrets/keyring.ts';
import { webhookSecrets } from '../secrets/webhookSecrets.ts';
import { openThreadedSender } from '../webhookSender/threadedSender.ts';
import type { WebhookSenderOptions } from '../webhookSender/webhookSender.ts';

interface World extends Closing {
  readonly storage: {
    readonly operations: SqlPool;
    readonly derived: SqlPool;
    readonly store: Pick<EventStore, 'onRestored'> & Pick<DeletesDeliveries, 'isDeleted'>;
  };
  readonly jobs: JobQueue;
  readonly keyring: SecretsKeyring;
  readonly log: Log;
  readonly webhookAllowPrivate: boolean;
  /** How many real days a delivery is kept after its last event. */
  readonly webhookRetentionDays: number;
  /** Kind of the timers for delivery attempts. */
  readonly attempts: string;
  /** When a failing target is probed. */
  readonly probeRule: ProbeRule;
  /** SQL condition under which the read model shows a delivery. */
  readonly isShown: (id: string) => string;
  /** Overrides the webhook sender's deadline or resolver. */
  readonly webhookSender?: Pick<WebhookSenderOptions, 'deadlineMs' | 'resolver'>;
}

/** Creates the in-memory indexes of processes, by the name that the process declares. */
export const processMemories = new Map([['subscriptions', () => new SubscriptionIndex()]]);

/** A resolver can't be cloned into a thread. */
const openSender = async (
  { webhookAllowPrivate: allowPrivate, webhookSender: own }: Pick<World, 'webhookAllowPrivate' | 'webhookSender'>,
  log: Log,
): Promise<WebhookSender> => {
  if (own?.resolver === undefined)
    return openThreadedSender({ allowPrivate, ...own }, (err) => log.error({ err }, 'the thread of webhooks failed'));
  const { openWebhookSender } = await import('../webhookSender/webhookSender.ts');
  return openWebhookSender({ allowPrivate, ...own });
};

const adapters = async ({ storage, keyring, log, jobs, closing, ...world }: World) => {
  const { operations, derived, store } = storage;
  const sender = await openSender(world, log);
  closing(() => sender.close());
  const secrets = webhookSecrets(operations, keyring);
  store.onRestored(() => secrets.forgetAll());
  return {
    sender: reportingBlocked(sender, securityLog(log)),
    secrets,
    targets: failingTargets(derived, world.attempts, world.probeRule),
    scheduled: scheduledDeliveries(derived, jobs, world.isShown),
    redrives: redrives(operations, jobs),
    retentionDays: world.webhookRetentionDays,
    isDeleted: store.isDeleted,
  };
};

export const webhooks = capabilityAdapters({ adapters, terminal: () => import('./terminal.ts') });
