// What the operator agreed with a merchant changes (rule O1): limits, hold days, cash-out destinations, the charge window.
import type { AccountSettings } from '../../domain/account/account.ts';
import { changeSettings, type SettingsChange } from '../../domain/account/settings.ts';
import { streamName } from '../../domain/kernel/event.ts';
import type { AccountId } from '../../domain/kernel/ids.ts';
import { isRejection, type Rejection, reject } from '../../domain/kernel/rejection.ts';
import type { Accounts } from '../core/accounts.ts';
import { ACCOUNT } from '../core/aggregates.ts';
import type { CommandHandler } from '../core/commandHandler.ts';

/**
 * All settings as they are from here on; what is not named stays. `by`: who changes them, as in metadata (`operator:<name>`).
 * Out of bounds: `invalid_request` with the setting as its param; no such account: `not_found`.
 */
export const changeAccountSettings =
  ({ commands, accounts }: { readonly commands: CommandHandler; readonly accounts: Accounts }) =>
  async (accountId: AccountId, change: SettingsChange, by: string): Promise<AccountSettings | Rejection> => {
    const stream = streamName.account(accountId);
    if ((await commands.load(ACCOUNT, stream)).state.status !== 'open')
      return reject('not_found', 'There is no such account.');
    const metadata = { actor: by, requestId: null, correlationId: accountId, causationId: accountId };
    const decide = changeSettings(change, accounts.realNow());
    const done = await commands.execute(ACCOUNT, stream, decide, { account: accountId, mode: 'live', ...metadata });
    return isRejection(done) ? done : done.reply;
  };
