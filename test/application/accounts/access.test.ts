// Users: added, logging in, changing passwords, shut out; also when the process dies between two writes (rules D1, D2).
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

  describe('added', () => {
    it('twice are one: the address is taken, in any case of letters, and the first password stays', async () => {
      await added();
      for (const email of ['ana@example.com', 'ANA@Example.com']) {
        const again = await scene.add({ email, password: OTHER });
        expect(isRejection(again) && [again.code, again.param]).to.deep.equal(['invalid_request', 'email']);
      }
      expect(await scene.logIn(OTHER)).to.equal('unauthorized');
      expect(await scene.logIn()).to.match(/^\w{26}$/);
    });
    it('and killed before the event: a repeat completes it, with its own password', async () => {
      dieAtAppend();
      expect(await scene.add().catch((error: Error) => error.message)).to.equal('killed');
      expect(await scene.logIn()).to.equal('unauthorized');
      goOn();
      const userId = await added({ password: OTHER });
      expect(await scene.eventsOf(userId)).to.deep.equal(['UserAdded']);
      expect(await scene.logIn()).to.equal('unauthorized');
      expect(await scene.logIn(OTHER)).to.match(/^\w{26}$/);
    });
    it('at once with another of the same address: one is, with its own password, and the other is refused', async () => {
      const wishes = [PASSWORD, OTHER];
      const results = await Promise.all(wishes.map((password) => scene.add({ password })));
      expect(results.filter(isRejection)).to.have.length(1);
      const won = wishes[results.findIndex((result) => !isRejection(result))] as string;
      for (const password of wishes)
        expect((await scene.logIn(password)) === 'unauthorized', password).to.equal(password !== won);
    });
    it('refused for the role: nothing is written', async () => {
      const refused = await scene.add({ role: 'OPERATOR' });
      expect(isRejection(refused) && [refused.code, refused.param]).to.deep.equal(['invalid_request', 'role']);
      expect(scene.asked).to.deep.equal([]);
      expect(await scene.logIn()).to.equal('unauthorized');
      await added();
    });
  });

  describe('log in', () => {
    it('and an address that nobody has costs the same work as a wrong password: one hash, the same reads', async () => {
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
    it('after 20 failures with answers that come later, and are never refused: a second for each 20, at most 10', async () => {
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
        // A success does not count, and takes nothing away.
        expect(scene.failed.get('ana@example.com')).to.equal(failures);
      }
    });
    it('late for addresses that nobody has, too: slowness tells nothing', async () => {
      for (let i = 0; i < 21; i++) await scene.logIn(PASSWORD, 'Nobody@example.com');
      expect(scene.paused).to.deep.equal([1_000]);
      await scene.logIn(PASSWORD, 'other@example.com');
      expect(scene.paused).to.deep.equal([1_000]);
    });
    it('and a right password of somebody who is shut out counts as a failure: slowness does not tell that it is right', async () => {
      await scene.disable(await added());
      expect([await scene.logIn(), scene.failed.get('ana@example.com')]).to.deep.equal(['unauthorized', 1]);
    });
    it('by the account as its stream is, whatever this process remembers: suspended by another one, nobody is in', async () => {
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

  describe('change their password', () => {
    it('and killed before the event: the old one is in force, all sessions go on, and a repeat changes it', async () => {
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
      // What was stored for the killed attempt is gone, too.
      expect(scene.hashes.size).to.equal(1);
    });
    it('at once: one of the new ones is in force, and the old one is not', async () => {
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
    it('and guesses at the present one count as failures', async () => {
      await added();
      const own = await scene.logIn();
      expect(await scene.change(own, OTHER, OTHER)).to.equal('invalid_request');
      expect(scene.failed.get('ana@example.com')).to.equal(1);
    });
    it('and wait after 20 failures, as whoever logs in does', async () => {
      await added();
      const own = await scene.logIn();
      scene.failed.set('ana@example.com', 20);
      expect([await scene.change(own, PASSWORD, OTHER), scene.paused]).to.deep.equal([null, [1_000]]);
    });
  });

  it('change by somebody, at somebody’s request: each event says whose, in which account', async () => {
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

  describe('that are disabled', () => {
    it('are logged out and can’t log in; enabled again they can, and no session of before goes on', async () => {
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
    it('and the process killed between the event and the sessions: out all the same, also once enabled', async () => {
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
