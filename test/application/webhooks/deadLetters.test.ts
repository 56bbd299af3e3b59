// The operators’ list of dead letters across many accounts.
import { expect } from 'chai';
import { type DeadLetterNeeds, listDeadLetters } from '../../../application/webhooks/deadLetters.ts';
import type { AccountId, DeliveryId, Tenant } from '../../../domain/kernel/ids.ts';

const ACCOUNTS = 10_000;
const tenantOf = (n: number): Tenant => ({ accountId: String(n).padStart(26, '0') as AccountId, mode: 'live' });

describe('the list of dead letters', () => {
  it('reads only the accounts whose dead letters it shows, and counts those of all', async () => {
    const asked: string[] = [];
    const delivery = { paymentId: null, eventType: 'payment.paid', endpointId: null, scheduledAt: '' };
    const needs = {
      accounts: { now: async () => '' },
      deadLetters: {
        tenants: async () => Array.from({ length: ACCOUNTS }, (_, n) => ({ tenant: tenantOf(n), deliveries: 3 })),
        oldest: async ({ accountId }: Tenant, _: unknown, limit: number) => {
          asked.push(accountId);
          return [1, 2, 3].slice(0, limit).map((n) => ({ id: `${accountId}${n}` as DeliveryId, delivery }));
        },
      },
    } as unknown as DeadLetterNeeds;
    const { deliveries, total } = await listDeadLetters(needs)(null, 5);
    expect([deliveries.length, total, asked.length]).to.deep.equal([5, 3 * ACCOUNTS, 2]);
    const own = await listDeadLetters(needs)(tenantOf(7).accountId, 5);
    expect([own.deliveries.length, own.total]).to.deep.equal([3, 3]);
  });
});
