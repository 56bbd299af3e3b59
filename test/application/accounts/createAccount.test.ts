// An account is opened only when nothing but events is missing for its owner to log in (rules D2, O1).
import { expect } from 'chai';
import { createAccount } from '../../../application/accounts/operateAccounts.ts';
import { PasswordHashingBusy } from '../../../application/ports/logins.ts';
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

  const create = (over: Partial<AccessScene['needs']> = {}) =>
    createAccount({ ...scene.needs, ...over, withTenantLock: (_, __, work) => work() })(WISH, BY);
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
    const created = await create();
    if (isRejection(created)) throw new Error(created.message);
    expect(appended).to.deep.equal(['account', 'keyring', 'keyring', 'user']);
    expect(created.password).to.equal(PASSWORD);
    expect(await scene.logIn()).to.match(/^\w{26}$/);
  });
  it('rejects an address in use without hashing a password', async () => {
    await create();
    scene.asked.length = 0;
    const again = await create();
    expect(isRejection(again) && [again.code, again.param]).to.deep.equal(['invalid_request', 'email']);
    expect(scene.asked).to.deep.equal(['emails.find']);
  });
});
