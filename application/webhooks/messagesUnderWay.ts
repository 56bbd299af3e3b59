// Whether a tenant's messages have come to rest: what the sandbox's flush answers, and what the drain of its clock waits for (X5, X7).
import type { DeliveryId } from '../../domain/kernel/ids.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import type { Accounts } from '../core/accounts.ts';
import type { Quiescence } from '../core/quiescence.ts';
import type { JobQueue } from '../ports/jobs.ts';
import type { Tenant } from '../ports/paymentProvider.ts';
import type { DeliveryReads, MessageUnderWay } from '../ports/readModels/webhookDeliveries.ts';
import { deliver } from './webhookDelivery.ts';

/** Messages under way that are looked at one by one. */
const LISTED_MAX = 1_000;

interface Needs {
  readonly jobs: JobQueue;
  readonly accounts: Accounts;
  readonly deliveries: DeliveryReads;
  readonly quiescence: Quiescence;
}

/** Returns the deliveries in the jobs that run now, in any process. */
export const deliveriesRunning =
  ({ jobs }: Pick<Needs, 'jobs'>) =>
  async (): Promise<readonly DeliveryId[]> =>
    (await jobs.running(deliver)).map(({ deliveryId }) => deliveryId);

/** Returns how many messages of the tenant are due: when none is, or after `timeoutMs`; and how many are held back. */
export const whenDelivered =
  (needs: Needs) =>
  async (tenant: Tenant, timeoutMs: number): Promise<{ readonly due: number; readonly held: number }> => {
    const { accounts, deliveries, quiescence } = needs;
    let counted = { due: 0, held: 0 };
    await quiescence.until(timeoutMs, async () => {
      const unwritten = await quiescence.unwritten(tenant, timeoutMs);
      const now = await accounts.now(tenant.accountId, tenant.mode);
      const { due, held } = await deliveries.countDue(tenant, now, await deliveriesRunning(needs)());
      counted = { due: due + unwritten, held };
      return counted.due === 0 ? true : null;
    });
    return counted;
  };

/** Messages count that are due by `until`, or were `sent` before their time. */
export interface AwaitedMessages {
  readonly until: Timestamp;
  readonly sent: ReadonlySet<string>;
  readonly isWaitedFor: (message: MessageUnderWay) => boolean;
}

/**
 * Resolves when all events have been reacted to, nothing that was begun for the tenant runs, and no message that is waited for is under
 * way; then, or `graceMs` later, with all that are. null: the rest did not come about within `timeoutMs`.
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
      // A message that ended may have led to another.
      if ((await written()) === null) return null;
      found = await deliveries.underWay(tenant, until, [...sent], LISTED_MAX);
      return found.some(isWaitedFor) ? null : true;
    });
    return found;
  };
