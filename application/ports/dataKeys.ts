// Data keys: the keys that seal personal data in events and other records (ADR 0017). Destroying a key erases the data.
import { EventStoreUnavailable, type StoredKey } from './eventStore.ts';

/** Seals texts. `context` binds a sealed text to its place, so that it can't be moved to another one. */
export interface DataKey {
  seal(context: string, text: string): string;
  /** Returns null if another key sealed the text: that key is lost. Throws if the context differs, or if the text was changed. */
  open(context: string, sealed: string): string | null;
}

/** The key of an owner. `destroyed`: the owner's data is erased, and nothing can be sealed for it any more. */
export type FoundKey = DataKey | 'destroyed';

/** A new key, and the form in which it is stored. */
export interface NewDataKey extends StoredKey {
  readonly key: DataKey;
}

/** The stored keys can't be read or written now. The same call may succeed later. It never means that a key was destroyed. */
export class DataKeysUnavailable extends EventStoreUnavailable {
  override name = 'DataKeysUnavailable';
}

/**
 * The keys by owner: the id of the payment, or of a payout that is no refund. It is the correlation id of all events that are about it, so
 * refunds, dispute cases and webhook deliveries of a payment use the payment's key.
 */
export interface DataKeys {
  /** False while this process would not learn of keys that others destroy. Don't keep personal data in memory then. */
  readonly mayRemember: boolean;
  /** Returns the owner's key if this process remembers it. */
  recall(owner: string): FoundKey | undefined;
  /** Returns the keys of the owners that have one. Throws DataKeysUnavailable. */
  find(owners: readonly string[]): Promise<ReadonlyMap<string, FoundKey>>;
  /**
   * Returns the owner's key. Creates one durably if the owner has no key. `isNew`: that is probable, so no key is looked up first. Throws
   * DataKeysUnavailable.
   */
  findOrCreate(owner: string, isNew: boolean): Promise<FoundKey>;
  /** Returns a new key that the append of the owner's first events must store; null if the event store doesn't store keys. */
  createWithAppend(owner: string): NewDataKey | null;
  /** Remembers a key that an append has stored. */
  remember(key: NewDataKey): void;
  /**
   * Destroys the owners' keys, also of owners without a key. Idempotent. Returns the number of owners whose keys were not destroyed before.
   * This process forgets its keys and calls its `onDestroyed` listeners before the promise resolves; other processes do so soon after.
   * Throws DataKeysUnavailable.
   */
  destroy(owners: readonly string[]): Promise<number>;
  /** Calls the listener when keys were destroyed, or may have been: discard all copies of personal data. Returns how to unsubscribe. */
  onDestroyed(listener: () => void): () => void;
}
