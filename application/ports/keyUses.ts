// Tracks when keys were last used. Operational data, accurate to the minute, written in the background.
import type { KeyId } from '../../domain/kernel/ids.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';

export interface KeyUses {
  /** Notes a request with the key. Costs no query: uses are written in batches, at most once a minute for each key. */
  note(key: KeyId): void;
}

export interface KeyUseReads {
  /** Returns when each of these keys was last used, as far as written. Keys that were never used are missing. */
  lastUsed(keys: readonly KeyId[]): Promise<ReadonlyMap<KeyId, Timestamp>>;
}
