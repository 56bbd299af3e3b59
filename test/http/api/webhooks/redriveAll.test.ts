// A redrive of all accounts runs for several accounts at once, but not for all (rule O1).
import { expect } from 'chai';
import type { AccountId, Tenant } from '../../../../domain/kernel/ids.ts';
import { redriveAll } from '../../../../http/api/webhooks/operatorDeadLetters.ts';
import type { AppServices } from '../../../../http/kernel/serverContext.ts';

describe('a redrive of all accounts', () => {
  it('runs for eight accounts at once and adds up the results', async () => {
    const tenants = Array.from({ length: 24 }, (_, n): Tenant => ({ accountId: `a${n}` as AccountId, mode: 'live' }));
    let waiting: (() => void)[] = [];
    const asked: string[] = [];
    const services = {
      platform: { tenantsWithDeadLetters: async () => tenants },
      askRedrive: ({ tenant, isDryRun, actor }: { tenant: Tenant; isDryRun: boolean; actor: string }) =>
        new Promise((resolve) => {
          asked.push(`${tenant.accountId} ${isDryRun} ${actor}`);
          waiting.push(() => resolve({ matched: 3, queued: 2, redriveId: null }));
          if (waiting.length < 8) return;
          for (const answer of waiting) answer();
          waiting = [];
        }),
    } as unknown as AppServices;
    const done = await redriveAll(services, { dryRun: true }, { actor: 'user:1', requestId: 'r1' });
    expect(done).to.deep.equal({ matched: 72, queued: 48 });
    expect(asked).to.deep.equal(tenants.map(({ accountId }) => `${accountId} true user:1`));
  });
  it('runs for all others if one account fails, and then throws its error', async () => {
    const tenants = Array.from({ length: 10 }, (_, n): Tenant => ({ accountId: `a${n}` as AccountId, mode: 'live' }));
    const asked: string[] = [];
    const services = {
      platform: { tenantsWithDeadLetters: async () => tenants },
      askRedrive: async ({ tenant: { accountId } }: { tenant: Tenant }) => {
        asked.push(accountId);
        if (accountId === 'a3') throw new Error('a3 is unreadable');
        return { matched: 3, queued: 2, redriveId: null };
      },
    } as unknown as AppServices;
    await redriveAll(services, {}, { actor: 'user:1', requestId: 'r1' }).then(
      () => expect.fail(),
      (error: Error) => expect(error.message).to.equal('a3 is unreadable'),
    );
    expect(asked).to.deep.equal(tenants.map(({ accountId }) => accountId));
  });
});
