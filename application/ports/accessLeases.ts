// What authentication remembers, in every process, and how it is forgotten everywhere before a revocation answers (ADR 0009).
import type { AccountId } from '../../domain/kernel/ids.ts';

export interface AccessLeases {
  /**
   * Returns whether this process may answer from what it remembers: nothing that was announced before this call and has been answered is
   * missing in it. Otherwise whoever asks must look it up. Costs no query, and keeps the lease alive.
   */
  isHeld(): boolean;
  /** Called with each account whose keys or standing have changed; null: any may have. */
  onChange(listener: (account: AccountId | null) => void): void;
  /**
   * Announces that keys or the standing of the account have changed, once the log has the change. Resolves when no process relies any more
   * on what it remembered before: at once as a rule, after the length of a lease when a process can't be reached.
   */
  announce(account: AccountId): Promise<void>;
}
