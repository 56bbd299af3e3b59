// Analysts: database roles that may read the views of the schema `analytics`, and nothing else (ADR 0016).
import type { AccountId } from '../../domain/kernel/ids.ts';

export interface AnalystGrant {
  readonly role: string;
  /** null: all accounts. */
  readonly accountId: AccountId | null;
  readonly grantedAt: string;
  readonly grantedBy: string;
  /** Number of open sessions. */
  readonly sessions: number;
}

/**
 * `granted`: `isNew` unless the role had the grant already; it then only gets the new password. `gaps`: actions that the database wrongly
 * allows the role, each with the statement that prevents it.
 */
export type GrantOutcome =
  | { readonly kind: 'granted'; readonly isNew: boolean; readonly gaps: readonly string[] }
  /** The role has a grant for another account, or for all. */
  | { readonly kind: 'otherAccount' }
  /** SQL reserves the name. */
  | { readonly kind: 'reservedName' }
  /** The role exists, but not as an analyst. */
  | { readonly kind: 'roleExists' }
  /** The program's own role may not create roles. */
  | { readonly kind: 'mayNotCreateRoles'; readonly owner: string };

/** A session of an analyst that was ended. */
export interface EndedSession {
  readonly role: string;
  readonly why: 'too_long' | 'advisory_lock';
}

export interface Analysts {
  grant(
    role: string,
    accountId: AccountId | null,
    password: string,
    by: { readonly actor: string; readonly at: string },
  ): Promise<GrantOutcome>;
  /** Ends the role's sessions and drops the role. Returns false if it is not an analyst. */
  revoke(role: string): Promise<boolean>;
  list(): Promise<readonly AnalystGrant[]>;
  /** Enforces the limits of sessions, which an analyst's own SET could lift. Lowers the priority of the others where it can. */
  restrain(): Promise<readonly EndedSession[]>;
}

/** The limits of an analyst's sessions (rule N3). */
export const ANALYST_LIMITS = {
  sessions: 3,
  statementSeconds: 30,
  /** Seconds that a transaction may last, whatever the session has set. */
  transactionSeconds: 40,
  idleInTransactionSeconds: 10,
  workMemMegabytes: 16,
  tempFileMegabytes: 1_024,
} as const;
