// Changes an account's settings. Operators may change all of them, merchants some (rules O1, O2, O3).
import { ACCOUNT, type AccountSettings, NO_ACCOUNT } from '../../domain/account/account.ts';
import { changeSettings, type SettingsChange } from '../../domain/account/settings.ts';
import type { AccountId } from '../../domain/kernel/ids.ts';
import { isRejection, type Rejection } from '../../domain/kernel/rejection.ts';
import { type Changer, metadataForChange } from '../core/eventMetadata.ts';
import { limitsOf, type UseCaseNeeds } from '../core/useCase.ts';
import type { AccessLeases } from '../ports/accessLeases.ts';

export interface SettingsNeeds extends UseCaseNeeds {
  readonly leases: Pick<AccessLeases, 'announce'>;
}

/**
 * Returns all settings after the change, which then holds in every process. Settings that are not named stay unchanged. Rejects with
 * `invalid_request` (param: the setting) if a value is out of bounds, and with `not_found` if the account does not exist.
 */
export const changeAccountSettings =
  ({ commands, accounts, leases }: SettingsNeeds) =>
  async (accountId: AccountId, change: SettingsChange, by: Changer): Promise<AccountSettings | Rejection> => {
    const stream = ACCOUNT.stream(accountId);
    if ((await commands.load(ACCOUNT, stream)).state.status !== 'open') return NO_ACCOUNT;
    const decide = changeSettings(change, accounts.realNow(), accounts.declared.settings);
    const metadata = metadataForChange(by, accountId, accountId);
    const done = await commands.execute(ACCOUNT, stream, decide, metadata, limitsOf(by));
    if (isRejection(done)) return done;
    // Announced even if nothing changed: an earlier, identical change may have crashed before its announcement.
    if (Object.keys(change).length > 0) await leases.announce(accountId);
    return done.reply;
  };
