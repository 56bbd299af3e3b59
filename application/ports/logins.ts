// Login sessions, users' email addresses and password hashes. Operational data, stored like secrets (architecture §1). Events of the user
// refer to each hash by its id.
import type { AccountId, PasswordId, SecondFactorId, SessionId, UserId } from '../../domain/kernel/ids.ts';
import type { Role } from '../../domain/user/user.ts';

// --- Login sessions (rule D1). Operational data. A token names a session and is invalid once the session has ended. ---

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
  /** As `find`, but does not count as a use. */
  look(sessionId: SessionId): Promise<Session | null>;
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
  /** Removes the newest failure of the subject: it was recorded in advance, and the attempt succeeded. */
  removeOne(subject: string): Promise<void>;
  forgetOld(): Promise<void>;
}

/** Maps email addresses, ignoring case, to users. */
export interface UserEmails {
  /** Assigns the address to this user unless it belongs to another. Returns the user to whom it belongs. */
  claim(email: string, userId: UserId): Promise<UserId>;
  /** Returns the user with this address, or null if no user has it. */
  find(email: string): Promise<UserId | null>;
}

/** Password hashes. The user's events say which one is valid; the others are useless. */
export interface Passwords {
  /** Stores a hash. Call it before the event that names the hash is written. */
  keep(passwordId: PasswordId, userId: UserId, hash: string): Promise<void>;
  find(passwordId: PasswordId): Promise<string | null>;
  /**
   * Removes the user's hashes that were stored before this one: those that it replaced, and those of attempts that crashed. Call it after
   * the event that names this one. A late call removes no newer hash.
   */
  forgetOlder(userId: UserId, passwordId: PasswordId): Promise<void>;
  /** Removes a hash that no event will name. */
  forget(passwordId: PasswordId): Promise<void>;
}

/** Identifies a hashing request, so that neither one user nor one address can occupy the hasher. */
export interface PasswordAsker {
  /** In any letter case. May belong to no user. */
  readonly email: string;
  /** The client's address, in the form that limits use; null: the request did not come over the network. */
  readonly address: string | null;
}

/** Too many passwords of this user, or from this address, wait to be hashed. Nothing was decided; a retry is safe. */
export class PasswordHashingBusy extends Error {
  override name = 'PasswordHashingBusy';
}

/** A slow hash. A process computes at most two at once; further requests wait. */
export interface PasswordHasher {
  /** Returns the hash of the password. Throws PasswordHashingBusy. */
  hash(password: string, asker: PasswordAsker): Promise<string>;
  /** Returns whether the password matches the hash. A null hash takes as long as a wrong password. Throws PasswordHashingBusy. */
  isRight(password: string, hash: string | null, asker: PasswordAsker): Promise<boolean>;
}
