// One payment and its surroundings, as tests of the domain tell stories about it. Every part can be changed where a test needs it.
import type { AccountSettings } from '../../domain/account/account.ts';
import { defaultSettings } from '../../domain/account/account.ts';
import type { ChargeTerms, Fingerprint } from '../../domain/charge/charge.ts';
import type { PixInstrument } from '../../domain/charge/instruments.ts';
import { fold } from '../../domain/kernel/decider.ts';
import type { AccountId, PaymentId } from '../../domain/kernel/ids.ts';
import { toMinor } from '../../domain/kernel/money.ts';
import { parseTimestamp, type Timestamp } from '../../domain/kernel/time.ts';
import { assertExists, type ExistingPayment, type PaymentEvent, payment } from '../../domain/payment/payment.ts';
import { chargeFees, DEFAULT_FEES } from '../../domain/transaction/fees.ts';
import type { Receipt, RejectionReason, Settlement } from '../../domain/transaction/transaction.ts';

/** An instant of the day on which the samples happen: `at('13:00:00')`. */
export const at = (time: string): Timestamp => parseTimestamp(`2026-11-21T${time}.000Z`);

export const PAYMENT_ID = '0123456789abcdefghjkmnpqrs' as PaymentId;
export const ACCOUNT_ID = '7zzzzzzzzzzzzzzzzzzzzzzzzz' as AccountId;
export const TXID = '00112233445566778899aabbccddeeff';
export const END_TO_END_ID = 'E9999900420261121130500000000001';
export const OTHER_END_TO_END_ID = 'E9999900420261121130600000000002';
/** The fictitious payers of the sandbox: the first is the one that the samples lock to. */
export const LOCKED_TO = '99991111140';
export const SOMEBODY_ELSE = '99992222263';

export const FINGERPRINT: Fingerprint = { version: 1, hash: 'hash-of-the-request' };
export const SETTINGS: AccountSettings = defaultSettings('Loja de Teste');

export const CREATED_AT = at('13:00:00');
export const EXPIRES_AT = at('14:00:00');
export const PAID_AT = at('13:05:00');
export const SETTLED_AT = at('13:05:01');

export const terms = (over: Partial<ChargeTerms> = {}): ChargeTerms => ({
  paymentId: PAYMENT_ID,
  accountId: ACCOUNT_ID,
  mode: 'test',
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

export const receipt = (over: Partial<Receipt> = {}): Receipt => ({
  endToEndId: END_TO_END_ID,
  amount: toMinor(12_345),
  payer: { name: 'MARIA DE TESTE', document: LOCKED_TO },
  paidAt: PAID_AT,
  ...over,
});

export const created = (over: Partial<ChargeTerms> = {}): PaymentEvent => ({
  type: 'ChargeCreated',
  data: { ...terms(over), fingerprint: FINGERPRINT },
});
export const issued = (over: Partial<PixInstrument> = {}): PaymentEvent => ({
  type: 'ChargePixIssued',
  data: { ...instrument(over), at: CREATED_AT },
});
export const expired = (when: Timestamp = EXPIRES_AT): PaymentEvent => ({ type: 'ChargeExpired', data: { at: when } });
export const failed = (when: Timestamp = CREATED_AT): PaymentEvent => ({
  type: 'ChargeFailed',
  data: { reason: 'The bank said no.', providerErrorCode: 'declined', at: when },
});
export const settled = (over: Partial<Settlement> = {}): PaymentEvent => ({
  type: 'TransactionSettled',
  data: {
    receipt: receipt(),
    method: 'PIX',
    currency: 'BRL',
    ...chargeFees((over.receipt ?? receipt()).amount, DEFAULT_FEES.PIX),
    availableAt: null,
    at: SETTLED_AT,
    ...over,
  },
});
export const held = (over: Partial<Receipt> = {}): PaymentEvent => ({
  type: 'TransactionHeld',
  data: { receipt: receipt({ payer: { name: 'X', document: null }, ...over }), currency: 'BRL', at: SETTLED_AT },
});
export const sentBack = (reason: RejectionReason, over: Partial<Receipt> = {}): PaymentEvent => ({
  type: 'TransactionReceiptRejected',
  data: { receipt: receipt(over), currency: 'BRL', reason, returnId: 'return-1', at: SETTLED_AT },
});
export const returned = (endToEndId = END_TO_END_ID, amount = 12_345, when = at('13:05:02')): PaymentEvent => ({
  type: 'TransactionReceiptReturned',
  data: { endToEndId, amount: toMinor(amount), currency: 'BRL', at: when },
});
export const released = (amount = 12_212, when = at('14:05:01')): PaymentEvent => ({
  type: 'TransactionFundsReleased',
  data: { amount: toMinor(amount), currency: 'BRL', at: when },
});

/** The payment after these events; the first one must create it. */
export const paymentAfter = (...events: PaymentEvent[]): ExistingPayment => assertExists(fold(payment, events));
