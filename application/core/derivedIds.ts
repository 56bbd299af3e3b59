// Ids and fingerprints that are derived, so that computing them again gives the same (rules I1, K2, W2; architecture §4).
import { createHmac, createSecretKey, hash, type KeyObject } from 'node:crypto';
import canonicalize from 'canonicalize';
import { LRUCache } from 'lru-cache';
import type { OpenAccount } from '../../domain/account/account.ts';
import type { PaymentMethod } from '../../domain/charge/methods.ts';
import {
  type AccountId,
  type DeliveryId,
  type EndpointId,
  type EventId,
  encodeRawId,
  idIn,
  idInPartition,
  type MedCaseId,
  type Mode,
  type PaymentId,
  type RawId,
  type RefundId,
} from '../../domain/kernel/ids.ts';

/** `charges.create` is the one behind both creation routes of charges (K1). */
export type Operation = 'charges.create' | 'payments.create';

/** Making a key object costs five times the HMAC itself; a seed never changes. */
const SEED_KEYS_MAX = 10_000;
const seedKeys = new LRUCache<string, KeyObject>({ max: SEED_KEYS_MAX });
const keyOf = (seed: string): KeyObject => {
  const known = seedKeys.get(seed);
  if (known) return known;
  const key = createSecretKey(seed, 'base64');
  seedKeys.set(seed, key);
  return key;
};

/** HMAC under the account's seed: ids in `/pay/<raw>` are capabilities and must not be guessable. */
const keyed = (seed: string, text: string): Buffer => createHmac('sha256', keyOf(seed)).update(text).digest();
const hashed = (text: string): Buffer => hash('sha256', text, 'buffer');

/** The first 128 bits of a digest, of which the account's partition takes the first 10. */
const derived = <I extends RawId>(account: AccountId, digest: Buffer): I => idIn(account, digest.subarray(0, 16));

/**
 * The id of a new account, of 16 bytes that are random or as good as random. Its first 10 bits, which all ids of the account will have, are
 * those of the SHA-256 of its raw id with zeros in that place (rule I1a).
 */
export const newAccountId = (bytes: Uint8Array): AccountId => {
  const digest = hashed(idInPartition<AccountId>(0, bytes));
  return idInPartition(digest.readUInt16BE() >>> 6, bytes);
};

/** Whose ids are derived. */
type Seeded = Pick<OpenAccount, 'accountId' | 'idSeed'>;

/** The id of what (mode, operation, idempotency key) creates, and its txid: of other bytes, so that neither tells the other (I3). */
export const paymentIds = (
  { accountId, idSeed }: Seeded,
  mode: Mode,
  operation: Operation,
  key: string,
): { paymentId: PaymentId; txid: string } => {
  const bytes = keyed(idSeed, `${mode}\n${operation}\n${key}`);
  return { paymentId: derived(accountId, bytes), txid: bytes.toString('hex', 16) };
};

/** The id of what an idempotency key refunds of a payment: one operation per payment (K1). */
export const refundIdOf = ({ accountId, idSeed }: Seeded, mode: Mode, paymentId: PaymentId, key: string): RefundId =>
  derived(accountId, keyed(idSeed, `${mode}\nrefund:${paymentId}\n${key}`));

/** Returns the id of what an idempotency key creates by an operation that no other id depends on. */
export const createdIdOf = <I extends RawId>(
  { accountId, idSeed }: Seeded,
  mode: Mode,
  operation: string,
  key: string,
): I => derived(accountId, keyed(idSeed, `${mode}\n${operation}\n${key}`));

/** One for each case that a provider has about a payment. */
export const medCaseIdOf = (
  { accountId, idSeed }: Seeded,
  mode: Mode,
  paymentId: PaymentId,
  providerCaseId: string,
): MedCaseId => derived(accountId, keyed(idSeed, `${mode}\nmedCase:${paymentId}\n${providerCaseId}`));

/** The sandbox's name of the n-th dispute of a payment, where nobody named it. */
export const sandboxCaseIdOf = (paymentId: PaymentId, number: number): string =>
  `sbx_case_${hashed(`case\n${paymentId}\n${number}`).toString('hex', 0, 16)}`;

/** Names the mail about one event of a case. */
export const caseMailIdOf = (caseId: MedCaseId, revision: number): string =>
  hashed(`mail\n${caseId}\n${revision}`).toString('hex', 0, 16);

/** One per event of the log and message name: the same on every endpoint and retry (W2). */
export const eventIdOf = (account: AccountId, stream: string, revision: number, type: string): EventId =>
  derived(account, hashed(`${stream}\n${revision}\n${type}`));

/** Derived from event, endpoint and resend number (W2). `webhookUrl`: the payment's own URL stands for its endpoints (W7). */
export const deliveryIdOf = (
  account: AccountId,
  eventId: EventId,
  endpointId: EndpointId | 'webhookUrl',
  resend: number,
): DeliveryId => derived(account, hashed(`${eventId}\n${endpointId}\n${resend}`));

/** Opens the one document of a payment that names its payer (the boleto), for those who got the link from the merchant. */
export const documentTokenOf = (seed: string, paymentId: PaymentId): string =>
  encodeRawId(keyed(seed, `document\n${paymentId}`).subarray(0, 16));

/** Under which the override secret of an account's mode is kept, beside those of endpoints (W7). */
export const overrideSecretIdOf = (account: AccountId, mode: Mode): EndpointId =>
  derived(account, hashed(`override secret\n${account}\n${mode}`));

/** Names the return of a received Pix at the provider: 32 characters `[a-z0-9]`, one per Pix and refusal of the ones before. */
export const returnIdOf = (paymentId: PaymentId, providerPaymentId: string, refusals = 0): string =>
  hashed(`return\n${paymentId}\n${providerPaymentId}${refusals === 0 ? '' : `\n${refusals}`}`).toString('hex', 0, 16);

/** Names the Pix-out in place of a return that was refused so many times. */
export const heldPayoutIdOf = (
  account: AccountId,
  paymentId: PaymentId,
  providerPaymentId: string,
  refusals: number,
): RefundId => derived(account, hashed(`held payout\n${paymentId}\n${providerPaymentId}\n${refusals}`));

/** The sandbox acquirer's id of the one payment by a method that it ever makes: paying twice is paying once (X2). */
export const sandboxPaymentIdOf = (paymentId: PaymentId, method: PaymentMethod): string =>
  `sbx_pay_${hashed(`authorize\n${paymentId}\n${method}`).toString('hex', 0, 16)}`;

// --- The fingerprint by which two requests under one idempotency key are compared (rule K2). The domain says which fields count ---

/**
 * Returns the fields as RFC 8785 writes them, under the version of the rule that chose them: equal texts are equal requests, whatever
 * their key order and whitespace. Fields that were not sent are undefined and left out. Throws on what no JSON holds: infinite numbers
 * and unpaired surrogates, which the edge refuses (rules I11, I14).
 */
export const canonicalText = (version: number, fields: object): string => `${version}\n${canonicalize(fields)}`;

/** Returns the SHA-256 of the canonical text, in base64url: 43 characters. */
export const fingerprintOf = (version: number, fields: object): string =>
  hash('sha256', canonicalText(version, fields), 'base64url');
