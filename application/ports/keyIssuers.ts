// Finds the user who issued an API key.
import type { AccountId, UserId } from '../../domain/kernel/ids.ts';

export interface KeyIssuers {
  /** Returns the user who issued or rotated the key, or null if it was an operator or the command line, or if there is no such key. */
  issuerOf(accountId: AccountId, actor: string): Promise<UserId | null>;
}
