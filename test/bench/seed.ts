// A log of a given length, made by the program’s own decisions: created and paid payments, optionally with their webhook deliveries.

import { randomBytes, randomUUID } from 'node:crypto';
import { DECLARED_SETTINGS } from '../../application/capabilities.ts';
import type { EventLog, EventsToEncode } from '../../application/ports/eventCodec.ts';
import { EMPTY_STREAM } from '../../application/ports/eventStore.ts';
import type { EventMetadata } from '../../application/ports/loggedEvent.ts';
import { defaultSettings } from '../../domain/account/account.ts';
import { readStreamName } from '../../domain/kernel/aggregate.ts';
import type { Fact } from '../../domain/kernel/decider.ts';
import {
  type AccountId,
  type DeliveryId,
  type EndpointId,
  encodeRawId,
  type PaymentId,
  type StreamName,
} from '../../domain/kernel/ids.ts';
import { toMinor } from '../../domain/kernel/money.ts';
import { isRejection } from '../../domain/kernel/rejection.ts';
import type { Serde } from '../../domain/kernel/serde.ts';
import { addSeconds, fromMillis } from '../../domain/kernel/time.ts';
import { PAYMENT } from '../../domain/payment/aggregate.ts';
import { createCharge } from '../../domain/payment/create.ts';
import { type PaymentEvent, payment } from '../../domain/payment/payment.ts';
import { settleIncomingPayment } from '../../domain/payment/settle.ts';
import { buildDynamicBrCode } from '../../domain/pix/brCode.ts';
import { DEFAULT_FEES } from '../../domain/transaction/fees.ts';
import { recordAttempt, WEBHOOK_DELIVERY, webhookDelivery } from '../../domain/webhookDelivery/webhookDelivery.ts';

export type NewStream = EventsToEncode;
const newStream = <Event extends Fact<string, unknown>>(
  { serde }: { readonly serde: Serde<Event> },
  stream: StreamName,
  events: readonly Event[],
  why: EventMetadata,
): EventsToEncode<Event> => ({ serde, stream, after: EMPTY_STREAM, events, commandId: randomUUID(), metadata: why });

const rawId = () => encodeRawId(randomBytes(16));
const ACCOUNT = rawId() as AccountId;
const circumstances = (correlationId: string): EventMetadata => ({
  account: ACCOUNT,
  mode: 'test',
  actor: 'process:bench',
  requestId: null,
  correlationId,
  causationId: 'bench',
});

/** Three events: created, issued, settled. */
export const paidPayment = (n: number, accountId = ACCOUNT): EventsToEncode<PaymentEvent> => {
  const paymentId = rawId() as PaymentId;
  const txid = randomBytes(16).toString('hex');
  const createdAt = fromMillis(Date.now());
  const amount = toMinor(1_000 + (n % 9_000));
  const terms = {
    paymentId,
    accountId,
    mode: 'test' as const,
    amount,
    currency: 'BRL',
    methods: ['PIX' as const],
    customer: { name: 'Maria da Silva', document: '52998224725', email: 'maria@example.com', phone: null },
    customerId: null,
    metadata: { order_id: `order-${n}`, description: `Pedido ${n}` },
    expectedPayerTaxId: null,
    expiresInSeconds: 86_400,
    txid,
    baseUrl: 'http://127.0.0.1:3000',
    api: 'charges' as const,
    webhookUrl: null,
    connectionId: null,
    createdAt,
  };
  const brCode = buildDynamicBrCode({
    url: `127.0.0.1/pix/${txid}`,
    merchantName: 'Loja Demo',
    merchantCity: 'Sao Paulo',
    amount,
  });
  const instrument = { provider: 'sandbox', txid, brCode, expiresAt: addSeconds(createdAt, 86_400) };
  const fingerprintUnder = () => 'f'.repeat(43);
  const create = createCharge({
    terms,
    fingerprintUnder,
    fingerprintVersion: 1,
    instrument,
    keyParam: 'Idempotency-Key',
  });
  const created = create(payment.initial);
  if (isRejection(created)) throw new Error(created.message);
  const open = created.events.reduce(payment.evolve, payment.initial);
  const providerPaymentId = `E99999004${createdAt.replaceAll(/\D/g, '').slice(0, 12)}${String(n).padStart(11, '0')}`;
  const payer = { name: 'Maria da Silva', document: '52998224725' };
  const settle = settleIncomingPayment({
    incoming: { method: 'PIX', providerPaymentId, amount, payer, paidAt: createdAt },
    isPlain: true,
    payerCheck: 'unknown',
    fees: DEFAULT_FEES,
    holdDays: defaultSettings('Loja Demo', DECLARED_SETTINGS.settings).holdDays,
    returnId: 'r'.repeat(32),
    at: createdAt,
  });
  const settled = settle(open);
  if (isRejection(settled)) throw new Error(settled.message);
  const events: PaymentEvent[] = [...created.events, ...settled.events];
  return newStream(PAYMENT, PAYMENT.stream(paymentId), events, {
    ...circumstances(paymentId),
    account: accountId,
  });
};

