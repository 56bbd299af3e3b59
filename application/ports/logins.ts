// Login credentials: users' email addresses and password hashes. Operational data, stored like secrets (architecture §1). Events of the
// user refer to each hash by its id.
import type { AccountId, PasswordId, SecondFactorId, SessionId, UserId } from '../../domain/kernel/ids.ts';
import type { Role } from '../../domain/user/user.ts';
import type { JobRequest } from './jobs.ts';

// --- Links for setting a password (valid for one use and one hour), and requests for them. Operational data. ---

/** Why the link is sent: the user was invited, or requested a password reset. */
export type LinkPurpose = 'invitation' | 'reset';

export interface LinkRequest {
  /** A raw id. */
  readonly requestId: string;
  readonly purpose: LinkPurpose;
  /** As entered. May belong to no user. */
  readonly email: string;
}

interface PasswordLink {
  readonly userId: UserId;
  /** The valid password when the link was made; null: none. The link becomes invalid when the password changes, so it has one use. */
  readonly replaces: PasswordId | null;
}

export interface PasswordLinks {
  /** Stores a request and its job in one transaction. No-op if a request for this address is already waiting. */
  request(request: LinkRequest, job: JobRequest): Promise<void>;
  /** Returns the request, or null if it is done. */
  findRequest(requestId: string): Promise<LinkRequest | null>;
  /** Removes a request that is done. */
  endRequest(requestId: string): Promise<void>;
  /** Yields the unfinished requests of the last day, in pages of `page`. */
  openRequests(page: number): AsyncIterable<readonly LinkRequest[]>;

  /** Returns the secret of the request's link. It is derived from the id and never stored, so it is always the same. */
  tokenOf(requestId: string): string;
  /** Makes the link valid for one hour from now. */
  open(token: string, link: PasswordLink): Promise<void>;
  /** Returns the link, or null if it does not exist or has expired. */
  find(token: string): Promise<PasswordLink | null>;
  /** Returns how many links were made for the user within the last 15 minutes. */
  countRecent(userId: UserId): Promise<number>;
  /** Removes expired links and requests. */
  forgetOld(): Promise<void>;
}

// --- Second factors of users: TOTP (RFC 6238) and recovery codes (rule D4). Operational data, stored like secrets. The user's events say
// which factor is valid. An unconfirmed factor is pending. ---

export interface NewSecondFactor {
  /** In base32, as authenticator apps expect it. */
  readonly secret: string;
  readonly otpauthUrl: string;
}

export interface SecondFactors {
  /**
   * Makes a secret and stores it as the user's pending factor, replacing any other pending one. `label`: the user's name in authenticator
   * apps.
   */
  begin(factor: {
    readonly secondFactorId: SecondFactorId;
    readonly userId: UserId;
    readonly label: string;
  }): Promise<NewSecondFactor>;
  /** Returns the user's pending factor, or null. */
  pendingOf(userId: UserId): Promise<SecondFactorId | null>;
  /**
   * Ends the pending state of a factor and stores hashes of its recovery codes. Call it before the event that makes the factor valid.
   * Returns false if the factor is no longer pending because another enrolment replaced it.
   */
  confirm(secondFactorId: SecondFactorId, recoveryCodes: readonly string[]): Promise<boolean>;
  /** Returns whether the TOTP code is currently valid and unused, in all processes, and marks it as used. */
  useCode(secondFactorId: SecondFactorId, code: string): Promise<boolean>;
  /** Returns whether the recovery code is valid and unused, in all processes, and marks it as used. */
  useRecoveryCode(secondFactorId: SecondFactorId, code: string): Promise<boolean>;
  /** Removes a factor and its recovery codes. */
  forget(secondFactorId: SecondFactorId): Promise<void>;
}

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
  /** Removes all other hashes of the user. */
  keepOnly(userId: UserId, passwordId: PasswordId): Promise<void>;
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
