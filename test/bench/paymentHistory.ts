// A year of one account’s payments as a projector reads them. The events go straight into read models, without a log.
import type { Position } from '../../application/ports/eventStore.ts';
import type { LoggedEvent } from '../../application/ports/loggedEvent.ts';
import type { ChargeTerms } from '../../domain/charge/charge.ts';
import { type AccountId, encodeRawId, type PaymentId, type RefundId } from '../../domain/kernel/ids.ts';
import { toMinor } from '../../domain/kernel/money.ts';
import { addSeconds, DAY_MS, fromMillis, type Timestamp } from '../../domain/kernel/time.ts';
import { PAYMENT } from '../../domain/payment/aggregate.ts';
import type { ExistingPayment, PaymentEvent } from '../../domain/payment/payment.ts';
import { settled } from '../../domain/payment/settle.ts';
import { DEFAULT_FEES } from '../../domain/transaction/fees.ts';

export const HISTORY_ACCOUNT = encodeRawId(new Uint8Array(16).fill(9)) as AccountId;
const LIFETIME_SECONDS = 3_600;
const YEAR_MS = 365 * DAY_MS;
const NO_HOLD = { PIX: 0, CREDIT_CARD: 0, MBWAY: 0, MULTIBANCO: 0, BOLETO: 0, CRYPTO: 0 };

/** Returns a pseudorandom number that is the same in every run. */
const scrambled = (n: number, salt: number): number => {
  let x = (n * 2_654_435_761 + salt * 40_503) >>> 0;
  x = Math.imul(x ^ (x >>> 15), 2_246_822_507) >>> 0;
  return (x ^ (x >>> 13)) >>> 0;
};
const idOf = (n: number): string => {
  const bytes = new Uint8Array(16);
  const view = new DataView(bytes.buffer);
  for (let word = 0; word < 4; word++) view.setUint32(word * 4, scrambled(n, word));
  return encodeRawId(bytes);
};
const digits = (n: number, length: number): string => String(n % 10 ** length).padStart(length, '0');

const termsOf = (n: number, accountId: AccountId, createdAt: Timestamp, method: 'PIX' | 'CREDIT_CARD'): ChargeTerms => {
  const person = scrambled(n, 9) % 50_000;
  return {
    paymentId: idOf(n) as PaymentId,
    accountId,
    mode: 'test',
    connectionId: null,
    amount: toMinor(100 + (scrambled(n, 8) % 100_000)),
    currency: 'BRL',
    methods: [method],
    customer: {
      name: `Maria da Silva ${person}`,
      document: digits(52_998_224_725 + person, 11),
      email: `maria${person}@example.com`,
      phone: null,
    },
    customerId: null,
    metadata: { order_id: `order-${n}`, description: `Pedido ${n}` },
    expectedPayerTaxId: null,
    expiresInSeconds: LIFETIME_SECONDS,
    txid: idOf(n + 1).padEnd(32, '0'),
    baseUrl: 'http://127.0.0.1:3000',
    api: 'charges',
    webhookUrl: null,
    createdAt,
  };
};

/** As long as a real code. */
const brCodeOf = ({ txid, amount }: ChargeTerms): string =>
  `00020101021226860014br.gov.bcb.pix2564127.0.0.1/pix/${txid}5204000053039865406${amount}5802BR5909Loja Demo6009Sao Paulo62070503***6304ABCD`;

const issuedOf = (terms: ChargeTerms): PaymentEvent => {
  const { txid, createdAt: at, paymentId, baseUrl } = terms;
  const bound = { provider: 'sandbox', expiresAt: addSeconds(at, LIFETIME_SECONDS) };
  if (terms.methods[0] === 'PIX')
    return { type: 'ChargePixIssued', data: { ...bound, txid, brCode: brCodeOf(terms), at } };
  const redirectUrl = `${baseUrl}/pay/${paymentId}/card`;
  const instrument = { method: 'CREDIT_CARD', ...bound, reference: txid, redirectUrl } as const;
  return { type: 'ChargeInstrumentIssued', data: { instrument, at } };
};

