// Counts a tenant's undelivered messages. The sandbox's flush returns their number, and draining the test clock waits for them (X5, X7).
import type { DeliveryId, Tenant } from '../../domain/kernel/ids.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import type { Accounts } from '../core/accounts.ts';
import type { Quiescence } from '../core/quiescence.ts';
import { SharedLooks } from '../core/sharedLooks.ts';
import type { JobQueue } from '../ports/jobs.ts';
import type { DeliveryReads, MessageUnderWay } from '../ports/readModels/webhookDeliveries.ts';
import { deliver } from './webhookDelivery.ts';

/** Maximum number of messages read at once. */
const LISTED_MAX = 1_000;

interface Needs {
  readonly jobs: JobQueue;
  readonly accounts: Accounts;
  readonly deliveries: DeliveryReads;
  readonly quiescence: Quiescence;
}

/** Returns the tenant's deliveries in running jobs, in any process. */
export const deliveriesRunning =
  ({ jobs }: Pick<Needs, 'jobs'>) =>
  async (tenant: Tenant): Promise<readonly DeliveryId[]> =>
    (await jobs.running(deliver, tenant)).map(({ deliveryId }) => deliveryId);

/**
 * Waits until no message of the tenant is due, at most `timeoutMs`. Returns how many are still due, including those not yet scheduled, and
 * how many are held back because their target fails. The tenant's calls share their looks.
 */
export const whenDelivered = (needs: Needs) => {
  const { accounts, deliveries, quiescence } = needs;
  const looks = new SharedLooks<{ readonly due: number; readonly held: number }>(
    quiescence.moving,
    ({ due }) => due === 0,
  );
  return (tenant: Tenant, timeoutMs: number) =>
    looks.until(`${tenant.mode}/${tenant.accountId}`, timeoutMs, async (lookMs) => {
      const unwritten = await quiescence.unwritten(tenant, lookMs);
      const now = await accounts.now(tenant.accountId, tenant.mode);
      const { due, held } = await deliveries.countDue(tenant, now, await deliveriesRunning(needs)(tenant));
      return { due: due + unwritten, held };
    });
};

/** Selects messages to wait for: due by `until` (account time) or with an id in `sent`, and accepted by `isWaitedFor`. */
export interface AwaitedMessages {
  readonly until: Timestamp;
  readonly sent: ReadonlySet<string>;
  readonly isWaitedFor: (message: MessageUnderWay) => boolean;
}

/**
 * Waits until all events are processed, no job of the tenant runs and every message is scheduled. Then waits, at most `graceMs`, until no
 * awaited message is under way. Returns the messages that are still under way, or null if the first part took longer than `timeoutMs`.
 */
export const messagesUnderWay =
  ({ deliveries, quiescence }: Pick<Needs, 'deliveries' | 'quiescence'>) =>
  async (
    tenant: Tenant,
    { until, sent, isWaitedFor }: AwaitedMessages,
    graceMs: number,
    timeoutMs: number,
  ): Promise<readonly MessageUnderWay[] | null> => {
    if (!(await quiescence.whenIdle(tenant, timeoutMs))) return null;
    const written = async () => ((await quiescence.unwritten(tenant, timeoutMs)) === 0 ? true : null);
    if ((await quiescence.until(timeoutMs, written)) === null) return null;
    let found: readonly MessageUnderWay[] = [];
    await quiescence.until(graceMs, async () => {
      // A delivered message may have caused another.
      if ((await written()) === null) return null;
      found = await deliveries.underWay(tenant, until, [...sent], LISTED_MAX);
      return found.some(isWaitedFor) ? null : true;
    });
    return found;
  };
