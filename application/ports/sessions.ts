// Who is logged in (rule D1): operational data. A token names a session; it is worth nothing once the session is gone.
import type { AccountId, PasswordId, SecondFactorId, SessionId, UserId } from '../../domain/kernel/ids.ts';
import type { Role } from '../../domain/user/user.ts';

export interface Session {
  readonly sessionId: SessionId;
  readonly userId: UserId;
  /** null: of an OPERATOR. */
  readonly accountId: AccountId | null;
  /** The password that opened it: with another one in force it is over. */
  readonly passwordId: PasswordId;
  /** The second factor that opened it, or null: with another one in force it is over. */
  readonly secondFactorId: SecondFactorId | null;
}

export interface Sessions {
  begin(session: Session, lifetimeSeconds: number): Promise<void>;
  /**
   * Returns a session that has neither ended nor run out; else null. An OPERATOR's session also runs out after 30
   * minutes without use.
   */
  find(sessionId: SessionId): Promise<Session | null>;
  /** Lets the session go on under another password or second factor. */
  carryOver(session: Pick<Session, 'sessionId' | 'passwordId' | 'secondFactorId'>): Promise<void>;
  end(sessionId: SessionId): Promise<void>;
  endOfUser(userId: UserId): Promise<void>;
  endOfAccount(accountId: AccountId): Promise<void>;
  /** Removes those that ran out. */
  forgetOld(): Promise<void>;
}

/** Signed tokens that name a session. */
export interface SessionTokens {
  /** Returns a token of this lifetime. */
  issue(
    session: Pick<Session, 'sessionId' | 'userId' | 'accountId'> & { readonly role: Role },
    lifetimeSeconds: number,
  ): Promise<string>;
  /** Returns the session that the token names; null when it was not signed here for this use, or its time is over or has not begun. */
  read(token: string): Promise<SessionId | null>;
}

/**
 * Failed logins of the last quarter of an hour, in all processes, by what was tried: an e-mail address or a second factor. What was tried
 * is not kept in the clear.
 */
export interface LoginFailures {
  count(subject: string): Promise<number>;
  record(subject: string): Promise<void>;
  forgetOld(): Promise<void>;
}