const settledOf = (n: number, terms: ChargeTerms, at: Timestamp): PaymentEvent => {
  const { amount, customer } = terms;
  const providerPaymentId = `E99999004${at.replaceAll(/\D/g, '').slice(0, 12)}${digits(n, 11)}`;
  const payer = { name: customer.name, document: customer.document };
  const incoming = { method: terms.methods[0] ?? 'PIX', providerPaymentId, amount, payer, paidAt: at };
  // A settlement reads only the payment’s terms.
  const payment = { charge: { terms } } as unknown as ExistingPayment;
  return settled(payment, { incoming, fees: DEFAULT_FEES, holdDays: NO_HOLD, at });
};

/** Of a thousand, 860 are paid (10 of them refunded), 20 cancelled, 100 expired and 20 pending. Every tenth is by card. */
const eventsOf = (n: number, accountId: AccountId, createdAt: Timestamp): readonly PaymentEvent[] => {
  const luck = scrambled(n, 7) % 1_000;
  const terms = termsOf(n, accountId, createdAt, luck % 10 === 0 ? 'CREDIT_CARD' : 'PIX');
  const fingerprint = { version: 1, hash: 'f'.repeat(43) };
  const open: PaymentEvent[] = [{ type: 'ChargeCreated', data: { ...terms, fingerprint } }, issuedOf(terms)];
  const at = addSeconds(createdAt, scrambled(n, 10) % LIFETIME_SECONDS);
  if (luck >= 980) return open;
  if (luck >= 880) return [...open, { type: 'ChargeExpired', data: { at: addSeconds(createdAt, LIFETIME_SECONDS) } }];
  if (luck >= 860)
    return [
      ...open,
      { type: 'ChargeCancelRequested', data: { at } },
      { type: 'ChargeCancelled', data: { by: 'merchant', at } },
    ];
  const paid = [...open, settledOf(n, terms, at)];
  if (luck >= 10) return paid;
  const refund = {
    refundId: idOf(n + 2) as RefundId,
    amount: terms.amount,
    currency: terms.currency,
    fee: toMinor(0),
    feePaidBy: 'platform',
  } as const;
  const way = { strategy: 'reversal', destination: null, namedByMerchant: false } as const;
  const asked = { ...refund, reason: null, ...way, fingerprint, at } as const;
  return [
    ...paid,
    { type: 'TransactionRefundReserved', data: asked },
    { type: 'TransactionRefundCompleted', data: { ...refund, endToEndId: null, at: addSeconds(at, 86_400) } },
  ];
};

/**
 * Yields `payments` payments in batches of `batchPayments`, spread over `spanMs` before `until`. `accountOf`: the account of the n-th
 * payment. `part`: yields only every `of`-th payment.
 */
export function* paymentHistory(
  payments: number,
  until: Timestamp,
  batchPayments: number,
  spanMs = YEAR_MS,
  accountOf: (n: number) => AccountId = () => HISTORY_ACCOUNT,
  part: { readonly index: number; readonly of: number } = { index: 0, of: 1 },
): Generator<readonly LoggedEvent<PaymentEvent>[], undefined> {
  const firstMs = Date.parse(until) - spanMs;
  let position = 0;
  for (let n = 0; n < payments; ) {
    const batch: LoggedEvent<PaymentEvent>[] = [];
    for (const end = Math.min(payments, n + batchPayments); n < end; n++) {
      if (n % part.of !== part.index) continue;
      const createdAt = fromMillis(Math.floor(firstMs + (spanMs * (n + 1)) / payments));
      const subject = idOf(n);
      const accountId = accountOf(n);
      for (const [revision, event] of eventsOf(n, accountId, createdAt).entries())
        batch.push({
          category: 'payment',
          stream: PAYMENT.stream(subject as PaymentId),
          subject,
          id: '',
          revision,
          position: String(position++).padStart(19, '0') as Position,
          account: accountId,
          mode: 'test',
          correlationId: subject,
          recordedAt: createdAt,
          event,
        });
    }
    yield batch;
  }
  return undefined;
}
