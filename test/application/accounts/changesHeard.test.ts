// How processes learn of changes to accounts and keys by other processes: from announcements and from the log (ADR 0009).

import { expect } from 'chai';
import { changeAccountSettings } from '../../../application/accounts/changeAccountSettings.ts';
import { followChanges, forgetAnnounced } from '../../../application/accounts/followChanges.ts';
import { keyOf } from '../../../application/accounts/manageKeys.ts';
import { DECLARED_SETTINGS } from '../../../application/capabilities.ts';
import {
  type EventStore,
  EventStoreUnavailable,
  type Position,
  UnknownPosition,
} from '../../../application/ports/eventStore.ts';
import { ACCOUNT, reopenAccount, suspendAccount } from '../../../domain/account/account.ts';
import { changeSettings, type SettingsChange } from '../../../domain/account/settings.ts';
import type { AccountId, UserId } from '../../../domain/kernel/ids.ts';
import { isRejection } from '../../../domain/kernel/rejection.ts';
import { issueKey, KEYRING } from '../../../domain/keyring/keyring.ts';
import { addUser, USER } from '../../../domain/user/user.ts';
import { systemStopwatch } from '../../../infrastructure/system/system.ts';
import { type Core, newId, openCore, why } from '../../support/core.ts';

describe('changes of accounts and keys', () => {
  let core: Core;
  let accountId: AccountId;
  before(async () => {
    core = await openCore();
    accountId = core.account.accountId;
  });
  after(() => core.close());

  it('by another process are followed in the log, and the cached account and keys are invalidated', async () => {
    const forgotten: unknown[] = [];
    let heard = Promise.withResolvers<void>();
    const commands = {
      forget: (stream: string, revision?: number) => void forgotten.push([stream, revision]),
      forgetAll: () => undefined,
    };
    const keys = {
      forget: (account: AccountId | null) => {
        forgotten.push(account);
        heard.resolve();
      },
    };
    const stopping = new AbortController();
    const errors: Error[] = [];
    await followChanges(core.store, commands, keys, {
      signal: stopping.signal,
      stopwatch: systemStopwatch,
      onError: (error) => errors.push(error),
    });
    const other = core.anotherProcess();
    const at = core.accounts.realNow();

    const key = { ...keyOf(`ak_test_${'x'.repeat(32)}`, { accountId, mode: 'test', at }), label: null };
    await other.execute(KEYRING, KEYRING.stream(accountId), issueKey(key), why(accountId));
    await heard.promise;
    expect(forgotten.splice(0)).to.deep.equal([accountId]);

    heard = Promise.withResolvers();
    const userId = newId<UserId>();
    const user = {
      userId,
      accountId,
      email: 'ana@example.com',
      name: 'Ana',
      role: 'OWNER',
      passwordId: null,
      at,
    } as const;
    await other.execute(USER, USER.stream(userId), addUser(user), why(accountId));
    await other.execute(ACCOUNT, ACCOUNT.stream(accountId), suspendAccount(at), why(accountId));
    await heard.promise;
    // Users are not cached, so their event has no effect. The account was opened at revision 0.
    expect(forgotten.splice(0)).to.deep.equal([[ACCOUNT.stream(accountId), 1], accountId]);
    stopping.abort();
    expect(errors).to.deep.equal([]);
  });

  it('are followed from the new head after a restore, with all caches cleared, even if the head is unavailable at first', async () => {
    const done: unknown[] = [];
    const heard = Promise.withResolvers<void>();
    const commands = {
      forget: (stream: string, revision?: number) => {
        done.push([stream, revision]);
        heard.resolve();
      },
      forgetAll: () => void done.push('all states'),
    };
    const keys = { forget: (account: AccountId | null) => void (account === null && done.push('all keys')) };
    // Read before the test writes anything. A head read later over a slow connection could be past the events that the test waits for.
    const head = await core.store.head();
    const heads = [async () => head, () => Promise.reject(new EventStoreUnavailable('away')), async () => head];
    const from: (Position | null)[] = [];
    const store: Pick<EventStore, 'head' | 'subscribe'> = {
      head: () => (heads.shift() as () => Promise<Position>)(),
      subscribe: (options) => {
        from.push(options.after);
        if (from.length > 2) return core.store.subscribe(options);
        throw new UnknownPosition('restored');
      },
    };
    const stopping = new AbortController();
    const errors: string[] = [];
    const stopwatch = { pause: async (ms: number) => void done.push(`${ms} ms`) };
    const onError = ({ message }: Error) => errors.push(message);
    await followChanges(store, commands, keys, { signal: stopping.signal, stopwatch, onError });
    const stream = ACCOUNT.stream(accountId);
    const suspended = suspendAccount(core.accounts.realNow());
    await core.anotherProcess().execute(ACCOUNT, stream, reopenAccount(core.accounts.realNow()), why(accountId));
    await core.anotherProcess().execute(ACCOUNT, stream, suspended, why(accountId));
    await heard.promise;
    stopping.abort();
    expect(done.slice(0, 6)).to.deep.equal([
      '1000 ms',
      'all states',
      'all keys',
      'all states',
      'all keys',
      [stream, 2],
    ]);
    expect(errors).to.deep.equal(['restored', 'away', 'restored']);
    expect(from).to.have.length(3);
  });

  it('invalidate the announced account, or all accounts if the announcement names none', async () => {
    const listeners: ((account: AccountId | null) => void)[] = [];
    const { commands, accounts } = core;
    forgetAnnounced({ onChange: (listener) => void listeners.push(listener) }, commands);
    const change = async (chargeWindowSeconds: number) => {
      const decide = changeSettings({ chargeWindowSeconds }, accounts.realNow(), DECLARED_SETTINGS.settings);
      await core.anotherProcess().execute(ACCOUNT, ACCOUNT.stream(accountId), decide, why(accountId));
    };
    const remembered = async () => (await accounts.get(accountId)).settings.chargeWindowSeconds;
    const tell = (account: AccountId | null) => {
      for (const listener of listeners) listener(account);
    };
    expect(await remembered()).to.equal(3_600);
    await change(900);
    expect(await remembered()).to.equal(3_600);
    tell(newId());
    expect(await remembered()).to.equal(3_600);
    tell(accountId);
    expect(await remembered()).to.equal(900);
    await change(1_000);
    tell(null);
    expect(await remembered()).to.equal(1_000);
  });
  it('to settings are announced before the response, even if nothing differs; empty and rejected changes are not announced', async () => {
    const announced: [AccountId, number][] = [];
    const stored = async () => {
      const { state } = await core.anotherProcess().load(ACCOUNT, ACCOUNT.stream(accountId));
      return state.status === 'open' ? state.settings.chargeWindowSeconds : 0;
    };
    const leases = { announce: async (account: AccountId) => void announced.push([account, await stored()]) };
    const change = (wish: SettingsChange, of = accountId) =>
      changeAccountSettings({ commands: core.commands, accounts: core.accounts, leases })(of, wish, {
        actor: 'operator:test',
        requestId: null,
      });
    for (const chargeWindowSeconds of [600, 600, 700]) await change({ chargeWindowSeconds });
    expect(announced.splice(0)).to.deep.equal([600, 600, 700].map((seconds) => [accountId, seconds]));
    await change({});
    expect(isRejection(await change({ chargeWindowSeconds: 59 }))).to.equal(true);
    expect(isRejection(await change({ chargeWindowSeconds: 600 }, newId()))).to.equal(true);
    expect(announced).to.deep.equal([]);
  });
});
