// Operators' lists of dead-lettered deliveries, across accounts.

import { ACCOUNT } from '../../domain/account/account.ts';
import type { AccountId, Mode, Tenant } from '../../domain/kernel/ids.ts';
import { PAYMENT } from '../../domain/payment/aggregate.ts';
import { WEBHOOK_DELIVERY } from '../../domain/webhookDelivery/webhookDelivery.ts';
import { WEBHOOK_ENDPOINT } from '../../domain/webhookEndpoint/webhookEndpoint.ts';
import type { Accounts } from '../core/accounts.ts';
import { StreamUnreadable, unlessUnreadable } from '../core/commandHandler.ts';
import type { DeadLetterReads } from '../ports/readModels/webhookDeliveries.ts';

export interface DeadLetterNeeds {
  readonly accounts: Accounts;
  readonly deadLetters: DeadLetterReads;
}

interface DeadLetterItem {
  readonly id: string;
  readonly accountId: string;
  readonly mode: Mode;
  /** null if the message is not about a payment. */
  readonly paymentId: string | null;
  readonly eventType: string;
  /** null if sent to the payment's own URL. */
  readonly endpointId: string | null;
  readonly createdAt: string;
}

/** Returns the counts of one account or (null) of all. */
const countsOf = async ({ deadLetters }: Pick<DeadLetterNeeds, 'deadLetters'>, wanted: AccountId | null) =>
  (await deadLetters.tenants()).filter(({ tenant }) => wanted === null || tenant.accountId === wanted);

/** Returns the accounts and modes with dead-lettered deliveries, of one account or (null) of all. */
export const tenantsWithDeadLetters =
  (needs: Pick<DeadLetterNeeds, 'deadLetters'>) =>
  async (wanted: AccountId | null): Promise<readonly Tenant[]> =>
    (await countsOf(needs, wanted)).map(({ tenant }) => tenant);

/**
 * Returns dead-lettered deliveries by account and mode, oldest first, of one account or (null) of all. Those of unreadable accounts are
 * only counted. Throws StreamUnreadable if the one account is unreadable.
 */
export const listDeadLetters =
  (needs: DeadLetterNeeds) =>
  async (
    accountId: AccountId | null,
    limit: number,
  ): Promise<{ readonly deliveries: readonly DeadLetterItem[]; readonly total: number }> => {
    const { accounts, deadLetters } = needs;
    const deliveries: DeadLetterItem[] = [];
    const counts = await countsOf(needs, accountId);
    const total = counts.reduce((sum, { deliveries: count }) => sum + count, 0);
    for (const { tenant } of counts) {
      const room = limit - deliveries.length;
      if (room === 0) break;
      const until = await unlessUnreadable(accounts.now(tenant.accountId, tenant.mode));
      if (until instanceof StreamUnreadable) {
        if (accountId !== null) throw until;
        continue;
      }
      const found = await deadLetters.oldest(tenant, until, room);
      for (const { id, delivery } of found)
        deliveries.push({
          id: WEBHOOK_DELIVERY.idPrefix + id,
          accountId: ACCOUNT.idPrefix + tenant.accountId,
          mode: tenant.mode,
          paymentId: delivery.paymentId && PAYMENT.idPrefix + delivery.paymentId,
          eventType: delivery.eventType,
          endpointId: delivery.endpointId === null ? null : WEBHOOK_ENDPOINT.idPrefix + delivery.endpointId,
          createdAt: delivery.scheduledAt,
        });
    }
    return { deliveries, total };
  };
