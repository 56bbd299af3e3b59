// Finds the user who issued an API key.
import type { AccountId, UserId } from '../../domain/kernel/ids.ts';
import type { UnreadableEvent } from './eventCodec.ts';

export interface KeyIssuers {
  /**
   * Returns the user who issued or rotated the key, or null if it was an operator or the command line, or if there is no such key. Returns
   * the first unreadable event of the keyring if the key may be in one.
   */
  issuerOf(accountId: AccountId, actor: string): Promise<UserId | UnreadableEvent | null>;
}
