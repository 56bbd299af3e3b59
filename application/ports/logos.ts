// The logos of accounts, by SHA-256. The log contains only the hash (rule O3).
import type { AccountId } from '../../domain/kernel/ids.ts';
import type { Rejection } from '../../domain/kernel/rejection.ts';

export const LOGO_BYTES_MAX = 65_536;
export const LOGO_TYPES = ['image/png', 'image/jpeg'] as const;

export interface Logo {
  readonly contentType: (typeof LOGO_TYPES)[number];
  readonly bytes: Buffer;
}
/** An image that passed the checks. */
export interface CheckedLogo extends Logo {
  /** 64 hex digits. */
  readonly sha256: string;
}

export interface Logos {
  put(accountId: AccountId, logo: CheckedLogo): Promise<void>;
  /** Returns the logo of any account, or null if no account has it. */
  find(sha256: string): Promise<Logo | null>;
  /** Removes the account's other logos. */
  keepOnly(accountId: AccountId, sha256s: readonly string[]): Promise<void>;
}

/** Checks an image. Rejects with `invalid_request` (param `logo`) if it is not a valid logo. */
export type CheckLogo = (image: Uint8Array) => Promise<CheckedLogo | Rejection>;
