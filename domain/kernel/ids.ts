// Raw ids: 26 characters of lower-case Crockford base32 that encode 128 bits (rule I1). Callers supply the bytes.

declare const brand: unique symbol;
export type Id<Name extends string> = string & { readonly [brand]: Name };

/** Raw id shared by a charge (`ch_…`) and its transaction (`tx_…`). */
export type PaymentId = Id<'payment'>;
export type RefundId = Id<'refund'>;
/** Id of a dispute case. */
export type MedCaseId = Id<'medCase'>;
/** Id of an evidence file in a dispute case. */
export type EvidenceId = Id<'evidence'>;
export type EndpointId = Id<'endpoint'>;
export type DeliveryId = Id<'delivery'>;
export type RedriveId = Id<'redrive'>;
export type EventId = Id<'event'>;
export type KeyId = Id<'key'>;
export type AccountId = Id<'account'>;
export type UserId = Id<'user'>;
/** Id of a password hash, which is stored apart from the events that refer to it. */
export type PasswordId = Id<'password'>;
/** Id of a second factor's secret, which is stored apart from the events that refer to it. */
export type SecondFactorId = Id<'secondFactor'>;
/** Id of a connection to a bank or payment institution. */
export type ConnectionId = Id<'providerConnection'>;
export type SessionId = Id<'session'>;
/** Id of a row of the request log. It starts with the time, so that ids are in time order. */
export type RequestLogId = Id<'requestLog'>;
/** Any raw id, including those that other folders declare. */
export type RawId = Id<string>;

/** Account of the platform's own events, such as those of its operators. It is never opened. */
export const PLATFORM_ACCOUNT = '0'.repeat(26) as AccountId;

declare const name: unique symbol;
/**
 * `<category>-<raw id>`, or `logConsumer-<name of a read model or process>`. The category contains no `-`, so the first `-` ends it
 * (EventStoreDB's rule).
 */
export type StreamName = string & { readonly [name]: true };

/** `test` is the sandbox; `live` reaches real providers. The modes share no data. */
export type Mode = 'test' | 'live';

/** An account in one mode. All data of a merchant belongs to a tenant. */
export interface Tenant {
  readonly accountId: AccountId;
  readonly mode: Mode;
}

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const CODES = Uint8Array.from(ALPHABET, (character) => character.charCodeAt(0));
const RAW = /^[0-7][0-9a-hjkmnp-tv-z]{25}$/;

/** `first` replaces the first 16 bits. */
const encoded = (bytes: Uint8Array, first: number): string => {
  const codes: number[] = [];
  let pending = 0;
  let bits = 2; // 128 bits fill 26 × 5 = 130: two leading zero bits
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
  return String.fromCharCode(...codes); // in one call, because V8 keeps a concatenated string as its parts
};

const first16 = (bytes: Uint8Array): number => {
  if (bytes.length !== 16) throw new RangeError(`a raw id has 16 bytes, not ${bytes.length}`);
  return ((bytes[0] as number) << 8) | (bytes[1] as number);
};

/** Encodes 16 bytes as 26 characters, most significant first, so that text order is byte order. */
export const encodeRawId = (bytes: Uint8Array): string => encoded(bytes, first16(bytes));

/** Number of the first 16 bits that follow the partition. */
const REST_BITS = 6;
const REST = (1 << REST_BITS) - 1;

/** Returns an id that starts with the partition and ends with the last 118 bits of the bytes. */
export const idInPartition = <I extends RawId>(partition: number, bytes: Uint8Array): I =>
  encoded(bytes, (partition << REST_BITS) | (first16(bytes) & REST)) as I;

/** Returns an id of something that belongs to the account; it shares the account's partition (rule I1a). */
export const idIn = <I extends RawId>(account: AccountId, bytes: Uint8Array): I =>
  idInPartition(partitionOf(account), bytes);

/**
 * Returns the partition of an id's account: the first 10 of its 128 bits, 0 to 1023. All ids that belong to an account share it with
 * the account's own id (rule I1a, ADR 0012). Ids that start with the time belong to no partition.
 */
export const partitionOf = (id: RawId): number =>
  (ALPHABET.indexOf(id.charAt(0)) << 7) |
  (ALPHABET.indexOf(id.charAt(1)) << 2) |
  (ALPHABET.indexOf(id.charAt(2)) >>> 3);

const TIME_BYTES = 6;
/** For 48 bits and the two leading zero bits. */
const TIME_CHARACTERS = 10;
/** Number of bytes after the time in an id that starts with the time. */
export const BEHIND_TIME = 10;

/**
 * Returns an id of the milliseconds since 1970 followed by 10 bytes. Rows inserted in time order append to the end of an index over such
 * ids, which costs less than half as much as random insertion.
 */
export const encodeTimedId = (atMs: number, rest: Uint8Array): string => {
  const bytes = new Uint8Array(TIME_BYTES + BEHIND_TIME);
  for (let n = TIME_BYTES, left = atMs; n > 0; left = Math.floor(left / 256)) bytes[--n] = left % 256;
  bytes.set(rest, TIME_BYTES);
  return encodeRawId(bytes);
};

/** Returns the milliseconds since 1970 with which the id starts. */
export const timeOfId = (timed: RequestLogId): number => {
  let millis = 0;
  for (let n = 0; n < TIME_CHARACTERS; n++) millis = millis * 32 + ALPHABET.indexOf(timed.charAt(n));
  return millis;
};

export const isRawId = (value: unknown): boolean => typeof value === 'string' && RAW.test(value);

/** Returns the raw id in `text`, which is raw or has one of the `prefixes`, or null if it is neither. */
export const parseId = <I extends RawId>(text: string, ...prefixes: string[]): I | null => {
  if (isRawId(text)) return text as I;
  for (const prefix of prefixes) {
    if (text.startsWith(prefix) && isRawId(text.slice(prefix.length))) return text.slice(prefix.length) as I;
  }
  return null;
};

/** Like `parseId`, but requires the prefix: for ids that the interface never shows raw. */
export const parsePrefixedId = <I extends RawId>(text: string, prefix: string): I | null =>
  text.startsWith(prefix) && isRawId(text.slice(prefix.length)) ? (text.slice(prefix.length) as I) : null;

/** Prefixes of public ids that belong to several aggregates or none. A descriptor declares the others (aggregate.ts). */
export const PREFIX = {
  charge: 'ch_',
  event: 'evt_',
  evidence: 'mev_',
  key: 'key_',
  /** A requested payout, or the Pix-out of a refund. */
  payout: 'po_',
  request: 'req_',
  requestLog: 'log_',
  /** A payment, where the API shows the transaction instead of the charge. */
  transaction: 'tx_',
} as const;
