// The keys that seal secrets at rest and sign session tokens (rule S6). Sealed data names the secrets key that sealed it, so that
// SECRETS_KEY can be rotated while processes run: every key of a keyring opens, the first one seals. HKDF derives a separate key for each
// purpose, so data sealed for one purpose can't be opened for another.
import { createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';
import { seal, unseal } from './seal.ts';

export const SECRETS_KEY_BYTES = 32;
const KEY_ID_BYTES = 8;

export type Purpose =
  | 'webhook secrets'
  | 'connection secrets'
  | 'second factors'
  | 'data keys'
  | 'callbacks'
  | 'audit keys'
  | 'key check'
  | 'evidence urls';
/** Uses of keys that seal nothing. */
export type KeyUse = 'session tokens' | 'login failures' | 'password links';

export interface Sealed {
  /** Id of the secrets key: 16 hex characters that reveal nothing about the key. */
  readonly keyId: string;
  readonly sealed: Buffer;
}

/** The data was sealed with a secrets key that the keyring does not have. */
export class UnknownSecretsKey extends Error {
  override name = 'UnknownSecretsKey';
}

const derived = (key: Buffer, use: string, bytes: number): Buffer =>
  Buffer.from(hkdfSync('sha256', key, '', `quita ${use}`, bytes));

export class SecretsKeyring {
  /** Id of the key that seals. */
  readonly sealingId: string;
  /** The secrets keys by their id. */
  readonly #keys: ReadonlyMap<string, Buffer>;
  /** As objects, because OpenSSL needs 15 µs more for a key that is given as bytes. */
  readonly #derived = new Map<string, KeyObject>();

  /** `keys`: 32 bytes each. The first one seals; all of them open. */
  constructor(keys: readonly [Buffer, ...Buffer[]]) {
    const byId = keys.map((key) => [derived(key, 'key id', KEY_ID_BYTES).toString('hex'), key] as const);
    this.#keys = new Map(byId);
    this.sealingId = (byId[0] as (typeof byId)[number])[0];
  }

  /** Returns whether the keyring can open data that this key sealed. */
  has(keyId: string): boolean {
    return this.#keys.has(keyId);
  }

  get ids(): readonly string[] {
    return [...this.#keys.keys()];
  }

  /** `context` binds the sealed bytes to their place, so that they can't be moved to another row. */
  seal(purpose: Purpose, context: string, data: string | Buffer): Sealed {
    return { keyId: this.sealingId, sealed: seal(this.#keyOf(this.sealingId, purpose), context, data) };
  }

  /** Throws UnknownSecretsKey, or another error if the purpose or context differs or the bytes were changed. */
  unseal(purpose: Purpose, context: string, sealed: Sealed): string {
    return this.unsealBytes(purpose, context, sealed).toString('utf8');
  }

  /** The same for data that is no text. */
  unsealBytes(purpose: Purpose, context: string, { keyId, sealed }: Sealed): Buffer {
    return unseal(this.#keyOf(keyId, purpose), context, sealed);
  }

  /** Returns 32 bytes for this use, derived from that secrets key; null when the keyring does not have it. */
  keyFor(use: KeyUse, keyId: string): Buffer | null {
    return this.has(keyId) ? this.#keyOf(keyId, use).export() : null;
  }

  #keyOf(keyId: string, purpose: Purpose | KeyUse): KeyObject {
    const name = `${keyId} ${purpose}`;
    const known = this.#derived.get(name);
    if (known !== undefined) return known;
    const key = this.#keys.get(keyId);
    if (key === undefined)
      throw new UnknownSecretsKey(
        `sealed with the secrets key ${keyId}, which this process does not have: add that key to SECRETS_KEY_FALLBACKS`,
      );
    const made = createSecretKey(derived(key, purpose, SECRETS_KEY_BYTES));
    this.#derived.set(name, made);
    return made;
  }
}
