// Raw ids: 26 characters of lower-case Crockford base32 holding 128 bits (rule I1). The bytes come from outside.

declare const brand: unique symbol;
export type Id<Name extends string> = string & { readonly [brand]: Name };

/** Raw id shared by a charge (`ch_…`) and its transaction (`tx_…`). */
export type PaymentId = Id<'payment'>;
export type RefundId = Id<'refund'>;
/** Of a dispute case. */
export type MedCaseId = Id<'medCase'>;
/** Of a file that is evidence in a dispute case. */
export type EvidenceId = Id<'evidence'>;
export type EndpointId = Id<'endpoint'>;
export type DeliveryId = Id<'delivery'>;
export type RedriveId = Id<'redrive'>;
export type EventId = Id<'event'>;
export type KeyId = Id<'key'>;
export type AccountId = Id<'account'>;
export type UserId = Id<'user'>;
/** Names the hash of a password, which is kept apart from the events that name it. */
export type PasswordId = Id<'password'>;
/** Names the secret of a second factor, which is kept apart from the events that name it. */
export type SecondFactorId = Id<'secondFactor'>;
export type SessionId = Id<'session'>;
/** Of a row of the request log. It begins with the time, so that later rows have later ids. */
export type RequestLogId = Id<'requestLog'>;
/** Any of them, and those that other folders name. */
export type RawId = Id<string>;

/** The account that events of the platform itself are recorded under, such as those of its operators. It is never opened. */
export const PLATFORM_ACCOUNT = '0'.repeat(26) as AccountId;

/** `test` is the sandbox, `live` reaches real providers. Nothing crosses from one to the other. */
export type Mode = 'test' | 'live';

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const CODES = Uint8Array.from(ALPHABET, (character) => character.charCodeAt(0));
const RAW = /^[0-7][0-9a-hjkmnp-tv-z]{25}$/;

/** `first`: what stands in place of the first 16 bits. */
const encoded = (bytes: Uint8Array, first: number): string => {
  const codes: number[] = [];
  let pending = 0;
  let bits = 2; // 128 bits fill 26 × 5 = 130: two zero bits lead
  for (let n = 0; n < 16; n++) {
    const byte = n === 0 ? first >>> 8 : n === 1 ? first & 255 : (bytes[n] as number);
    pending = (pending << 8) | byte;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      codes.push(CODES[(pending >>> bits) & 31] as number);
      pending &= (1 << bits) - 1;
    }
  }
  return String.fromCharCode(...codes); // at once: a text that is put together from 26 is kept as 26
};

const first16 = (bytes: Uint8Array): number => {
  if (bytes.length !== 16) throw new RangeError(`a raw id has 16 bytes, not ${bytes.length}`);
  return ((bytes[0] as number) << 8) | (bytes[1] as number);
};

/** 16 bytes as 26 characters, most significant first: text order is byte order. */
export const encodeRawId = (bytes: Uint8Array): string => encoded(bytes, first16(bytes));

/** The bits behind those of the partition, of the first 16. */
const REST_BITS = 6;
const REST = (1 << REST_BITS) - 1;

/** The id that begins with the partition and goes on with the last 118 bits of the bytes. */
export const idInPartition = <I extends RawId>(partition: number, bytes: Uint8Array): I =>
  encoded(bytes, (partition << REST_BITS) | (first16(bytes) & REST)) as I;

/** The id of something that belongs to this account: it has the account's partition (rule I1a). */
export const idIn = <I extends RawId>(account: AccountId, bytes: Uint8Array): I =>
  idInPartition(partitionOf(account), bytes);

/**
 * Returns the first 10 of an id's 128 bits, 0 to 1023: the partition of its account. All ids that belong to an account have it, and so has
 * the account's own id (rule I1a, ADR 0012). Ids that begin with the time belong to no partition.
 */
export const partitionOf = (id: RawId): number =>
  (ALPHABET.indexOf(id.charAt(0)) << 7) |
  (ALPHABET.indexOf(id.charAt(1)) << 2) |
  (ALPHABET.indexOf(id.charAt(2)) >>> 3);

const TIME_BYTES = 6;
/** Of the 48 bits and the two that lead. */
const TIME_CHARACTERS = 10;
/** What an id that begins with the time has behind it, in bytes. */
export const BEHIND_TIME = 10;

/**
 * An id that begins with the milliseconds since 1970, with 10 bytes behind them. Where rows come in the order of time they go to the end
 * of an index by such ids, which is less than half the work of going to any place of it.
 */
export const encodeTimedId = (atMs: number, rest: Uint8Array): string => {
  const bytes = new Uint8Array(TIME_BYTES + BEHIND_TIME);
  for (let n = TIME_BYTES, left = atMs; n > 0; left = Math.floor(left / 256)) bytes[--n] = left % 256;
  bytes.set(rest, TIME_BYTES);
  return encodeRawId(bytes);
};

/** The milliseconds since 1970 that such an id begins with. */
export const timeOfId = (timed: RequestLogId): number => {
  let millis = 0;
  for (let n = 0; n < TIME_CHARACTERS; n++) millis = millis * 32 + ALPHABET.indexOf(timed.charAt(n));
  return millis;
};

export const isRawId = (value: unknown): boolean => typeof value === 'string' && RAW.test(value);

/** The raw id inside `text`, which is raw or carries one of `prefixes`; null when it is neither. */
export const parseId = <I extends RawId>(text: string, ...prefixes: string[]): I | null => {
  if (isRawId(text)) return text as I;
  for (const prefix of prefixes) {
    if (text.startsWith(prefix) && isRawId(text.slice(prefix.length))) return text.slice(prefix.length) as I;
  }
  return null;
};

/** Like `parseId`, but the prefix must be there: for ids that the interface never shows raw. */
export const parsePrefixedId = <I extends RawId>(text: string, prefix: string): I | null =>
  text.startsWith(prefix) && isRawId(text.slice(prefix.length)) ? (text.slice(prefix.length) as I) : null;

/** What ids begin with that are shown of more than one aggregate, or of none: a descriptor tells the others (aggregate.ts). */
export const PREFIX = {
  charge: 'ch_',
  event: 'evt_',
  evidence: 'mev_',
  key: 'key_',
  /** Of a requested payout, and of the Pix-out of a refund. */
  payout: 'po_',
  request: 'req_',
  requestLog: 'log_',
  /** Of a payment, where the transaction is shown and not the charge. */
  transaction: 'tx_',
} as const;
