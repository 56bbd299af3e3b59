// Derives ids and fingerprints deterministically (rules I1, K2, W2; architecture §4).
import { hash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { OpenAccount } from '../../domain/account/account.ts';
import type { PaymentMethod } from '../../domain/charge/methods.ts';
import {
  type AccountId,
  type ConnectionId,
  type DeliveryId,
  type EndpointId,
  type EventId,
  encodeRawId,
  idIn,
  idInPartition,
  type MedCaseId,
  type Mode,
  type PaymentId,
  PLATFORM_ACCOUNT,
  type RawId,
  type RefundId,
} from '../../domain/kernel/ids.ts';
import { boundedCache } from '../ports/boundedCache.ts';
import { HmacKey } from '../ports/hmac.ts';

/** Both creation routes of charges are the operation `charges.create` (K1). */
export type Operation = 'charges.create' | 'payments.create';

/** Keys are cached, because making one costs more than the HMAC itself and a seed never changes. */
const SEED_KEYS_MAX = 10_000;
const seedKeys = boundedCache<string, HmacKey>(SEED_KEYS_MAX);
/** HMACs under the account's seed. Ids in `/pay/<raw>` grant access, so they must not be guessable. */
const keyedBy = (seed: string): HmacKey => {
  const known = seedKeys.get(seed);
  if (known) return known;
  const key = new HmacKey(Buffer.from(seed, 'base64'));
  seedKeys.set(seed, key);
  return key;
};
const hashed = (text: string): Buffer => hash('sha256', text, 'buffer');

/** Returns an id made from the first 128 bits of a digest, with the first 10 replaced by the account's partition. */
const derived = <I extends RawId>(account: AccountId, digest: Buffer): I => idIn(account, digest.subarray(0, 16));

/**
 * Returns the id of a new account, made from 16 random or pseudorandom bytes. Its first 10 bits are shared by all ids of the account. They
 * are the first 10 bits of the SHA-256 of the raw id with zeros in their place (rule I1a).
 */
export const newAccountId = (bytes: Uint8Array): AccountId => {
  const digest = hashed(idInPartition<AccountId>(0, bytes));
  return idInPartition(digest.readUInt16BE() >>> 6, bytes);
};

/** An account with the seed from which its ids are derived. */
type Seeded = Pick<OpenAccount, 'accountId' | 'idSeed'>;

const createdBytes = ({ idSeed }: Seeded, mode: Mode, operation: string, key: string): Buffer =>
  keyedBy(idSeed).bytes(`${mode}\n${operation}\n${key}`);

/** Returns the id of the object that a key creates by an operation. Keys are scoped to (mode, operation) (K1). */
export const createdIdOf = <I extends RawId>(account: Seeded, mode: Mode, operation: string, key: string): I =>
  derived(account.accountId, createdBytes(account, mode, operation, key));

/** Returns the payment id and txid for (mode, operation, idempotency key). They use different bytes, so neither reveals the other (I3). */
export const paymentIds = (
  account: Seeded,
  mode: Mode,
  operation: Operation,
  key: string,
): { paymentId: PaymentId; txid: string } => {
  const bytes = createdBytes(account, mode, operation, key);
  return { paymentId: derived(account.accountId, bytes), txid: bytes.toString('hex', 16) };
};

/** Returns the id of the refund that an idempotency key requests. Keys are scoped to the payment (K1). */
export const refundIdOf = (account: Seeded, mode: Mode, paymentId: PaymentId, key: string): RefundId =>
  createdIdOf(account, mode, `refund:${paymentId}`, key);

/** Returns the id of the connection that an operator's form adds. */
export const connectionIdOf = (key: string): ConnectionId => derived(PLATFORM_ACCOUNT, hashed(`connection\n${key}`));

/** Returns the id of a provider's case about a payment. */
export const medCaseIdOf = (account: Seeded, mode: Mode, paymentId: PaymentId, providerCaseId: string): MedCaseId =>
  createdIdOf(account, mode, `medCase:${paymentId}`, providerCaseId);

/** Returns the sandbox bank's id for the n-th dispute of a payment, if the request has none. */
export const sandboxCaseIdOf = (paymentId: PaymentId, number: number): string =>
  `sbx_case_${hashed(`case\n${paymentId}\n${number}`).toString('hex', 0, 16)}`;

/** Returns the id of the mail about one event of a case. */
export const caseMailIdOf = (caseId: MedCaseId, revision: number): string =>
  hashed(`mail\n${caseId}\n${revision}`).toString('hex', 0, 16);

/** Returns the id of a message about an event of the log. It is the same for every endpoint and retry (W2). */
export const eventIdOf = (account: AccountId, stream: string, revision: number, type: string): EventId =>
  derived(account, hashed(`${stream}\n${revision}\n${type}`));

/** Returns the id of a delivery (W2). `webhookUrl`: the message goes to the payment's own URL instead of endpoints (W7). */
export const deliveryIdOf = (
  account: AccountId,
  eventId: EventId,
  endpointId: EndpointId | 'webhookUrl',
  resend: number,
): DeliveryId => derived(account, hashed(`${eventId}\n${endpointId}\n${resend}`));

/** Returns the token that opens a payment's boleto, which names the payer, for people who got the link from the merchant. */
export const documentTokenOf = (seed: string, paymentId: PaymentId): string =>
  encodeRawId(keyedBy(seed).bytes(`document\n${paymentId}`).subarray(0, 16));

/** Returns the id under which an override secret is stored, beside the secrets of endpoints (W7). */
export const overrideSecretIdOf = (account: AccountId, mode: Mode): EndpointId =>
  derived(account, hashed(`override secret\n${account}\n${mode}`));

/** Returns the provider's id for returning a received Pix, 32 characters `[a-z0-9]`. Each refusal leads to a new id. */
export const returnIdOf = (paymentId: PaymentId, providerPaymentId: string, refusals = 0): string =>
  hashed(`return\n${paymentId}\n${providerPaymentId}${refusals === 0 ? '' : `\n${refusals}`}`).toString('hex', 0, 16);

/** Returns the id of the Pix-out that replaces a return, after this many refusals. */
export const heldPayoutIdOf = (
  account: AccountId,
  paymentId: PaymentId,
  providerPaymentId: string,
  refusals: number,
): RefundId => derived(account, hashed(`held payout\n${paymentId}\n${providerPaymentId}\n${refusals}`));

/** Returns the sandbox acquirer's id of a payment by a method. There is only one per method, so paying again is a no-op (X2). */
export const sandboxPaymentIdOf = (paymentId: PaymentId, method: PaymentMethod): string =>
  `sbx_pay_${hashed(`authorize\n${paymentId}\n${method}`).toString('hex', 0, 16)}`;

// --- Fingerprints compare requests with the same idempotency key (rule K2). The domain chooses the fields ---

/**
 * Returns the fields in the canonical form of RFC 8785, after the version of the rule that chose them. Key order and whitespace of the
 * request don't matter. Undefined fields are omitted. Throws for infinite numbers and unpaired surrogates, which the API rejects (rules
 * I11, I14).
 */
export const canonicalText = (version: number, fields: object): string => `${version}\n${canonicalize(fields)}`;

/**
 * Returns an HMAC of the canonical text under the account's seed, in base64url: 43 characters. A fingerprint outlives the personal data of
 * its request (rule L2), and a plain hash would reveal a tax id to anybody who tries them all.
 */
export const fingerprintOf = ({ idSeed }: Pick<Seeded, 'idSeed'>, version: number, fields: object): string =>
  keyedBy(idSeed).digest(`fingerprint\n${canonicalText(version, fields)}`, 'base64url');
