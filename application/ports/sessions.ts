// Who is logged in (rule D1): operational data. A token names a session; it is worth nothing once the session is gone.
import type { AccountId, PasswordId, SessionId, UserId } from '../../domain/kernel/ids.ts';
import type { Role } from '../../domain/user/user.ts';

export interface Session {
  readonly sessionId: SessionId;
  readonly userId: UserId;
  /** null: of an OPERATOR. */
  readonly accountId: AccountId | null;
  /** The password that opened it: with another one in force it is over. */
  readonly passwordId: PasswordId;
}

export interface Sessions {
  begin(session: Session, lifetimeSeconds: number): Promise<void>;
  /** Returns a session that has neither ended nor run out; else null. */
  find(sessionId: SessionId): Promise<Session | null>;
  /** Lets the session go on under another password. */
  carryOver(sessionId: SessionId, passwordId: PasswordId): Promise<void>;
  end(sessionId: SessionId): Promise<void>;
  endOfUser(userId: UserId): Promise<void>;
  endOfAccount(accountId: AccountId): Promise<void>;
  /** Removes those that ran out. */
  forgetOld(): Promise<void>;
}

/** Signed tokens that name a session. */
export interface SessionTokens {
  /** Returns a token of this lifetime. */
  issue(session: Session & { readonly role: Role }, lifetimeSeconds: number): Promise<string>;
  /** Returns the session that the token names; null when it was not signed here for this use, or its time is over or has not begun. */
  read(token: string): Promise<SessionId | null>;
}

/** Failed logins of the last quarter of an hour, in all processes, by the e-mail address that was tried, which is not kept. */
export interface LoginFailures {
  count(email: string): Promise<number>;
  record(email: string): Promise<void>;
  forgetOld(): Promise<void>;
}
