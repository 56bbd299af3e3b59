// An account’s logo changes under a lock, because two concurrent changes would each remove the other’s bytes.
import { expect } from 'chai';
import { replaceLogo } from '../../../application/accounts/changeLogo.ts';
import type { CommandHandler } from '../../../application/core/commandHandler.ts';
import type { CheckedLogo, Logos } from '../../../application/ports/logos.ts';
import type { WithTenantLock } from '../../../application/ports/tenantLock.ts';
import type { AccountId } from '../../../domain/kernel/ids.ts';
import { isRejection, reject } from '../../../domain/kernel/rejection.ts';
import { type Core, newId, openCore } from '../../support/core.ts';

const BY = { actor: 'operator:test', requestId: null };
const logo = (digit: string): CheckedLogo => ({
  contentType: 'image/png',
  bytes: Buffer.from(digit),
  sha256: digit.repeat(64),
});

describe('changeLogo', () => {
  let core: Core;
  before(async () => {
    core = await openCore();
  });
  after(() => core.close());

  it('keeps the bytes of the old and new logo during a change, under a lock, and removes those of a rejected one', async () => {
    const { accountId } = core.account;
    const done: unknown[] = [];
    let isLocked = false;
    const withTenantLock: WithTenantLock = async (of, what, work) => {
      expect([of, what, isLocked]).to.deep.equal([{ accountId, mode: 'live' }, 'logo', false]);
      isLocked = true;
      try {
        return await work();
      } finally {
        isLocked = false;
      }
    };
    const agreed = async () => (await core.accounts.refresh(accountId)).settings.logo;
    const note = async (what: string, of: readonly string[]) =>
      void done.push([isLocked, what, of.map(([digit]) => digit).join(), (await agreed())?.[0] ?? null]);
    const logos: Logos = {
      put: async (_, { sha256 }) => note('put', [sha256]),
      find: async () => null,
      keepOnly: async (_, kept) => note('keep', kept),
    };
    const { commands, accounts } = core;
    const needs = { commands, accounts, logos, withTenantLock, leases: { announce: async () => undefined } };
    const change = (to: CheckedLogo | null) => replaceLogo(needs)(accountId, to, BY);
    for (const to of [logo('a'), logo('b'), logo('b'), null]) await change(to);
    expect(done.splice(0)).to.deep.equal([
      [true, 'put', 'a', null],
      [true, 'keep', 'a,a', 'a'],
      [true, 'put', 'b', 'a'],
      [true, 'keep', 'b,a', 'b'],
      [true, 'put', 'b', 'b'],
      [true, 'keep', 'b,b', 'b'],
      [true, 'keep', '', null],
    ]);
    // If the account’s change limit is reached, the bytes of the rejected logo are removed and those of the current one are kept.
    await change(logo('d'));
    done.length = 0;
    const full = {
      load: commands.load.bind(commands),
      execute: async (...[of, stream, decide, ...rest]: Parameters<CommandHandler['execute']>) => {
        const { state } = await commands.load(of, stream);
        const decided = decide(state);
        const isChange = !isRejection(decided) && decided.events.length > 0;
        return isChange ? reject('change_limit_reached', 'Full.') : commands.execute(of, stream, decide, ...rest);
      },
    } as unknown as CommandHandler;
    for (const to of [logo('e'), null]) {
      const refused = await replaceLogo({ ...needs, commands: full })(accountId, to, BY);
      expect(isRejection(refused) && refused.code).to.equal('change_limit_reached');
    }
    expect(done.splice(0)).to.deep.equal([
      [true, 'put', 'e', 'd'],
      [true, 'keep', 'd', 'd'],
    ]);
    const nobody = newId<AccountId>();
    const anyLock: WithTenantLock = (_, __, work) => work();
    const refused = await replaceLogo({ ...needs, withTenantLock: anyLock })(nobody, logo('c'), BY);
    expect([isRejection(refused) && refused.code, done]).to.deep.equal(['not_found', []]);
  });
});
