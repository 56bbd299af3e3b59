// Adding users, logins, password changes and disabling users, including crashes between two writes (rules D1, D2).
import { expect } from 'chai';
import { metadataForChange } from '../../../application/core/eventMetadata.ts';
import {
  ACCOUNT,
  type AccountEvent,
  type AccountState,
  reopenAccount,
  suspendAccount,
} from '../../../domain/account/account.ts';
import type { Decision } from '../../../domain/kernel/decider.ts';
import { PLATFORM_ACCOUNT, type UserId } from '../../../domain/kernel/ids.ts';
import { isRejection } from '../../../domain/kernel/rejection.ts';
import { type Core, openCore } from '../../support/core.ts';
import { type AccessScene, BY, openAccess, PASSWORD } from './accessScene.ts';

const OTHER = 'outra senha de teste';

describe('users', () => {
  let core: Core;
  let scene: AccessScene;
  before(async () => {
    core = await openCore();
  });
  after(() => core.close());
  beforeEach(() => {
    scene = openAccess(core);
  });

  const dieAtAppend = () => {
    scene.core.spies.beforeAppend = async () => {
      throw new Error('killed');
    };
  };
  const goOn = () => {
    scene.core.spies.beforeAppend = null;
  };
  const added = async (wish: Parameters<AccessScene['add']>[0] = {}): Promise<UserId> => {
    const userId = await scene.add(wish);
    if (isRejection(userId)) throw new Error(userId.message);
    return userId;
  };

  describe('when added', () => {
    it('reject a second user with the same address in any letter case, and keep the first password', async () => {
      await added();
      for (const email of ['ana@example.com', 'ANA@Example.com']) {
        const again = await scene.add({ email, password: OTHER });
        expect(isRejection(again) && [again.code, again.param]).to.deep.equal(['invalid_request', 'email']);
      }
      expect(await scene.logIn(OTHER)).to.equal('unauthorized');
      expect(await scene.logIn()).to.match(/^\w{26}$/);
    });
    it('are completed with the repeat’s password after a crash before the event', async () => {
      dieAtAppend();
      expect(await scene.add().catch((error: Error) => error.message)).to.equal('killed');
      expect(await scene.logIn()).to.equal('unauthorized');
      goOn();
      const userId = await added({ password: OTHER });
      expect(await scene.eventsOf(userId)).to.deep.equal(['UserAdded']);
      expect(await scene.logIn()).to.equal('unauthorized');
      expect(await scene.logIn(OTHER)).to.match(/^\w{26}$/);
    });
    it('reject one of two concurrent additions with the same address, and keep the other’s password', async () => {
      const wishes = [PASSWORD, OTHER];
      const results = await Promise.all(wishes.map((password) => scene.add({ password })));
      expect(results.filter(isRejection)).to.have.length(1);
      const won = wishes[results.findIndex((result) => !isRejection(result))] as string;
      for (const password of wishes)
        expect((await scene.logIn(password)) === 'unauthorized', password).to.equal(password !== won);
    });
    it('leave nothing behind if the role is rejected', async () => {
      const refused = await scene.add({ role: 'OPERATOR' });
      expect(isRejection(refused) && [refused.code, refused.param]).to.deep.equal(['invalid_request', 'role']);
      expect(scene.asked).to.deep.equal([]);
      expect(await scene.logIn()).to.equal('unauthorized');
      await added();
    });
  });

  describe('when they log in', () => {
    it('cost the same work for an unknown address as for a wrong password: one hash and the same reads', async () => {
      await added();
      const workOf = async (email: string): Promise<readonly string[]> => {
        let reads = 0;
        scene.asked.length = 0;
        scene.core.spies.onRead = () => {
          reads += 1;
        };
        expect(await scene.logIn('wrong password', email)).to.equal('unauthorized');
        scene.core.spies.onRead = null;
        return [...scene.asked, `${reads} streams read`];
      };
      const [known, unknown] = [await workOf('ana@example.com'), await workOf('nobody@example.com')];
      expect(unknown).to.deep.equal(known);
      expect(known).to.deep.equal([
        ...['failures.count', 'emails.find', 'passwords.find', 'hasher.isRight', 'failures.record', '1 streams read'],
      ]);
    });
    it('wait one second per 20 earlier failures, at most 10 seconds, and are never rejected for them', async () => {
      await added();
      for (const [failures, expected] of [
        [0, []],
        [19, []],
        [20, [1_000]],
        [39, [1_000]],
        [40, [2_000]],
        [200, [10_000]],
        [100_000, [10_000]],
      ] as const) {
        scene.failed.set('ana@example.com', failures);
        scene.paused.length = 0;
        expect(await scene.logIn()).to.match(/^\w{26}$/);
        expect(scene.paused, `${failures} failures`).to.deep.equal(expected);
        // A success does not change the number of failures.
        expect(scene.failed.get('ana@example.com')).to.equal(failures);
      }
    });
    it('wait for unknown addresses too, so that delays reveal nothing', async () => {
      for (let i = 0; i < 21; i++) await scene.logIn(PASSWORD, 'Nobody@example.com');
      expect(scene.paused).to.deep.equal([1_000]);
      await scene.logIn(PASSWORD, 'other@example.com');
      expect(scene.paused).to.deep.equal([1_000]);
    });
    it('count the correct password of a disabled user as a failure, so that delays don’t reveal it', async () => {
      await scene.disable(await added());
      expect([await scene.logIn(), scene.failed.get('ana@example.com')]).to.deep.equal(['unauthorized', 1]);
    });
    it('are rejected if another process has suspended their account, despite this process’s cache', async () => {
      await added();
      const before = await scene.logIn();
      const { accountId } = core.account;
      const [other, at] = [core.anotherProcess(), core.accounts.realNow()];
      const change = <Reply>(decide: Decision<AccountState, AccountEvent, Reply>) =>
        other.execute(ACCOUNT, ACCOUNT.stream(accountId), decide, metadataForChange(BY, accountId, accountId));
      expect((await core.accounts.get(accountId)).suspendedAt).to.equal(null);
      await change(suspendAccount(at));
      try {
        expect([await scene.logIn(), await scene.isOpen(before)]).to.deep.equal(['unauthorized', false]);
      } finally {
        await change(reopenAccount(at));
      }
      expect(await scene.isOpen(await scene.logIn())).to.equal(true);
    });
  });

  describe('when they change their password', () => {
    it('keep the old password and all sessions after a crash before the event, and can repeat the change', async () => {
      const userId = await added();
      const [own, other] = [await scene.logIn(), await scene.logIn()];
      dieAtAppend();
      expect(await scene.change(own, PASSWORD, OTHER).catch((error: Error) => error.message)).to.equal('killed');
      goOn();
      expect([await scene.isOpen(own), await scene.isOpen(other)]).to.deep.equal([true, true]);
      expect(await scene.logIn(OTHER)).to.equal('unauthorized');
      expect(await scene.change(own, PASSWORD, OTHER)).to.equal(null);
      expect([await scene.isOpen(own), await scene.isOpen(other)]).to.deep.equal([true, false]);
      expect(await scene.eventsOf(userId)).to.deep.equal(['UserAdded', 'UserPasswordChanged']);
      // The hash stored by the crashed attempt is removed as well.
      expect(scene.hashes.size).to.equal(1);
    });
    it('keep only one of two concurrent new passwords, and the old one no longer works', async () => {
      await added();
      const [one, two] = [await scene.logIn(), await scene.logIn()];
      const NEW = ['primeira senha nova', 'segunda senha nova'] as const;
      const results = await Promise.all([scene.change(one, PASSWORD, NEW[0]), scene.change(two, PASSWORD, NEW[1])]);
      expect([...results].sort()).to.deep.equal([null, 'unauthorized'].sort());
      const won = results.indexOf(null);
      expect(await scene.logIn(NEW[won as 0 | 1])).to.match(/^\w{26}$/);
      expect(await scene.logIn(NEW[(1 - won) as 0 | 1])).to.equal('unauthorized');
      expect(await scene.logIn()).to.equal('unauthorized');
    });
    it('record a wrong current password as a failure', async () => {
      await added();
      const own = await scene.logIn();
      expect(await scene.change(own, OTHER, OTHER)).to.equal('invalid_request');
      expect(scene.failed.get('ana@example.com')).to.equal(1);
    });
    it('wait after 20 failures, as for a login', async () => {
      await added();
      const own = await scene.logIn();
      scene.failed.set('ana@example.com', 20);
      expect([await scene.change(own, PASSWORD, OTHER), scene.paused]).to.deep.equal([null, [1_000]]);
    });
  });

  it('record the account, mode and actor in the metadata of each event', async () => {
    const userId = await added();
    await scene.change(await scene.logIn(), PASSWORD, OTHER);
    await scene.disable(userId);
    await scene.enable(userId);
    const operator = await added({ accountId: null, role: 'OPERATOR', email: 'op@example.com' });
    await scene.disable(operator);
    const { accountId } = core.account;
    const of = (account: string) => ({ account, mode: 'live', actor: BY.actor });
    expect(await scene.reasonsOf(userId)).to.deep.equal(Array(4).fill(of(accountId)));
    expect(await scene.reasonsOf(operator)).to.deep.equal(Array(2).fill(of(PLATFORM_ACCOUNT)));
  });

  describe('when disabled', () => {
    it('lose their sessions and can’t log in; when enabled again, they need a new login', async () => {
      const userId = await added();
      const before = await scene.logIn();
      await scene.disable(userId);
      expect(await scene.isOpen(before)).to.equal(false);
      expect(await scene.logIn()).to.equal('unauthorized');
      await scene.enable(userId);
      expect(await scene.isOpen(before)).to.equal(false);
      expect(await scene.isOpen(await scene.logIn())).to.equal(true);
      expect(await scene.eventsOf(userId)).to.deep.equal(['UserAdded', 'UserDisabled', 'UserEnabled']);
    });
    it('lose their sessions after a crash between the event and their removal, even once enabled again', async () => {
      const userId = await added();
      const before = await scene.logIn();
      const { endOfUser } = scene.needs.sessions;
      scene.needs.sessions = { ...scene.needs.sessions, endOfUser: () => Promise.reject(new Error('killed')) };
      expect(await scene.disable(userId).catch((error: Error) => error.message)).to.equal('killed');
      expect(await scene.isOpen(before)).to.equal(false);
      scene.needs.sessions = { ...scene.needs.sessions, endOfUser };
      await scene.enable(userId);
      expect(await scene.isOpen(before)).to.equal(false);
    });
  });
});
