// Signed notes (c2sp.org/signed-note) with Ed25519 keys, and cosignatures of witnesses (c2sp.org/tlog-cosignature).
import { createPublicKey, hash, type KeyObject, sign, verify } from 'node:crypto';

const KINDS = { note: 0x01, cosignature: 0x04 } as const;
type KeyKind = keyof typeof KINDS;
const PUBLIC_BYTES = 32;
const SIGNATURE_BYTES = 64;
const TIME_BYTES = 8;
const MAX_SIGNATURES = 64;

/** A public key under a name. */
export interface NoteKey {
  readonly name: string;
  readonly kind: KeyKind;
  /** The key id, 4 bytes. */
  readonly id: Buffer;
  /** 32 bytes. */
  readonly publicKey: Buffer;
}

const NAME = /^[^\s+\p{Z}\p{Cc}]+$/u;

/** Throws RangeError for a name with spaces or plus signs, and for a key that isn't 32 bytes long. */
export const noteKeyOf = (name: string, publicKey: Buffer, kind: KeyKind = 'note'): NoteKey => {
  if (!NAME.test(name)) throw new RangeError('A key name must not be empty or contain spaces or plus signs.');
  if (publicKey.length !== PUBLIC_BYTES) throw new RangeError('An Ed25519 public key has 32 bytes.');
  const named = Buffer.concat([Buffer.from(`${name}\n`), Buffer.of(KINDS[kind]), publicKey]);
  return { name, kind, id: hash('sha256', named, 'buffer').subarray(0, 4), publicKey };
};

/** Returns the log's keys. `origin`: the log's name. */
export const noteKeysOf = (keys: readonly Pick<NoteKey, 'publicKey'>[], origin: string): readonly NoteKey[] =>
  keys.map(({ publicKey }) => noteKeyOf(origin, publicKey));

/** Returns the 32 bytes of an Ed25519 key's public part. */
export const publicBytes = (key: KeyObject): Buffer => {
  const { x } = (key.type === 'private' ? createPublicKey(key) : key).export({ format: 'jwk' });
  return Buffer.from(x as string, 'base64url');
};

/** Returns the key as a vkey: name, key id and key, joined by plus signs. */
export const vkeyOf = ({ name, id, kind, publicKey }: NoteKey): string =>
  `${name}+${id.toString('hex')}+${Buffer.concat([Buffer.of(KINDS[kind]), publicKey]).toString('base64')}`;

/** Returns the key of a vkey, or null if it isn't a valid Ed25519 one. */
export const readVkey = (vkey: string): NoteKey | null => {
  const [name, , ...rest] = vkey.split('+');
  const bytes = Buffer.from(rest.join('+'), 'base64');
  const kind = (Object.keys(KINDS) as KeyKind[]).find((each) => KINDS[each] === bytes[0]);
  if (!NAME.test(name as string) || kind === undefined || bytes.length !== 1 + PUBLIC_BYTES) return null;
  const key = noteKeyOf(name as string, bytes.subarray(1), kind);
  return vkeyOf(key) === vkey ? key : null;
};

export interface NoteSignature {
  readonly name: string;
  readonly id: Buffer;
  readonly signature: Buffer;
}
export interface SignedNote {
  /** With its final newline. */
  readonly text: string;
  readonly signatures: readonly NoteSignature[];
}

const SIGNATURE_LINE = /^— (?<name>\S+) (?<bytes>[A-Za-z0-9+/]+={0,2})$/u;

/** Returns a line's signature, or null if it isn't one. */
export const readSignatureLine = (line: string): NoteSignature | null => {
  const { name, bytes } = SIGNATURE_LINE.exec(line)?.groups ?? {};
  if (name === undefined || bytes === undefined || !NAME.test(name)) return null;
  const signed = Buffer.from(bytes, 'base64');
  if (signed.length < 5 || signed.toString('base64') !== bytes) return null;
  return { name, id: signed.subarray(0, 4), signature: signed.subarray(4) };
};
export const signatureLine = ({ name, id, signature }: NoteSignature): string =>
  `— ${name} ${Buffer.concat([id, signature]).toString('base64')}\n`;

export const writeNote = ({ text, signatures }: SignedNote): string =>
  `${text}\n${signatures.map(signatureLine).join('')}`;

/** Returns the parts of a note, unverified, or null if it isn't a signed note. */
export const readNote = (note: string): SignedNote | null => {
  const end = note.lastIndexOf('\n\n');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: notes must not contain them
  if (end < 0 || !note.endsWith('\n') || /[\x00-\x09\x0b-\x1f]/.test(note)) return null;
  const lines = note.slice(end + 2, -1).split('\n');
  if (lines.length > MAX_SIGNATURES) return null;
  const signatures = lines.map(readSignatureLine);
  if (signatures.includes(null)) return null;
  return { text: note.slice(0, end + 1), signatures: signatures as NoteSignature[] };
};

const signedBytes = (text: string, kind: KeyKind, signature: Buffer): Buffer =>
  kind === 'note' ? Buffer.from(text) : Buffer.from(`cosignature/v1\ntime ${signature.readBigUInt64BE()}\n${text}`);

/** Returns whether a signature names this key. Names and ids can collide, so only `isSignedBy` proves something. */
export const names = (key: NoteKey, { name, id }: NoteSignature): boolean => name === key.name && id.equals(key.id);

/** Returns whether this signature of the text was made with this key. */
export const isSignedBy = (key: NoteKey, text: string, signed: NoteSignature): boolean => {
  const at = key.kind === 'note' ? 0 : TIME_BYTES;
  if (!names(key, signed) || signed.signature.length !== at + SIGNATURE_BYTES) return false;
  const x = key.publicKey.toString('base64url');
  const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  return verify(null, signedBytes(text, key.kind, signed.signature), publicKey, signed.signature.subarray(at));
};

/** Returns the known keys that signed the note. Returns null if no known key signed it, or if a known key’s signature is invalid. */
export const signersOf = ({ text, signatures }: SignedNote, keys: readonly NoteKey[]): readonly NoteKey[] | null => {
  const signers: NoteKey[] = [];
  for (const signed of signatures) {
    const key = keys.find((each) => names(each, signed));
    if (key === undefined) continue;
    if (!isSignedBy(key, text, signed)) return null;
    signers.push(key);
  }
  return signers.length === 0 ? null : signers;
};

/** Returns the signature of a text. Throws RangeError as `noteKeyOf` does. */
export const signed = (text: string, name: string, privateKey: KeyObject): NoteSignature => {
  const { id } = noteKeyOf(name, publicBytes(privateKey));
  return { name, id, signature: sign(null, Buffer.from(text), privateKey) };
};

/** Returns the Unix time in a witness's cosignature. Throws RangeError for a signature that is too short. */
export const cosignedAt = ({ signature }: NoteSignature): bigint => signature.readBigUInt64BE();

/** Returns a witness's cosignature of a checkpoint's text, made at this Unix time. */
export const cosigned = (text: string, name: string, privateKey: KeyObject, seconds: number): NoteSignature => {
  const { id } = noteKeyOf(name, publicBytes(privateKey), 'cosignature');
  const time = Buffer.alloc(TIME_BYTES);
  time.writeBigUInt64BE(BigInt(seconds));
  return { name, id, signature: Buffer.concat([time, sign(null, signedBytes(text, 'cosignature', time), privateKey)]) };
};
