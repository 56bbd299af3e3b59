// An account is opened only when nothing but events is missing for its owner to log in (rules D2, O1).
import { expect } from 'chai';
import { createAccount } from '../../../application/accounts/operateAccounts.ts';
import { AppendOutcomeUnknown } from '../../../application/ports/eventStore.ts';
import { PasswordHashingBusy } from '../../../application/ports/logins.ts';
import type { ListedUser, UserViews } from '../../../application/ports/readModels/views.ts';
import type { AccountId, StreamName } from '../../../domain/kernel/ids.ts';
import { isRejection } from '../../../domain/kernel/rejection.ts';
import { type Core, openCore } from '../../support/core.ts';
import { type AccessScene, BY, openAccess, PASSWORD } from './accessScene.ts';

const WISH = { name: 'Loja', email: 'ana@example.com', password: PASSWORD };

describe('createAccount', () => {
  let core: Core;
  let scene: AccessScene;
  /** The categories of the streams to which events were appended. */
  let appended: string[];
  before(async () => {
    core = await openCore();
  });
  after(() => core.close());
  beforeEach(() => {
    scene = openAccess(core);
    appended = [];
    core.spies.beforeAppend = async (stream) => void appended.push(stream.split('-')[0] as string);
  });

  const NOBODY: Pick<UserViews, 'list'> = { list: async () => [] };
  const create = (over: Partial<AccessScene['needs']> = {}, users: Pick<UserViews, 'list'> = NOBODY) =>
    createAccount({ ...scene.needs, views: { users }, ...over, withTenantLock: (_, __, work) => work() })(WISH, BY);
  const created = async (...args: Parameters<typeof create>) => {
    const done = await create(...args);
    if (isRejection(done)) throw new Error(done.message);
    return done;
  };
  const refuse = async (): Promise<never> => {
    throw new PasswordHashingBusy('busy');
  };

  it('opens no account if the owner’s password can’t be hashed or stored, and one when the request is repeated', async () => {
    const { hasher, passwords, emails } = scene.needs;
    for (const over of [
      { hasher: { isRight: hasher.isRight, hash: refuse } },
      { emails: { find: emails.find, claim: refuse } },
      { passwords: { ...passwords, keep: refuse } },
    ])
      expect(await create(over).catch((error: Error) => error.message)).to.equal('busy');
    expect(appended).to.deep.equal([]);
    const { password } = await created();
    expect(appended).to.deep.equal(['account', 'keyring', 'keyring', 'user']);
    expect(password).to.equal(PASSWORD);
    expect(await scene.logIn()).to.match(/^\w{26}$/);
  });
  for (const [category, n] of [
    ['account', 1],
    ['keyring', 1],
    ['keyring', 2],
    ['user', 1],
  ] as const)
    it(`is completed by a repeat if append ${n} to the ${category} fails or its answer is lost`, async () => {
      for (const hook of ['beforeAppend', 'afterAppend'] as const) {
        scene = openAccess(core);
        const accounts = new Set<string>();
        let stream: StreamName;
        let left = n;
        const fail = async () => {
          if (stream.startsWith(`${category}-`) && --left === 0) throw new AppendOutcomeUnknown('cut off');
        };
        core.spies.beforeAppend = async (to) => {
          stream = to;
          if (to.startsWith('account-')) accounts.add(to);
          if (hook === 'beforeAppend') await fail();
        };
        core.spies.afterAppend = hook === 'afterAppend' ? fail : null;
        expect(await create().catch((error: Error) => error.message)).to.equal('cut off');
        const again = await create();
        core.spies.afterAppend = null;
        // The owner exists.
        if (category === 'user' && hook === 'afterAppend') expect(again).to.include({ code: 'invalid_request' });
        else expect([...accounts]).to.deep.equal([`account-${(again as { accountId: AccountId }).accountId}`]);
        expect([...accounts], hook).to.have.length(1);
        expect(await scene.logIn()).to.match(/^\w{26}$/);
      }
    });
  it('is another one if somebody else became a user of the account of a failed request', async () => {
    const streams: string[] = [];
    core.spies.beforeAppend = async (stream) => {
      streams.push(stream);
      if (stream.startsWith('user-') && streams.length < 5) throw new AppendOutcomeUnknown('cut off');
    };
    expect(await create().catch((error: Error) => error.message)).to.equal('cut off');
    const { accountId } = await created({}, { list: async () => [{} as ListedUser] });
    expect(streams[0])
      .to.match(/^account-/)
      .and.not.equal(`account-${accountId}`);
  });
  it('rejects an address in use without hashing a password', async () => {
    await create();
    scene.asked.length = 0;
    const again = await create();
    expect(isRejection(again) && [again.code, again.param]).to.deep.equal(['invalid_request', 'email']);
    expect(scene.asked).to.deep.equal(['emails.find']);
  });
});
