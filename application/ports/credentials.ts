// What users log in with. Operational data, kept like secrets (architecture §1): which user an e-mail address names, and hashes of
// passwords, each under the id by which an event of the user names it.
import type { PasswordId, UserId } from '../../domain/kernel/ids.ts';

/** An address names one user, whatever its case. */
export interface UserEmails {
  /** Returns the user whom the address names: this one, unless it named another before. */
  claim(email: string, userId: UserId): Promise<UserId>;
  /** Returns null when it names nobody. */
  find(email: string): Promise<UserId | null>;
}

/** Hashes of passwords. The user's events say which one is in force; the others open nothing. */
export interface Passwords {
  /** Stores a hash. To be called before the event that names it is written. */
  keep(passwordId: PasswordId, userId: UserId, hash: string): Promise<void>;
  find(passwordId: PasswordId): Promise<string | null>;
  /** Removes every hash of the user but this one. */
  keepOnly(userId: UserId, passwordId: PasswordId): Promise<void>;
}

/** Whose password is hashed, and for whom: hashes are computed in turns of both. */
export interface PasswordAsker {
  /** In any case of letters; it may belong to no user. */
  readonly email: string;
  /** Where the request comes from, as limits count it; null: it is not one of the network. */
  readonly address: string | null;
}

/** Too many passwords of this user, or from this address, wait to be hashed: nothing was decided, and a repeat is safe. */
export class PasswordHashingBusy extends Error {
  override name = 'PasswordHashingBusy';
}

/** A slow hash, of which a process computes two at once; the others wait for their turn. */
export interface PasswordHasher {
  /** Throws PasswordHashingBusy. */
  hash(password: string, asker: PasswordAsker): Promise<string>;
  /** If `hash` is null, takes as long as for a wrong password and returns false. Throws PasswordHashingBusy. */
  isRight(password: string, hash: string | null, asker: PasswordAsker): Promise<boolean>;
}
