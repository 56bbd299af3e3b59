// A sample payment and related samples for tests of the domain. Tests can change every part.

import { DECLARED_SETTINGS } from '../../application/capabilities.ts';
import { type AccountSettings, defaultSettings } from '../../domain/account/account.ts';
import type { ChargeTerms } from '../../domain/charge/charge.ts';
import type { PixInstrument } from '../../domain/charge/instruments.ts';
import type { PaymentMethod } from '../../domain/charge/methods.ts';
import { fold } from '../../domain/kernel/decider.ts';
import type { Fingerprint } from '../../domain/kernel/fingerprint.ts';
import type { AccountId, MedCaseId, PaymentId, RefundId } from '../../domain/kernel/ids.ts';
import { toMinor, ZERO } from '../../domain/kernel/money.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import type { DisputeReport } from '../../domain/payment/dispute.ts';
import { assertExists, type ExistingPayment, type PaymentEvent, payment } from '../../domain/payment/payment.ts';
import type { Allegation, DisputeRecord } from '../../domain/transaction/disputes.ts';
import { chargeFees, DEFAULT_FEES } from '../../domain/transaction/fees.ts';
import type { IncomingPayment, RejectionReason } from '../../domain/transaction/incomingPayment.ts';
import type { RefundTerms } from '../../domain/transaction/refunds.ts';
import type { Settlement } from '../../domain/transaction/transaction.ts';
import { parseTimestamp } from './timestamp.ts';

/** Returns an instant on the day of the samples: `at('13:00:00')`. */
export const at = (time: string): Timestamp => parseTimestamp(`2026-11-21T${time}.000Z`);

export const PAYMENT_ID = '0123456789abcdefghjkmnpqrs' as PaymentId;
export const ACCOUNT_ID = '7zzzzzzzzzzzzzzzzzzzzzzzzz' as AccountId;
export const CASE_ID = '1dspt000000000000000000000' as MedCaseId;
export const TXID = '00112233445566778899aabbccddeeff';
export const END_TO_END_ID = 'E9999900420261121130500000000001';
export const OTHER_END_TO_END_ID = 'E9999900420261121130600000000002';
/** The fictitious payers of the sandbox. The samples lock to the first one. */
export const LOCKED_TO = '99991111140';
export const SOMEBODY_ELSE = '99992222263';

export const FINGERPRINT: Fingerprint = { version: 1, hash: 'hash-of-the-request' };
export const REFUND_FINGERPRINT: Fingerprint = { version: 1, hash: 'hash-of-the-refund' };
export const SETTINGS: AccountSettings = {
  ...defaultSettings('Loja de Teste', DECLARED_SETTINGS.settings),
  cashoutDestinations: null,
};

export const CREATED_AT = at('13:00:00');
export const EXPIRES_AT = at('14:00:00');
export const PAID_AT = at('13:05:00');
export const SETTLED_AT = at('13:05:01');

export const terms = (over: Partial<ChargeTerms> = {}): ChargeTerms => ({
  paymentId: PAYMENT_ID,
  accountId: ACCOUNT_ID,
  mode: 'test',
  connectionId: null,
  amount: toMinor(12_345),
  currency: 'BRL',
  methods: ['PIX'],
  customer: { name: 'Maria', document: '999.911.111-40', email: 'maria@example.com', phone: null },
  customerId: null,
  metadata: { order: 'A-1', description: 'Two coffees' },
  expectedPayerTaxId: null,
  expiresInSeconds: 3600,
  txid: TXID,
  baseUrl: 'https://pay.example.com',
  api: 'charges',
  webhookUrl: null,
  createdAt: CREATED_AT,
  ...over,
});

export const instrument = (over: Partial<PixInstrument> = {}): PixInstrument => ({
  provider: 'sandbox',
  txid: TXID,
  brCode: '00020126…6304ABCD',
  expiresAt: EXPIRES_AT,
  ...over,
});

export const incoming = (over: Partial<IncomingPayment> = {}): IncomingPayment => ({
  method: 'PIX',
  providerPaymentId: END_TO_END_ID,
  amount: toMinor(12_345),
  payer: { name: 'MARIA DE TESTE', document: LOCKED_TO },
  paidAt: PAID_AT,
  ...over,
});

/** Returns a received payment whose amount is the price alone. */
export const plain = (arrived: IncomingPayment) => ({ incoming: arrived, isPlain: true });

