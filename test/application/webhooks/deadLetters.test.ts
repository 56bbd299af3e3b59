// The operators’ list of dead letters across many accounts.
import { expect } from 'chai';
import { StreamUnreadable } from '../../../application/core/commandHandler.ts';
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

  it('leaves out those of an unreadable account, but counts them', async () => {
    const delivery = { paymentId: null, eventType: 'payment.paid', endpointId: null, scheduledAt: '' };
    const needs = {
      accounts: {
        now: async (id: AccountId) => {
          if (id === tenantOf(0).accountId) throw new StreamUnreadable('account-0');
          return '';
        },
      },
      deadLetters: {
        tenants: async () => [0, 1].map((n) => ({ tenant: tenantOf(n), deliveries: 1 })),
        oldest: async ({ accountId }: Tenant) => [{ id: accountId, delivery }],
      },
    } as unknown as DeadLetterNeeds;
    const { deliveries, total } = await listDeadLetters(needs)(null, 5);
    expect([deliveries.map(({ id }) => id), total]).to.deep.equal([[`wd_${tenantOf(1).accountId}`], 2]);
    const own = listDeadLetters(needs)(tenantOf(0).accountId, 5);
    expect(await own.catch((error: unknown) => error)).to.be.instanceOf(StreamUnreadable);
  });
});
