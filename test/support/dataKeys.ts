// Data keys in memory, and a codec that seals with them.
import { hash, randomBytes } from 'node:crypto';
import { JsonEventCodec } from '../../application/core/eventCodec.ts';
import type { DataKeys, FoundKey, NewDataKey } from '../../application/ports/dataKeys.ts';
import { HmacKey } from '../../application/ports/hmac.ts';
import { DerivedKey } from '../../infrastructure/secrets/dataKeys.ts';

/** The default secrets key of test gateways. */
export const TEST_SECRETS_KEY = hash('sha256', 'secrets key of test gateways', 'buffer');

const SECRET = new HmacKey(randomBytes(32));

export class MemoryDataKeys implements DataKeys {
  mayRemember = true;
  readonly #keys = new Map<string, FoundKey>();
  readonly #listeners = new Set<() => void>();

  recall(owner: string): FoundKey | undefined {
    return this.#keys.get(owner);
  }
  async find(owners: readonly string[]): Promise<ReadonlyMap<string, FoundKey>> {
    return new Map(owners.flatMap((owner) => (this.#keys.has(owner) ? [[owner, this.#keys.get(owner)!]] : [])));
  }
  async findOrCreate(owner: string): Promise<FoundKey> {
    const key = this.#keys.get(owner) ?? new DerivedKey(SECRET, randomBytes(32).toString('latin1'), owner);
    this.#keys.set(owner, key);
    return key;
  }
  createWithAppend(_owner: string): NewDataKey | null {
    return null;
  }
  remember(_key: NewDataKey): void {}
  set(owner: string, key: FoundKey): void {
    this.#keys.set(owner, key);
  }
  async destroy(owners: readonly string[]): Promise<number> {
    const left = owners.filter((owner) => this.#keys.get(owner) !== 'destroyed');
    for (const owner of left) this.#keys.set(owner, 'destroyed');
    for (const listener of this.#listeners) listener();
    return left.length;
  }
  onDestroyed(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
}

/** The keys of all codecs in the test process, so that each can read the events of the others. */
const KEYS = new MemoryDataKeys();

export const testCodec = (aggregates?: ConstructorParameters<typeof JsonEventCodec>[1]): JsonEventCodec =>
  new JsonEventCodec(KEYS, aggregates);

/** Opens a text that a test codec sealed. Throws if its key is missing or another key sealed it. */
export const openedText = (owner: string, context: string, sealed: string): string => {
  const key = KEYS.recall(owner);
  if (key === undefined || key === 'destroyed') throw new Error(`${owner} has no key`);
  const text = key.open(context, sealed);
  if (text === null) throw new Error(`another key than ${owner}’s sealed it`);
  return text;
};
