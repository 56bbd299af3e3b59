// The images of accounts, by their SHA-256, which is all that the log has of them (rule O3).
import type { AccountId } from '../../domain/kernel/ids.ts';
import type { Rejection } from '../../domain/kernel/rejection.ts';

export const LOGO_BYTES_MAX = 65_536;
export const LOGO_TYPES = ['image/png', 'image/jpeg'] as const;

export interface Logo {
  readonly contentType: (typeof LOGO_TYPES)[number];
  readonly bytes: Buffer;
}
/** An image that was checked. */
export interface CheckedLogo extends Logo {
  /** 64 hex digits. */
  readonly sha256: string;
}

export interface Logos {
  put(accountId: AccountId, logo: CheckedLogo): Promise<void>;
  /** Whoever's it is; null: nobody's. */
  find(sha256: string): Promise<Logo | null>;
  /** Forgets the account's other ones. */
  keepOnly(accountId: AccountId, sha256s: readonly string[]): Promise<void>;
}

/** Reads an image. Rejects with `invalid_request` (param `logo`) where it can't be a logo. */
export type CheckLogo = (image: Uint8Array) => Promise<CheckedLogo | Rejection>;
