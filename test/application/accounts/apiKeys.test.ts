// What a process remembers of keys, and when it relies on it (ADR 0009).
import { expect } from 'chai';
import { ApiKeys, keyFingerprint } from '../../../application/accounts/apiKeys.ts';
import {
  issueApiKey,
  type KeyNeeds,
  listApiKeys,
  revokeApiKey,
  rotateApiKey,
} from '../../../application/accounts/manageKeys.ts';
import { openAccountWithKeys, reopen, suspend } from '../../../application/accounts/operateAccounts.ts';
import { metadataForChange } from '../../../application/core/eventMetadata.ts';
import type { AccessLeases } from '../../../application/ports/accessLeases.ts';
import { ReadModelsBehind } from '../../../application/ports/readModels/progress.ts';
import type { KnownKey } from '../../../application/ports/readModels/views.ts';
import { ACCOUNT, suspendAccount } from '../../../domain/account/account.ts';
import type { AccountId, KeyId } from '../../../domain/kernel/ids.ts';
import { isRejection, type Rejection } from '../../../domain/kernel/rejection.ts';
import { KEYRING, workingKeys } from '../../../domain/keyring/keyring.ts';
import { systemRandomness } from '../../../infrastructure/system/system.ts';
import { type Core, newId, openCore } from '../../support/core.ts';

const BY = { actor: 'user:usr_1', requestId: 'req_1' };
const done = <T>(result: T | Rejection): T => {
  if (isRejection(result)) throw new Error(result.code);
  return result;
};

