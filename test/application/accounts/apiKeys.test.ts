// Which keys a process caches, and when it trusts the cache (ADR 0009).
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
  /** Rows of the read model by fingerprint. */
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

  const keptKeys = async () =>
    JSON.stringify([await core.eventsOf(KEYRING.stream(accountId)), await listApiKeys(needs)(accountId)]);

  it('are looked up once and cached while a lease is held', async () => {
    const { cleartext, key } = await issue();
    const { keyId, mode, fingerprint } = key;
    for (let i = 0; i < 3; i++) expect(await keys.find(cleartext)).to.include({ keyId, accountId, mode, fingerprint });
    expect([lookedUp, used]).to.deep.equal([[fingerprint], [keyId, keyId, keyId]]);
  });

  it('are looked up for every request without a lease, and served from the cache again with one', async () => {
    const { cleartext, key } = await issue();
    isHeld = false;
    await keys.find(cleartext);
    await keys.find(cleartext);
    isHeld = true;
    await keys.find(cleartext);
    expect(lookedUp).to.deep.equal([key.fingerprint, key.fingerprint]);
  });

  it('are not found if never issued, and this result is not cached', async () => {
    const unknown = `ak_test_${'x'.repeat(32)}`;
    expect([await keys.find(unknown), await keys.find(unknown)]).to.deep.equal([null, null]);
    expect([lookedUp.length, used]).to.deep.equal([4, []]);
  });

  it('cause ReadModelsBehind if they are not found while the read model lags', async () => {
    isCaughtUp = false;
    const thrown = await keys.find(`ak_test_${'y'.repeat(32)}`).catch((error: unknown) => error);
    expect(thrown).to.be.instanceOf(ReadModelsBehind);
  });

  it('are checked against the log even if the read model still lists them', async () => {
    const { cleartext, key } = await issue();
    done(await revokeApiKey(needs)(accountId, key.keyId, BY));
    expect([rows.has(key.fingerprint), await keys.find(cleartext)]).to.deep.equal([true, null]);
  });

  it('are dropped from the cache with their account or all at once', async () => {
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

  it('are not cached if they are invalidated during the lookup', async () => {
    const { cleartext, key } = await issue();
    onLookUp = async () => forget(accountId);
    await keys.find(cleartext);
    onLookUp = null;
    await keys.find(cleartext);
    await keys.find(cleartext);
    expect(lookedUp).to.deep.equal([key.fingerprint, key.fingerprint]);
  });

  describe('when one is issued', () => {
    it('shows a cleartext of its mode once: the log and the list have only its fingerprint and prefix', async () => {
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
      expect(await keptKeys())
        .to.include(fingerprint)
        .and.not.include(cleartext);
      expect(announced).to.deep.equal([]);
    });
    it('creates two keys when repeated', async () => {
      const [one, two] = [await issue('till'), await issue('till')];
      expect(await listApiKeys(needs)(accountId)).to.deep.equal([one.key, two.key]);
    });
    it('rejects an unknown account with not_found', async () => {
      expect(await issueApiKey(needs)(newId(), { mode: 'test', label: null }, BY)).to.include({ code: 'not_found' });
    });
  });

  describe('when one is rotated', () => {
    it('ends the old key, keeps its mode and label, and returns once the change is announced and the new key is found', async () => {
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
    it('shows the new cleartext once: the log and the list have only its fingerprint and prefix', async () => {
      const { key } = await issue();
      const { cleartext } = done(await rotateApiKey(needs)(accountId, key.keyId, undefined, BY));
      expect(await keptKeys())
        .to.include(keyFingerprint(cleartext))
        .and.not.include(cleartext);
    });
    it('rejects a repeat with not_found but announces it again, because the first response may have been lost', async () => {
      const { key } = await issue();
      done(await rotateApiKey(needs)(accountId, key.keyId, 'counter', BY));
      expect(await rotateApiKey(needs)(accountId, key.keyId, 'counter', BY)).to.include({ code: 'not_found' });
      expect(announced).to.deep.equal([accountId, accountId]);
      expect((await listApiKeys(needs)(accountId)).map(({ label }) => label)).to.deep.equal(['counter']);
    });
    it('accepts only one of two concurrent rotations', async () => {
      const { key } = await issue();
      const both = await Promise.all([1, 2].map(() => rotateApiKey(needs)(accountId, key.keyId, undefined, BY)));
      expect(both.filter(isRejection).map(({ code }) => code)).to.deep.equal(['not_found']);
      expect(await listApiKeys(needs)(accountId)).to.have.length(1);
    });
    it('rejects the key of another account with not_found and keeps it', async () => {
      const { key } = await issue();
      expect(await rotateApiKey(needs)(newId(), key.keyId, undefined, BY)).to.include({ code: 'not_found' });
      expect(await listApiKeys(needs)(accountId)).to.deep.equal([key]);
    });
  });

  describe('when one is revoked', () => {
    it('ends the key, and rejects a repeat with not_found', async () => {
      const { key, cleartext } = await issue();
      await keys.find(cleartext);
      expect(await revokeApiKey(needs)(accountId, key.keyId, BY)).to.deep.equal(key);
      expect(await keys.find(cleartext)).to.equal(null);
      expect(await revokeApiKey(needs)(accountId, key.keyId, BY)).to.include({ code: 'not_found' });
      expect(announced).to.deep.equal([accountId, accountId]);
    });
    it('rejects the key of another account with not_found and keeps it', async () => {
      const { key } = await issue();
      expect(await revokeApiKey(needs)(newId(), key.keyId, BY)).to.include({ code: 'not_found' });
      expect(await listApiKeys(needs)(accountId)).to.deep.equal([key]);
    });
    it('keeps the key revoked when the account is completed with the same cleartext', async () => {
      const { key, cleartext } = await issue();
      done(await revokeApiKey(needs)(accountId, key.keyId, BY));
      const { name, email, idSeed } = core.account;
      const opening = { accountId, name, email, idSeed, actor: BY.actor };
      await openAccountWithKeys(needs)({ ...opening, keys: [{ mode: 'test', cleartext, label: 'again' }] });
      expect(await listApiKeys(needs)(accountId)).to.deep.equal([]);
    });
  });

  it('stop working while their account is suspended', async () => {
    const { cleartext, key } = await issue();
    await keys.find(cleartext);
    const { since } = done(await suspend(needs)(accountId, BY));
    expect([await keys.find(cleartext), announced]).to.deep.equal([null, [accountId]]);
    expect(await suspend(needs)(accountId, BY)).to.deep.equal({ since });
    expect([await reopen(needs)(accountId, BY), await reopen(needs)(accountId, BY)]).to.deep.equal([
      'reopened',
      'already_open',
    ]);
    // Sessions end at each suspension, and once more before the account reopens.
    expect(ended).to.deep.equal([accountId, accountId, accountId]);
    expect((await keys.find(cleartext))?.keyId).to.equal(key.keyId);
  });
  it('stop working if another process has suspended their account, despite this process’s cache', async () => {
    const { cleartext } = await issue();
    expect((await core.accounts.get(accountId)).suspendedAt).to.equal(null);
    const metadata = metadataForChange(BY, accountId, accountId);
    const decide = suspendAccount(core.accounts.realNow());
    await core.anotherProcess().execute(ACCOUNT, ACCOUNT.stream(accountId), decide, metadata);
    expect(await keys.find(cleartext)).to.equal(null);
  });
  it('are announced only after the log has the change, so that lookups then see it', async () => {
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
  it('are not announced for an unknown account, which is rejected with not_found', async () => {
    expect(
      [await suspend(needs)(newId(), BY), await reopen(needs)(newId(), BY)].map((one) => (one as Rejection).code),
    ).to.deep.equal(['not_found', 'not_found']);
    expect([announced, ended]).to.deep.equal([[], []]);
  });

  it('record who changed them and in which request', async () => {
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
