// When keys were last used: operational, to the minute, and never waited for.
import type { KeyId } from '../../domain/kernel/ids.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';

export interface KeyUses {
  /** A request came with the key. Costs no query: uses are written together, at most once a minute for each key. */
  note(key: KeyId): void;
}

export interface KeyUseReads {
  /** Returns when each of these keys was last used, as far as it was written; keys that were not used are missing. */
  lastUsed(keys: readonly KeyId[]): Promise<ReadonlyMap<KeyId, Timestamp>>;
}