export const created = (over: Partial<ChargeTerms> = {}): PaymentEvent => ({
  type: 'ChargeCreated',
  data: { ...terms(over), fingerprint: FINGERPRINT },
});
export const issued = (over: Partial<PixInstrument> = {}): PaymentEvent => ({
  type: 'ChargePixIssued',
  data: { ...instrument(over), at: CREATED_AT },
});
export const expired = (when: Timestamp = EXPIRES_AT): PaymentEvent => ({ type: 'ChargeExpired', data: { at: when } });
/** Erased on request, before its retention had passed. */
export const erased = (when: Timestamp = at('18:00:00')): PaymentEvent => ({
  type: 'PaymentPersonalDataErased',
  data: { by: 'operator:ana', reason: 'A request of the payer.', despiteRetention: true, at: when },
});
export const failed = (when: Timestamp = CREATED_AT): PaymentEvent => ({
  type: 'ChargeFailed',
  data: { reason: 'The bank said no.', providerErrorCode: 'declined', at: when },
});
export const refusedInstrument = (method: PaymentMethod, when: Timestamp = CREATED_AT): PaymentEvent => ({
  type: 'ChargeInstrumentRefused',
  data: { method, reason: 'The bank said no.', providerErrorCode: 'declined', at: when },
});
export const CANCELLED_AT = at('13:10:00');
export const cancelRequested = (when: Timestamp = CANCELLED_AT): PaymentEvent => ({
  type: 'ChargeCancelRequested',
  data: { at: when },
});
export const cancelled = (when: Timestamp = CANCELLED_AT): PaymentEvent => ({
  type: 'ChargeCancelled',
  data: { by: 'merchant', at: when },
});
export const processing = (method: PaymentMethod = 'CREDIT_CARD', when: Timestamp = at('13:04:00')): PaymentEvent => ({
  type: 'TransactionProcessing',
  data: { method, at: when },
});
/** Declined by the acquirer. `isFinal` if no other method remains. */
export const refused = (method: PaymentMethod, isFinal: boolean, when: Timestamp = at('13:04:30')): PaymentEvent => ({
  type: 'TransactionRefused',
  data: { method, reason: 'insufficient funds', providerErrorCode: 'declined', isFinal, at: when },
});
export const settled = (over: Partial<Settlement> = {}): PaymentEvent => ({
  type: 'TransactionSettled',
  data: {
    incoming: incoming(),
    method: 'PIX',
    currency: 'BRL',
    ...chargeFees((over.incoming ?? incoming()).amount, DEFAULT_FEES.PIX),
    availableAt: null,
    at: SETTLED_AT,
    ...over,
  },
});
/** M1: 2.5 % + 30 and 1 % of 123.45, rounded half up. M2: held for two days. */
export const settledByCard = (over: Partial<Settlement> = {}): PaymentEvent =>
  settled({
    incoming: incoming({ method: 'CREDIT_CARD', providerPaymentId: 'card-1' }),
    method: 'CREDIT_CARD',
    providerFee: toMinor(339),
    platformFee: toMinor(123),
    netAmount: toMinor(11_883),
    availableAt: parseTimestamp('2026-11-23T13:05:01.000Z'),
    ...over,
  });
export const held = (over: Partial<IncomingPayment> = {}): PaymentEvent => ({
  type: 'TransactionHeld',
  data: { incoming: incoming({ payer: { name: 'X', document: null }, ...over }), currency: 'BRL', at: SETTLED_AT },
});
export const heldReleased = (by = 'operator:ana', when: Timestamp = at('13:20:00')): PaymentEvent => ({
  type: 'TransactionHeldReleased',
  data: { providerPaymentId: END_TO_END_ID, amount: toMinor(12_345), currency: 'BRL', by, at: when },
});
export const heldRejected = (
  reason: 'operator' | 'cancelled',
  by = reason === 'operator' ? 'operator:ana' : 'merchant',
  when: Timestamp = reason === 'operator' ? at('13:20:00') : CANCELLED_AT,
): PaymentEvent => ({
  type: 'TransactionHeldRejected',
  data: {
    providerPaymentId: END_TO_END_ID,
    amount: toMinor(12_345),
    currency: 'BRL',
    returnId: `return-${END_TO_END_ID}`,
    reason,
    by,
    at: when,
  },
});
export const sentBack = (reason: RejectionReason, over: Partial<IncomingPayment> = {}): PaymentEvent => ({
  type: 'TransactionPaymentRejected',
  data: { incoming: incoming(over), currency: 'BRL', reason, returnId: 'return-1', at: SETTLED_AT },
});
export const returned = (
  providerPaymentId = END_TO_END_ID,
  amount = 12_345,
  when = at('13:05:02'),
  returnId: string | null = null,
): PaymentEvent => ({
  type: 'TransactionPaymentReturned',
  data: { providerPaymentId, amount: toMinor(amount), currency: 'BRL', at: when, returnId },
});
/** The provider refuses to return the payment. */
export const returnRefused = (
  over: { providerPaymentId?: string; amount?: number; reason?: string } = {},
): PaymentEvent => ({
  type: 'TransactionReturnRefused',
  data: {
    providerPaymentId: over.providerPaymentId ?? END_TO_END_ID,
    amount: toMinor(over.amount ?? 12_345),
    currency: 'BRL',
    reason: over.reason ?? 'account closed',
    at: at('13:06:00'),
  },
});
export const returnRetried = (
  returnId: string,
  providerPaymentId = END_TO_END_ID,
  by = 'operator:ana',
): PaymentEvent => ({
  type: 'TransactionReturnRetried',
  data: { providerPaymentId, returnId, by, at: at('13:20:00') },
});
export const released = (amount = 12_212, when = at('14:05:01')): PaymentEvent => ({
  type: 'TransactionFundsReleased',
  data: { amount: toMinor(amount), currency: 'BRL', at: when },
});

