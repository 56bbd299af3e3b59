// Opens, suspends and reopens accounts (rule O1). A suspended account's keys and logins are rejected; its payments continue, its cash-outs
// wait.
import { ACCOUNT, openAccount, reopenAccount, suspendAccount } from '../../domain/account/account.ts';
import { OWN_SETTINGS } from '../../domain/account/ownSettings.ts';
import { type AccountId, type Mode, PLATFORM_ACCOUNT } from '../../domain/kernel/ids.ts';
import { isRejection, type Rejection, reject } from '../../domain/kernel/rejection.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import { issueKey, KEYRING } from '../../domain/keyring/keyring.ts';
import { newAccountId } from '../core/derivedIds.ts';
import { type Changer, metadataForChange } from '../core/eventMetadata.ts';
import type { UseCaseNeeds } from '../core/useCase.ts';
import type { AccessLeases } from '../ports/accessLeases.ts';
import type { EventMetadata } from '../ports/loggedEvent.ts';
import type { Sessions } from '../ports/logins.ts';
import type { WithTenantLock } from '../ports/tenantLock.ts';
import { keyOf, newApiKey } from './manageKeys.ts';
import { type AddUserNeeds, isUser, newPassword, prepareUser, recordUser, TAKEN } from './users.ts';

interface SuspensionNeeds extends UseCaseNeeds {
  readonly leases: AccessLeases;
  readonly sessions: Pick<Sessions, 'endOfAccount'>;
}

/**
 * Suspends an account and returns the time of its suspension, once every process rejects its keys and all its users' sessions have ended.
 * Rejects with `not_found`.
 */
export const suspend =
  ({ commands, accounts, leases, sessions }: SuspensionNeeds) =>
  async (accountId: AccountId, by: Changer): Promise<{ readonly since: Timestamp } | Rejection> => {
    const decide = suspendAccount(accounts.realNow());
    const metadata = metadataForChange(by, accountId, accountId);
    const done = await commands.execute(ACCOUNT, ACCOUNT.stream(accountId), decide, metadata);
    if (isRejection(done)) return done;
    await Promise.all([leases.announce(accountId), sessions.endOfAccount(accountId)]);
    return done.reply;
  };

/**
 * Reopens an account, and returns once every process accepts its keys again. Old sessions are removed first, in case the suspension was
 * interrupted before it removed them. Rejects with `not_found`.
 */
export const reopen =
  ({ commands, accounts, leases, sessions }: SuspensionNeeds) =>
  async (accountId: AccountId, by: Changer): Promise<'reopened' | 'already_open' | Rejection> => {
    const { state } = await commands.load(ACCOUNT, ACCOUNT.stream(accountId));
    if (state.status === 'open' && state.suspendedAt !== null) await sessions.endOfAccount(accountId);
    const decide = reopenAccount(accounts.realNow());
    const metadata = metadataForChange(by, accountId, accountId);
    const done = await commands.execute(ACCOUNT, ACCOUNT.stream(accountId), decide, metadata);
    if (isRejection(done)) return done;
    await leases.announce(accountId);
    return done.reply;
  };

interface AccountOpening {
  readonly accountId: AccountId;
  readonly name: string;
  readonly email: string;
  /** 32 random bytes, base64. */
  readonly idSeed: string;
  readonly keys: readonly { readonly mode: Mode; readonly cleartext: string; readonly label: string }[];
  readonly actor: string;
  /** Id of the HTTP request, if there was one. */
  readonly requestId?: string | null;
}

export const openAccountWithKeys =
  ({ commands, accounts }: UseCaseNeeds) =>
  async ({ accountId, name, email, idSeed, keys, actor, requestId = null }: AccountOpening): Promise<void> => {
    const at = accounts.realNow();
    const metadata = (mode: Mode): EventMetadata => ({
      ...metadataForChange({ actor, requestId }, accountId, accountId),
      mode,
    });
    await commands.record(
      ACCOUNT,
      ACCOUNT.stream(accountId),
      openAccount({ accountId, name, email, idSeed, at }, accounts.declared.settings),
      metadata('live'),
    );
    for (const { mode, cleartext, label } of keys) {
      const key = { ...keyOf(cleartext, { accountId, mode, at }), label };
      await commands.record(KEYRING, KEYRING.stream(accountId), issueKey(key), metadata(mode));
    }
  };

const ID_SEED_BYTES = 32;

/**
 * Opens an account. `name` is the merchant's name, shown to payers. If `password` is null, one is generated. Rejects with
 * `invalid_request` if the name is invalid (param `name`) or the address is in use (param `email`). Throws PasswordHashingBusy.
 */
export const createAccount =
  (needs: AddUserNeeds & { readonly withTenantLock: WithTenantLock }) =>
  async (
    { name, email, password }: { readonly name: string; readonly email: string; readonly password: string | null },
    by: Changer,
  ) => {
    const { randomness, hasher, withTenantLock } = needs;
    const [problem] = OWN_SETTINGS.merchantName.problemsOf({ merchantName: name });
    if (problem) return reject('invalid_request', `name ${problem.message}`, { param: 'name' });
    if (await isUser(needs)(email)) return TAKEN; // before the costly hash
    const ownersPassword = password ?? newPassword(randomness);
    const hash = await hasher.hash(ownersPassword, { email, address: null });
    // Without a lock, one of two identical requests would leave an account without an owner.
    return withTenantLock({ accountId: PLATFORM_ACCOUNT, mode: 'live' }, 'accounts', async () => {
      if (await isUser(needs)(email)) return TAKEN;
      const accountId = newAccountId(randomness.bytes(16));
      // First, so that a failure here leaves no account without an owner.
      const owner = await prepareUser(needs)({ accountId, email, name, role: 'OWNER' }, hash);
      const [testApiKey, liveApiKey] = [newApiKey('test', randomness), newApiKey('live', randomness)];
      await openAccountWithKeys(needs)({
        accountId,
        name,
        email,
        idSeed: randomness.bytes(ID_SEED_BYTES).toString('base64'),
        keys: [
          { mode: 'test', cleartext: testApiKey, label: 'first test key' },
          { mode: 'live', cleartext: liveApiKey, label: 'first live key' },
        ],
        ...by,
      });
      const userId = await recordUser(needs)(owner, by);
      return isRejection(userId) ? userId : { accountId, userId, password: ownersPassword, testApiKey, liveApiKey };
    });
  };
