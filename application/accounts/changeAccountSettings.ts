// What is agreed with a merchant changes, all of it by the operator, some of it by the merchant (rules O1, O2, O3).
import { ACCOUNT, type AccountSettings } from '../../domain/account/account.ts';
import { changeSettings, type SettingsChange } from '../../domain/account/settings.ts';
import type { AccountId } from '../../domain/kernel/ids.ts';
import { isRejection, type Rejection, reject } from '../../domain/kernel/rejection.ts';
import type { Accounts } from '../core/accounts.ts';
import type { CommandHandler } from '../core/commandHandler.ts';
import { type Changer, metadataForChange } from '../core/eventMetadata.ts';
import type { AccessLeases } from '../ports/accessLeases.ts';

export interface SettingsNeeds {
  readonly commands: CommandHandler;
  readonly accounts: Accounts;
  readonly leases: Pick<AccessLeases, 'announce'>;
}

/**
 * All settings as they are from here on, in every process that serves keys and users; what is not named
 * stays. `by`: who changes them, by a request or at a terminal.
 * Out of bounds: `invalid_request` with the setting as its param; no such account: `not_found`.
 */
export const changeAccountSettings =
  ({ commands, accounts, leases }: SettingsNeeds) =>
  async (accountId: AccountId, change: SettingsChange, by: Changer): Promise<AccountSettings | Rejection> => {
    const stream = ACCOUNT.stream(accountId);
    if ((await commands.load(ACCOUNT, stream)).state.status !== 'open')
      return reject('not_found', 'There is no such account.');
    const decide = changeSettings(change, accounts.realNow(), accounts.declared.settings);
    const done = await commands.execute(ACCOUNT, stream, decide, metadataForChange(by, accountId, accountId));
    if (isRejection(done)) return done;
    // Also when it was so before: whoever wrote that may have been cut off before telling anybody.
    if (Object.keys(change).length > 0) await leases.announce(accountId);
    return done.reply;
  };
