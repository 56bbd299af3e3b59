// The keys that sign checkpoints of the audit log.
import type { KeyObject } from 'node:crypto';
import type { Timestamp } from '../../domain/kernel/time.ts';

export interface AuditKey {
  /** 1, 2, 3 …; the newest key signs. */
  readonly id: number;
  /** Ed25519, 32 bytes. */
  readonly publicKey: Buffer;
  readonly createdAt: Timestamp;
}

export interface AuditKeys {
  /** Returns all keys, oldest first. */
  list(): Promise<readonly AuditKey[]>;
  /** Returns the private half of the newest key. Creates the first key. Throws if the process lacks the secrets key that seals it. */
  signer(): Promise<KeyObject>;
  /** Creates a key, which signs from now on. Returns null if `seen`, an id that the operator saw, is not the newest. Default: any. */
  rotate(seen?: number | null): Promise<AuditKey | null>;
}
