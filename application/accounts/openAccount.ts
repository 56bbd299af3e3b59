// Opens an account with its first keys. After a crash, a repeat with the same secrets completes the work (S2).
import { ACCOUNT, openAccount } from '../../domain/account/account.ts';
import type { AccountId, Mode } from '../../domain/kernel/ids.ts';
import { issueKey, KEYRING } from '../../domain/keyring/keyring.ts';
import type { Accounts } from '../core/accounts.ts';
import type { CommandHandler } from '../core/commandHandler.ts';
import { metadataForChange } from '../core/eventMetadata.ts';
import type { EventMetadata } from '../ports/loggedEvent.ts';
import { keyOf } from './newKey.ts';

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
  ({ commands, accounts }: { commands: CommandHandler; accounts: Accounts }) =>
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
