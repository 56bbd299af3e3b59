// Seals texts and keys with AES-256-GCM.
import { createCipheriv, createDecipheriv, type KeyObject } from 'node:crypto';
import { pooledRandom } from './randomPool.ts';

const IV_BYTES = 12;
const TAG_BYTES = 16;
const NOTHING = Buffer.alloc(0);

// Keys are KeyObjects, because Node throws and catches two errors before it takes a key as bytes: 20 µs where the stack is deep.

/** `context` binds the sealed bytes to their place, so that they can't be moved to another row. `prefix` comes before them, as it is. */
export const seal = (key: KeyObject, context: string, data: string | Buffer, prefix: Buffer = NOTHING): Buffer => {
  const iv = pooledRandom(IV_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(context));
  const body = typeof data === 'string' ? cipher.update(data, 'utf8') : cipher.update(data);
  cipher.final(); // returns no bytes: GCM is a stream cipher
  return Buffer.concat([prefix, iv, body, cipher.getAuthTag()]);
};

/** Throws if the key or the context differs, or the bytes were changed. */
export const unseal = (key: KeyObject, context: string, sealed: Buffer): Buffer => {
  const end = sealed.length - TAG_BYTES;
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(context)).setAuthTag(sealed.subarray(end));
  const data = decipher.update(sealed.subarray(IV_BYTES, end));
  decipher.final();
  return data;
};