describe('API keys', () => {
  let core: Core;
  let accountId: AccountId;
  let needs: KeyNeeds & Parameters<typeof suspend>[0];
  let ended: AccountId[];
  let announced: AccountId[];
  let lookedUp: string[];
  /** Rows of the read model, by fingerprint. */
  let rows: Map<string, KnownKey>;
  let used: KeyId[];
  let isHeld: boolean;
  let isCaughtUp: boolean;
  let onLookUp: (() => Promise<unknown>) | null;
  let onAnnounce: (() => Promise<unknown>) | null;
  let forget: (account: AccountId | null) => void;
  let keys: ApiKeys;

  before(async () => {
    core = await openCore();
  });
  after(() => core.close());
  beforeEach(() => {
    accountId = core.account.accountId;
    [announced, lookedUp, used, ended] = [[], [], [], []];
    rows = new Map();
    [isHeld, isCaughtUp, onLookUp, onAnnounce] = [true, true, null, null];
    const listeners: ((account: AccountId | null) => void)[] = [];
    forget = (account) => {
      for (const listener of listeners) listener(account);
    };
    const leases: AccessLeases = {
      isHeld: () => isHeld,
      onChange: (listener) => void listeners.push(listener),
      announce: async (account) => {
        announced.push(account);
        await onAnnounce?.();
        forget(account);
      },
    };
    const { commands, accounts } = core;
    const whenFound = async (fingerprint: string) => {
      const { state } = await commands.load(KEYRING, KEYRING.stream(accountId));
      for (const key of workingKeys(state)) if (key.fingerprint === fingerprint) rows.set(fingerprint, key);
    };
    const sessions = { endOfAccount: async (account: AccountId) => void ended.push(account) };
    needs = { commands, accounts, randomness: systemRandomness, leases, whenFound, sessions };
    const find = async (fingerprint: string) => {
      lookedUp.push(fingerprint);
      await onLookUp?.();
      return rows.get(fingerprint) ?? null;
    };
    keys = new ApiKeys({
      leases,
      views: { find },
      caughtUp: async () => ({ head: null, isCaughtUp }),
      commands,
      accounts,
      uses: { note: (key) => void used.push(key) },
    });
  });
  afterEach(async () => {
    onAnnounce = null;
    for (const { keyId } of await listApiKeys(needs)(accountId)) await revokeApiKey(needs)(accountId, keyId, BY);
    await reopen(needs)(accountId, BY);
  });

  const issue = async (label: string | null = null, mode: 'test' | 'live' = 'test') =>
    done(await issueApiKey(needs)(accountId, { mode, label }, BY));

  it('are looked up once, and remembered while a lease is held', async () => {
    const { cleartext, key } = await issue();
    const { keyId, mode, fingerprint } = key;
    for (let i = 0; i < 3; i++) expect(await keys.find(cleartext)).to.include({ keyId, accountId, mode, fingerprint });
    expect([lookedUp, used]).to.deep.equal([[fingerprint], [keyId, keyId, keyId]]);
  });

  it('are looked up for each request without a lease, and what was remembered counts again with one', async () => {
    const { cleartext, key } = await issue();
    isHeld = false;
    await keys.find(cleartext);
    await keys.find(cleartext);
    isHeld = true;
    await keys.find(cleartext);
    expect(lookedUp).to.deep.equal([key.fingerprint, key.fingerprint]);
  });

  it('are nobody’s when they were never issued; that is not remembered', async () => {
    const unknown = `ak_test_${'x'.repeat(32)}`;
    expect([await keys.find(unknown), await keys.find(unknown)]).to.deep.equal([null, null]);
    expect([lookedUp.length, used]).to.deep.equal([4, []]);
  });

  it('that are not found may exist while the read model is behind', async () => {
    isCaughtUp = false;
    const thrown = await keys.find(`ak_test_${'y'.repeat(32)}`).catch((error: unknown) => error);
    expect(thrown).to.be.instanceOf(ReadModelsBehind);
  });

  it('are found by the log, whatever the read model still shows', async () => {
    const { cleartext, key } = await issue();
    done(await revokeApiKey(needs)(accountId, key.keyId, BY));
    expect([rows.has(key.fingerprint), await keys.find(cleartext)]).to.deep.equal([true, null]);
  });

  it('are forgotten with their account, or all at once, and no others', async () => {
    const { cleartext, key } = await issue();
    const other = await issue();
    const lookUps = async (account: AccountId | null) => {
      await keys.find(cleartext);
      lookedUp.length = 0;
      forget(account);
      await keys.find(cleartext);
      return lookedUp.length;
    };
    expect([await lookUps(accountId), await lookUps(newId()), await lookUps(null)]).to.deep.equal([1, 0, 1]);
    await keys.find(other.cleartext);
    expect(lookedUp).to.deep.equal([key.fingerprint, other.key.fingerprint]);
  });

  it('that are forgotten while they are looked up are not remembered', async () => {
    const { cleartext, key } = await issue();
    onLookUp = async () => forget(accountId);
    await keys.find(cleartext);
    onLookUp = null;
    await keys.find(cleartext);
    await keys.find(cleartext);
    expect(lookedUp).to.deep.equal([key.fingerprint, key.fingerprint]);
  });

  describe('when one is issued', () => {
    it('shows a cleartext of its mode once, and keeps its fingerprint and prefix', async () => {
      const { cleartext, key } = await issue('till', 'live');
      expect(cleartext).to.match(/^ak_live_[\w-]{32}$/);
      const { keyId: _, issuedAt: __, ...kept } = key;
      const fingerprint = keyFingerprint(cleartext);
      expect(kept).to.deep.equal({
        accountId,
        mode: 'live',
        fingerprint,
        prefix: cleartext.slice(0, 12),
        label: 'till',
      });
      expect(JSON.stringify(await core.eventsOf(KEYRING.stream(accountId)))).to.not.contain(cleartext);
      expect(announced).to.deep.equal([]);
    });
    it('twice makes two keys', async () => {
      const [one, two] = [await issue('till'), await issue('till')];
      expect(await listApiKeys(needs)(accountId)).to.deep.equal([one.key, two.key]);
    });
    it('of no account is not_found', async () => {
      expect(await issueApiKey(needs)(newId(), { mode: 'test', label: null }, BY)).to.include({ code: 'not_found' });
    });
  });

  describe('when one is rotated', () => {
    it('ends the old one and keeps mode and label, and answers when it is announced and the new one is found', async () => {
      const old = await issue('till', 'live');
      await keys.find(old.cleartext);
      const fresh = done(await rotateApiKey(needs)(accountId, old.key.keyId, undefined, BY));
      expect(fresh.key).to.include({ mode: 'live', label: 'till' });
      expect(announced).to.deep.equal([accountId]);
      expect([await keys.find(old.cleartext), (await keys.find(fresh.cleartext))?.keyId]).to.deep.equal([
        null,
        fresh.key.keyId,
      ]);
      expect(await listApiKeys(needs)(accountId)).to.deep.equal([fresh.key]);
    });
    it('twice is not_found, announced again because the first answer may have been lost', async () => {
      const { key } = await issue();
      done(await rotateApiKey(needs)(accountId, key.keyId, 'counter', BY));
      expect(await rotateApiKey(needs)(accountId, key.keyId, 'counter', BY)).to.include({ code: 'not_found' });
      expect(announced).to.deep.equal([accountId, accountId]);
      expect((await listApiKeys(needs)(accountId)).map(({ label }) => label)).to.deep.equal(['counter']);
    });
    it('by two at once is one rotation', async () => {
      const { key } = await issue();
      const both = await Promise.all([1, 2].map(() => rotateApiKey(needs)(accountId, key.keyId, undefined, BY)));
      expect(both.filter(isRejection).map(({ code }) => code)).to.deep.equal(['not_found']);
      expect(await listApiKeys(needs)(accountId)).to.have.length(1);
    });
    it('of another account is not_found, and nothing is revoked', async () => {
      const { key } = await issue();
      expect(await rotateApiKey(needs)(newId(), key.keyId, undefined, BY)).to.include({ code: 'not_found' });
      expect(await listApiKeys(needs)(accountId)).to.deep.equal([key]);
    });
  });

  describe('when one is revoked', () => {
    it('works no more, and twice is not_found', async () => {
      const { key, cleartext } = await issue();
      await keys.find(cleartext);
      expect(await revokeApiKey(needs)(accountId, key.keyId, BY)).to.deep.equal(key);
      expect(await keys.find(cleartext)).to.equal(null);
      expect(await revokeApiKey(needs)(accountId, key.keyId, BY)).to.include({ code: 'not_found' });
      expect(announced).to.deep.equal([accountId, accountId]);
    });
    it('of another account is not_found, and nothing is revoked', async () => {
      const { key } = await issue();
      expect(await revokeApiKey(needs)(newId(), key.keyId, BY)).to.include({ code: 'not_found' });
      expect(await listApiKeys(needs)(accountId)).to.deep.equal([key]);
    });
    it('stays so when the account is completed with the same cleartext', async () => {
      const { key, cleartext } = await issue();
      done(await revokeApiKey(needs)(accountId, key.keyId, BY));
      const { name, email, idSeed } = core.account;
      const opening = { accountId, name, email, idSeed, actor: BY.actor };
      await openAccountWithKeys(needs)({ ...opening, keys: [{ mode: 'test', cleartext, label: 'again' }] });
      expect(await listApiKeys(needs)(accountId)).to.deep.equal([]);
    });
  });

  it('of a suspended account are nobody’s until it is reopened', async () => {
    const { cleartext, key } = await issue();
    await keys.find(cleartext);
    const { since } = done(await suspend(needs)(accountId, BY));
    expect([await keys.find(cleartext), announced]).to.deep.equal([null, [accountId]]);
    expect(await suspend(needs)(accountId, BY)).to.deep.equal({ since });
    expect([await reopen(needs)(accountId, BY), await reopen(needs)(accountId, BY)]).to.deep.equal([
      'reopened',
      'already_open',
    ]);
    // By each suspension, and once more before the account is open again.
    expect(ended).to.deep.equal([accountId, accountId, accountId]);
    expect((await keys.find(cleartext))?.keyId).to.equal(key.keyId);
  });
  it('of an account that another process has suspended are nobody’s, whatever this one remembers of it', async () => {
    const { cleartext } = await issue();
    expect((await core.accounts.get(accountId)).suspendedAt).to.equal(null);
    const metadata = metadataForChange(BY, accountId, accountId);
    const decide = suspendAccount(core.accounts.realNow());
    await core.anotherProcess().execute(ACCOUNT, ACCOUNT.stream(accountId), decide, metadata);
    expect(await keys.find(cleartext)).to.equal(null);
  });
  it('are announced when the log has the change, and not before: whoever looks them up then finds it', async () => {
    const { key } = await issue('old');
    const found: unknown[] = [];
    onAnnounce = async () => {
      const commands = core.anotherProcess();
      const { state } = await commands.load(ACCOUNT, ACCOUNT.stream(accountId));
      const labels = (await listApiKeys({ commands })(accountId)).map(({ label }) => label);
      found.push([...labels, state.status === 'open' && state.suspendedAt !== null]);
    };
    const fresh = done(await rotateApiKey(needs)(accountId, key.keyId, 'new', BY));
    done(await suspend(needs)(accountId, BY));
    done(await reopen(needs)(accountId, BY));
    done(await revokeApiKey(needs)(accountId, fresh.key.keyId, BY));
    expect(found).to.deep.equal([['new', false], ['new', true], ['new', false], [false]]);
  });
  it('no account is suspended or reopened that there is not', async () => {
    expect(
      [await suspend(needs)(newId(), BY), await reopen(needs)(newId(), BY)].map((one) => (one as Rejection).code),
    ).to.deep.equal(['not_found', 'not_found']);
    expect([announced, ended]).to.deep.equal([[], []]);
  });

  it('record who changed them, and by which request', async () => {
    const { key } = await issue();
    await rotateApiKey(needs)(accountId, key.keyId, undefined, { actor: 'operator:ana', requestId: null });
    const written: object[] = [];
    for await (const { type, metadata } of core.store.readStream(KEYRING.stream(accountId))) {
      const { account, mode, actor, $causationId: cause } = JSON.parse(metadata) as Record<string, string>;
      written.push({ type, account, mode, actor, cause });
    }
    const of = { account: accountId, mode: 'test' };
    expect(written.slice(-2)).to.deep.equal([
      { type: 'ApiKeyIssued', ...of, actor: 'user:usr_1', cause: 'req_1' },
      { type: 'ApiKeyRotated', ...of, actor: 'operator:ana', cause: undefined },
    ]);
  });
});