export const REFUND_ID = '00000000000000000000000rf1' as RefundId;
export const OTHER_REFUND_ID = '00000000000000000000000rf2' as RefundId;
export const REFUND_REQUESTED_AT = at('15:00:00');
export const REFUNDED_AT = at('15:00:02');

/** The order of a full cash-out refund, with the fee paid by the platform. */
export const refundTerms = (over: Partial<RefundTerms> = {}): RefundTerms => ({
  refundId: REFUND_ID,
  amount: toMinor(12_345),
  currency: 'BRL',
  reason: null,
  strategy: 'cashout',
  destination: LOCKED_TO,
  namedByMerchant: false,
  fee: toMinor(50),
  feePaidBy: 'platform',
  ...over,
});
export const refundReserved = (over: Partial<RefundTerms> = {}): PaymentEvent => ({
  type: 'TransactionRefundReserved',
  data: { ...refundTerms(over), fingerprint: REFUND_FINGERPRINT, at: REFUND_REQUESTED_AT },
});
type OfRefund = Partial<Pick<RefundTerms, 'refundId' | 'amount' | 'currency' | 'fee' | 'feePaidBy'>>;
const ofRefund = (over: OfRefund) => {
  const { refundId, amount, currency, fee, feePaidBy } = refundTerms(over);
  return { refundId, amount, currency, fee, feePaidBy };
};
/** Paid by a Pix from the platform if `endToEndId` is not null. */
export const refundCompleted = (over: OfRefund = {}, endToEndId: string | null = 'E-out-1'): PaymentEvent => ({
  type: 'TransactionRefundCompleted',
  data: { ...ofRefund(over), endToEndId, at: REFUNDED_AT },
});
export const refundReleased = (over: OfRefund = {}, reason = 'account closed'): PaymentEvent => ({
  type: 'TransactionRefundReleased',
  data: { ...ofRefund(over), reason, at: REFUNDED_AT },
});
/** A part that someone returned in the bank’s own app. */
export const returnedOutside = (amount: number, when: Timestamp = at('15:30:00')): PaymentEvent => ({
  type: 'TransactionReturnedOutside',
  data: {
    ...{ providerPaymentId: END_TO_END_ID, id: 'outside1', returnId: null, nature: 'ordinary', owner: 'merchant' },
    ...{ fromHold: ZERO, amount: toMinor(amount), currency: 'BRL', at: when },
  },
});

export const disputeOpened = (kind: DisputeRecord['kind'] = 'CHARGEBACK', amount = 12_345): PaymentEvent => ({
  type: 'TransactionDisputeOpened',
  data: {
    caseId: CASE_ID,
    kind,
    amount: toMinor(amount),
    currency: 'BRL',
    amountMismatch: false,
    reportedAmount: toMinor(12_345),
    ...ALLEGATION,
    at: at('16:00:00'),
  },
});
/** A provider's report on the samples' dispute. */
export const ALLEGATION: Allegation = {
  method: 'scam',
  reason: 'fraud',
  payer: { name: 'Ana', document: LOCKED_TO },
  openedAt: at('15:59:00'),
};
/** The samples' dispute as a provider reports it. */
export const disputeReport = (over: Partial<DisputeReport> = {}): DisputeReport => ({
  caseId: CASE_ID,
  type: 'med',
  amount: null,
  ...ALLEGATION,
  ...over,
});
export const resendRequested = (ofRevision: number, number: number, isWanted = true): PaymentEvent => ({
  type: 'ChargeWebhookResendRequested',
  data: { ofRevision, number, isWanted, at: at('17:00:00') },
});

/** Returns the payment after these events. The first one must create it. */
export const paymentAfter = (...events: PaymentEvent[]): ExistingPayment => assertExists(fold(payment, events));
