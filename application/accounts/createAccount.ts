// Creates an account with its first keys and its OWNER (rule O1). Password and keys are returned once and not stored.
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
 * Opens an account. `name` is the merchant's name, shown to payers. If `password` is null, one is generated. Rejects with
 * `invalid_request` if the name is invalid (param `name`) or the address is in use (param `email`).
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
    // Without a lock, one of two identical requests would leave an account without an owner.
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
