// A change of sandbox settings holds in every process when its call returns (rules O2, X3).
import { expect } from 'chai';
import { changeSandboxSettings } from '../../../application/sandbox/changeSandboxSettings.ts';
import { type Core, openCore } from '../../support/core.ts';

describe('changeSandboxSettings', () => {
  let core: Core;
  before(async () => {
    core = await openCore();
  });
  after(() => core.close());

  it('announces the recorded change before it returns, also if nothing changed', async () => {
    const { accountId } = core.account;
    const told: unknown[] = [];
    const announce = async (of: typeof accountId) => {
      told.push([of, (await core.accounts.refresh(accountId)).sandbox.rateLimitPerMinute]);
    };
    const change = changeSandboxSettings({ ...core, leases: { announce } });
    for (const settings of [{ rateLimitPerMinute: 30 }, { rateLimitPerMinute: 30 }, {}])
      expect(await change(accountId, settings, { actor: 'key:test', requestId: 'r1' })).to.include({
        rateLimitPerMinute: 30,
      });
    expect(told).to.deep.equal([
      [accountId, 30],
      [accountId, 30],
    ]);
  });
});