/** One event: delivered. */
export const finishedDelivery = (
  endpointId: EndpointId,
  paymentId: PaymentId,
  revision = 2,
  eventType = 'charge.paid',
  account = ACCOUNT,
): NewStream => {
  const result = { ok: true, statusCode: 200, error: null, responseBody: null, durationMs: 3, retryAfterMs: null };
  const at = fromMillis(Date.now());
  const delivery = {
    stream: PAYMENT.stream(paymentId),
    revision,
    paymentId,
    eventType,
    endpointId,
    resend: 0,
    scheduledAt: at,
    form: 1,
  };
  const done = recordAttempt({ delivery, target: endpointId }, 1, result, at, 0)(webhookDelivery.initial);
  if (isRejection(done)) throw new Error(done.message);
  const stream = WEBHOOK_DELIVERY.stream(rawId() as DeliveryId);
  return newStream(WEBHOOK_DELIVERY, stream, done.events, { ...circumstances(paymentId), account });
};

/** Concurrent appends, enough to fill every flush. */
const WRITERS = 512;

/** Appends the results of `next` until it returns null. */
export const appendAll = async ({ store, codec }: EventLog, next: () => NewStream | null): Promise<void> => {
  const write = async (): Promise<void> => {
    for (let one = next(); one !== null; one = next()) {
      const { ok } = await store.append(
        one.stream,
        one.after,
        await codec.encode({ ...one, isCreation: one.after === EMPTY_STREAM }),
      );
      if (!ok) throw new Error(`${one.stream} is not at ${one.after}`);
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, write));
};

interface Seed {
  /** Whether each payment has a delivery. */
  readonly deliveries: boolean;
  /** Payments are of these accounts in turn. Default: one account. */
  readonly accounts?: readonly AccountId[] | undefined;
}

/** Appends payments until the log has at least `atLeast` events. Returns the number of events. */
export const seed = async (
  log: EventLog,
  atLeast: number,
  { deliveries, accounts = [ACCOUNT] }: Seed,
): Promise<number> => {
  const endpointId = rawId() as EndpointId;
  let events = 0;
  let n = 0;
  const accountOf = (): AccountId => accounts[n % accounts.length] as AccountId;
  let paid = paidPayment(n, accountOf());
  await appendAll(log, () => {
    if (events >= atLeast) return null;
    const isDelivery = deliveries && n % 2 === 1;
    if (!isDelivery) paid = paidPayment(n, accountOf());
    const paymentId = readStreamName(paid.stream).id as PaymentId;
    const one = isDelivery ? finishedDelivery(endpointId, paymentId, 2, 'charge.paid', paid.metadata.account) : paid;
    n++;
    events += one.events.length;
    return one;
  });
  return events;
};
