// Bodies of callbacks, each sealed with a key of its own, which the secrets key seals. Without its key, a body is gone (ADR 0017).
import { createSecretKey } from 'node:crypto';
import { SECRETS_KEY_BYTES, type SecretsKeyring } from '../secrets/keyring.ts';
import { pooledRandom } from '../secrets/randomPool.ts';
import { seal, unseal } from '../secrets/seal.ts';

/** As in the table operations.provider_callbacks. */
export interface SealedBody {
  readonly raw: Buffer;
  readonly key_id: string;
  readonly sealed: Buffer;
}
interface Callback {
  readonly connection_id: string;
  /** SHA-256 of the body. */
  readonly body_hash: Buffer;
}

/** Binds a body and its key to their row. */
export const callbackContext = ({ connection_id: connectionId, body_hash: bodyHash }: Callback): string =>
  `callback ${connectionId} ${bodyHash.toString('hex')}`;

export const sealBody = (keyring: SecretsKeyring, callback: Callback, body: Uint8Array): SealedBody => {
  const context = callbackContext(callback);
  const key = pooledRandom(SECRETS_KEY_BYTES);
  const { keyId, sealed } = keyring.seal('callbacks', context, key);
  return { raw: seal(createSecretKey(key), context, Buffer.from(body)), key_id: keyId, sealed };
};

export const openBody = (keyring: SecretsKeyring, row: Callback & SealedBody): Buffer => {
  const context = callbackContext(row);
  const key = keyring.unsealBytes('callbacks', context, { keyId: row.key_id, sealed: row.sealed });
  return unseal(createSecretKey(key), context, row.raw);
};
