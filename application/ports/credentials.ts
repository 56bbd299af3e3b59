// Login credentials: users' email addresses and password hashes. Operational data, stored like secrets (architecture §1). Events of the
// user refer to each hash by its id.
import type { PasswordId, UserId } from '../../domain/kernel/ids.ts';

/** Maps email addresses, ignoring case, to users. */
export interface UserEmails {
  /** Assigns the address to this user unless it belongs to another. Returns the user to whom it belongs. */
  claim(email: string, userId: UserId): Promise<UserId>;
  /** Returns the user with this address, or null if there is none. */
  find(email: string): Promise<UserId | null>;
}

/** Password hashes. The user's events say which one is valid; the others are useless. */
export interface Passwords {
  /** Stores a hash. Call it before the event that names the hash is written. */
  keep(passwordId: PasswordId, userId: UserId, hash: string): Promise<void>;
  find(passwordId: PasswordId): Promise<string | null>;
  /** Removes all other hashes of the user. */
  keepOnly(userId: UserId, passwordId: PasswordId): Promise<void>;
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
