// Expired sessions, failed logins and password links are removed.
import { expect } from 'chai';
import { type AccountsNeeds, accounts } from '../../../application/accounts/capability.ts';

describe('the upkeep of accounts', () => {
  it('removes expired sessions, failed logins and password links four times an hour', async () => {
    const asked: string[] = [];
    const old = (what: string) => ({ forgetOld: async () => void asked.push(what) });
    const needs = { sessions: old('sessions'), failures: old('failures'), links: old('links') };
    const [task, ...others] = accounts.upkeep ?? [];
    await task?.run(needs as unknown as AccountsNeeds);
    expect([asked, others, task?.pattern]).to.deep.equal([
      ...[['sessions', 'failures', 'links'], [], '0 7,22,37,52 * * * *'],
    ]);
  });
});
