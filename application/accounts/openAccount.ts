// Opening an account with its first keys. Repeating it with the same secrets completes what a crash cut off (S2).
import { hash } from 'node:crypto';
import { openAccount } from '../../domain/account/account.ts';
import { streamName } from '../../domain/kernel/event.ts';
import { type AccountId, encodeRawId, type KeyId, type Mode } from '../../domain/kernel/ids.ts';
import { issueKey } from '../../domain/keyring/keyring.ts';
import type { Accounts } from '../core/accounts.ts';
import { ACCOUNT, KEYRING } from '../core/aggregates.ts';
import type { CommandHandler } from '../core/commandHandler.ts';
import type { EventMetadata } from '../ports/loggedEvent.ts';

export interface AccountOpening {
  readonly accountId: AccountId;
  readonly name: string;
  readonly email: string;
  /** 32 random bytes, base64. */
  readonly idSeed: string;
  readonly keys: readonly { readonly mode: Mode; readonly cleartext: string; readonly label: string }[];
  readonly actor: string;
}

export const keyFingerprint = (cleartext: string): string => hash('sha256', cleartext, 'hex');

/** Stays the same for the same cleartext, so that issuing it again is the same key. */
const keyIdOf = (fingerprint: string): KeyId => encodeRawId(Buffer.from(fingerprint, 'hex').subarray(0, 16)) as KeyId;

const PREFIX_LENGTH = 12;

export const openAccountWithKeys =
  ({ commands, accounts }: { commands: CommandHandler; accounts: Accounts }) =>
  async ({ accountId, name, email, idSeed, keys, actor }: AccountOpening): Promise<void> => {
    const at = accounts.realNow();
    const metadata = (mode: Mode): EventMetadata => ({
      account: accountId,
      mode,
      actor,
      requestId: null,
      correlationId: accountId,
      causationId: accountId,
    });
    await commands.record(
      ACCOUNT,
      streamName.account(accountId),
      openAccount({ accountId, name, email, idSeed, at }),
      metadata('live'),
    );
    for (const { mode, cleartext, label } of keys) {
      const fingerprint = keyFingerprint(cleartext);
      const key = {
        keyId: keyIdOf(fingerprint),
        accountId,
        mode,
        fingerprint,
        prefix: cleartext.slice(0, PREFIX_LENGTH),
        label,
        issuedAt: at,
      };
      await commands.record(KEYRING, streamName.keyring(accountId), issueKey(key), metadata(mode));
    }
  };
