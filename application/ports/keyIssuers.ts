// Who issued an API key.
import type { AccountId, UserId } from '../../domain/kernel/ids.ts';

export interface KeyIssuers {
  /** Returns the user who issued the key, or rotated to it; null: an operator, a program at a terminal, or there is no such key. */
  issuerOf(accountId: AccountId, actor: string): Promise<UserId | null>;
}
