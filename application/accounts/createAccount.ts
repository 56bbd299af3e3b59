// A new account with its first keys and its OWNER (rule O1). What is shown once is returned once, and kept nowhere.
import { defaultSettings } from '../../domain/account/account.ts';
import { settingProblems } from '../../domain/account/settingProblems.ts';
import { type AccountId, PLATFORM_ACCOUNT, type UserId } from '../../domain/kernel/ids.ts';
import { isRejection, type Rejection, reject } from '../../domain/kernel/rejection.ts';
import { newAccountId } from '../core/derivedIds.ts';
import type { Changer } from '../core/eventMetadata.ts';
import type { WithTenantLock } from '../ports/tenantLock.ts';
import { type AddUserNeeds, addUserWithPassword, isUser, TAKEN } from './addUser.ts';
import { newApiKey } from './newKey.ts';
import { openAccountWithKeys } from './openAccount.ts';

interface CreatedAccount {
  readonly accountId: AccountId;
  readonly userId: UserId;
  readonly password: string;
  readonly testApiKey: string;
  readonly liveApiKey: string;
}

const ID_SEED_BYTES = 32;

/**
 * Opens an account. `name`: the merchant's, as payers see it; `password`: null has one made. `invalid_request`: the name is none (param
 * `name`), or the address names a user already (param `email`).
 */
export const createAccount =
  (needs: AddUserNeeds & { readonly withTenantLock: WithTenantLock }) =>
  async (
    { name, email, password }: { readonly name: string; readonly email: string; readonly password: string | null },
    by: Changer,
  ): Promise<CreatedAccount | Rejection> => {
    const { randomness, withTenantLock } = needs;
    const [problem] = settingProblems(defaultSettings(name, []));
    if (problem) return reject('invalid_request', `name ${problem.message}`, { param: 'name' });
    // Sent twice at once, one of them would leave an account without an owner behind.
    return withTenantLock({ accountId: PLATFORM_ACCOUNT, mode: 'live' }, 'accounts', async () => {
      if (await isUser(needs)(email)) return TAKEN;
      const accountId = newAccountId(randomness.bytes(16));
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
      const owner = { accountId, email, name, role: 'OWNER', password } as const;
      const added = await addUserWithPassword(needs)(owner, by);
      return isRejection(added) ? added : { accountId, ...added, testApiKey, liveApiKey };
    });
  };
