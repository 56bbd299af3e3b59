// Leases that let each process cache authentication data, and revoke it everywhere before a revocation returns (ADR 0009).
import type { AccountId } from '../../domain/kernel/ids.ts';

export interface AccessLeases {
  /**
   * Returns whether this process may use its cache, which then reflects every announcement that was completed before this call. If false,
   * the caller must query the database. Costs no query, and keeps the lease alive.
   */
  isHeld(): boolean;
  /** Calls the listener with each account whose keys or standing have changed; null: any account may have changed. */
  onChange(listener: (account: AccountId | null) => void): void;
  /**
   * Announces that keys or the standing of the account have changed. Call it after the change is in the log. Resolves when no process uses
   * older cached data: usually at once, or after the length of a lease if a process can't be reached.
   */
  announce(account: AccountId): Promise<void>;
}
