// Login sessions (rule D1). Operational data. A token names a session and is invalid once the session has ended.
import type { AccountId, PasswordId, SecondFactorId, SessionId, UserId } from '../../domain/kernel/ids.ts';
import type { Role } from '../../domain/user/user.ts';

export interface Session {
  readonly sessionId: SessionId;
  readonly userId: UserId;
  /** null: the session of an OPERATOR. */
  readonly accountId: AccountId | null;
  /** The password that opened it. The session is over when the password changes. */
  readonly passwordId: PasswordId;
  /** The second factor that opened it, or null. The session is over when the second factor changes. */
  readonly secondFactorId: SecondFactorId | null;
}

export interface Sessions {
  begin(session: Session, lifetimeSeconds: number): Promise<void>;
  /**
   * Returns the session, or null if it has ended or expired. An OPERATOR's session also expires after 30 minutes without use.
   */
  find(sessionId: SessionId): Promise<Session | null>;
  /** Moves the session to another password or second factor, so that it continues. */
  carryOver(session: Pick<Session, 'sessionId' | 'passwordId' | 'secondFactorId'>): Promise<void>;
  end(sessionId: SessionId): Promise<void>;
  endOfUser(userId: UserId): Promise<void>;
  endOfAccount(accountId: AccountId): Promise<void>;
  /** Removes expired sessions. */
  forgetOld(): Promise<void>;
}

/** Signed tokens that name a session. */
export interface SessionTokens {
  /** Returns a token with this lifetime. */
  issue(
    session: Pick<Session, 'sessionId' | 'userId' | 'accountId'> & { readonly role: Role },
    lifetimeSeconds: number,
  ): Promise<string>;
  /** Returns the session that the token names, or null if the token has a bad signature or purpose, has expired or is not valid yet. */
  read(token: string): Promise<SessionId | null>;
}

/**
 * Counts failed logins of the last 15 minutes, in all processes, by email address or second factor. Neither is stored in cleartext.
 */
export interface LoginFailures {
  count(subject: string): Promise<number>;
  record(subject: string): Promise<void>;
  forgetOld(): Promise<void>;
}
