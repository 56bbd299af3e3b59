// Ids that are derived, so that whoever computes them again gets the same (rules I1, W2; architecture §4).

import { createHmac, createSecretKey, hash, type KeyObject } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { PaymentMethod } from '../../domain/charge/methods.ts';
import {
  type AccountId,
  type DeliveryId,
  type EndpointId,
  type EventId,
  encodeRawId,
  type MedCaseId,
  type Mode,
  type PaymentId,
  type RefundId,
} from '../../domain/kernel/ids.ts';
import { txidFromBytes } from '../../domain/pix/txid.ts';

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

/** The id of what (mode, operation, idempotency key) creates, and its txid, made apart (I3). */
export const paymentIds = (
  seed: string,
  mode: Mode,
  operation: Operation,
  key: string,
): { paymentId: PaymentId; txid: string } => {
  const bytes = keyed(seed, `${mode}\n${operation}\n${key}`);
  return { paymentId: encodeRawId(bytes.subarray(0, 16)) as PaymentId, txid: txidFromBytes(bytes.subarray(16)) };
};

/** The id of what an idempotency key refunds of a payment: one operation per payment (K1). */
export const refundIdOf = (seed: string, mode: Mode, paymentId: PaymentId, key: string): RefundId =>
  encodeRawId(keyed(seed, `${mode}\nrefund:${paymentId}\n${key}`).subarray(0, 16)) as RefundId;

/** One for each case that a provider has about a payment. */
export const medCaseIdOf = (seed: string, mode: Mode, paymentId: PaymentId, providerCaseId: string): MedCaseId =>
  encodeRawId(keyed(seed, `${mode}\nmedCase:${paymentId}\n${providerCaseId}`).subarray(0, 16)) as MedCaseId;

/** The sandbox's name of the n-th dispute of a payment, where nobody named it. */
export const sandboxCaseIdOf = (paymentId: PaymentId, number: number): string =>
  `sbx_case_${hashed(`case\n${paymentId}\n${number}`).toString('hex', 0, 16)}`;

/** Names the mail about one event of a case. */
export const caseMailIdOf = (caseId: MedCaseId, revision: number): string =>
  hashed(`mail\n${caseId}\n${revision}`).toString('hex', 0, 16);

/** One per event of the log and message name: the same on every endpoint and retry (W2). */
export const eventIdOf = (stream: string, revision: number, type: string): EventId =>
  encodeRawId(hashed(`${stream}\n${revision}\n${type}`).subarray(0, 16)) as EventId;

/** Derived from event, endpoint and resend number (W2). `webhookUrl`: the payment's own URL stands for its endpoints (W7). */
export const deliveryIdOf = (eventId: EventId, endpointId: EndpointId | 'webhookUrl', resend: number): DeliveryId =>
  encodeRawId(hashed(`${eventId}\n${endpointId}\n${resend}`).subarray(0, 16)) as DeliveryId;

/** Opens the one document of a payment that names its payer (the boleto), for those who got the link from the merchant. */
export const documentTokenOf = (seed: string, paymentId: PaymentId): string =>
  encodeRawId(keyed(seed, `document\n${paymentId}`).subarray(0, 16));

/** Under which the override secret of an account's mode is kept, beside those of endpoints (W7). */
export const overrideSecretIdOf = (accountId: AccountId, mode: Mode): EndpointId =>
  encodeRawId(hashed(`override secret\n${accountId}\n${mode}`).subarray(0, 16)) as EndpointId;

/** Names the return of a received Pix at the provider: 32 characters `[a-z0-9]`, one per Pix and refusal of the ones before. */
export const returnIdOf = (paymentId: PaymentId, providerPaymentId: string, refusals = 0): string =>
  hashed(`return\n${paymentId}\n${providerPaymentId}${refusals === 0 ? '' : `\n${refusals}`}`).toString('hex', 0, 16);

/** Names the Pix-out in place of a return that was refused so many times. */
export const heldPayoutIdOf = (paymentId: PaymentId, providerPaymentId: string, refusals: number): RefundId =>
  encodeRawId(hashed(`held payout\n${paymentId}\n${providerPaymentId}\n${refusals}`).subarray(0, 16)) as RefundId;

/** The sandbox acquirer's id of the one payment by a method that it ever makes: paying twice is paying once (X2). */
export const sandboxPaymentIdOf = (paymentId: PaymentId, method: PaymentMethod): string =>
  `sbx_pay_${hashed(`authorize\n${paymentId}\n${method}`).toString('hex', 0, 16)}`;
