// A redrive of 100,000 dead letters of one account: requested a second time while it runs, killed with -9 halfway, beside another
// account’s events. LETTERS changes the number. Its rules are tested in test/application/webhooks/redrive.test.ts.

import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import pg from 'pg';
import type { EventsToEncode } from '../../application/ports/eventCodec.ts';
import { EMPTY_STREAM } from '../../application/ports/eventStore.ts';
import { readStreamName } from '../../domain/kernel/aggregate.ts';
import type { AccountId, DeliveryId, EndpointId, PaymentId } from '../../domain/kernel/ids.ts';
import { encodeRawId } from '../../domain/kernel/ids.ts';
import { fromMillis } from '../../domain/kernel/time.ts';
import { PAYMENT } from '../../domain/payment/aggregate.ts';
import { WEBHOOK_DELIVERY } from '../../domain/webhookDelivery/webhookDelivery.ts';
import { WEBHOOK_ENDPOINT } from '../../domain/webhookEndpoint/webhookEndpoint.ts';
import { attachToEmbeddedPostgres } from '../../infrastructure/embeddedPostgres/embeddedPostgres.ts';
import { openPostgresEventStore } from '../../infrastructure/eventStore/postgres/store.ts';
import { appendAll, paidPayment } from '../bench/seed.ts';
import { quantile } from '../bench/statistics.ts';
import { programCodec } from '../support/programLog.ts';
import { CountingReceiver } from '../world/countingReceiver.ts';
import { KillableGateway } from '../world/killableGateway.ts';
import { Receiver } from '../world/receiver.ts';

const LETTERS = Number(process.env['LETTERS'] ?? 100_000);
const PATIENCE_MS = 3_600_000;
const DAY_MS = 86_400_000;
/** The messages of a payment, with the revisions that cause them. */
const MESSAGES = [
  ['charge.created', 1],
  ['payment.created', 1],
  ['charge.paid', 2],
  ['payment.completed', 2],
  ['payment.status_changed', 2],
] as const;
/** Pages and their renderings vary. Anything kept per dead letter would take 100 MB or more. */
const GROWTH_MB_MAX = 120;
/** For the other account, from the request for a charge to its webhook. The kill falls into one of them. */
const P95_MS_MAX = 2_000;

const deadLetter = (account: AccountId, endpointId: EndpointId, payment: PaymentId, n: number): EventsToEncode => {
  const [eventType, revision] = MESSAGES[n % MESSAGES.length]!;
  const at = fromMillis(Date.now() - DAY_MS);
  const delivery = {
    stream: PAYMENT.stream(payment),
    revision,
    paymentId: payment,
    eventType,
    endpointId,
    resend: 0,
    scheduledAt: fromMillis(Date.now() - 3 * DAY_MS + n),
    form: 1,
  };
  const failed = { number: 15, target: endpointId, at, statusCode: 500, error: 'status: 500', responseBody: null };
  return {
    serde: WEBHOOK_DELIVERY.serde,
    stream: WEBHOOK_DELIVERY.stream(encodeRawId(randomBytes(16)) as DeliveryId),
    after: EMPTY_STREAM,
    events: [
      {
        type: 'WebhookDeliveryAttemptFailed',
        data: { ...failed, durationMs: 1, nextAttemptAt: null, delivery },
      },
      { type: 'WebhookDeliveryDeadLettered', data: { at } },
    ],
    commandId: encodeRawId(randomBytes(16)),
    metadata: { account, mode: 'test', actor: 'soak', requestId: null, correlationId: payment, causationId: 'soak' },
  };
};

describe(`a redrive of ${LETTERS} dead letters, killed halfway`, () => {
  let gateway: KillableGateway;
  let receiver: CountingReceiver;
  let living: Receiver;
  let sql: pg.Client;
  before(async function open() {
    this.timeout(0);
    gateway = await KillableGateway.open(PATIENCE_MS);
    [receiver, living] = [await CountingReceiver.open(), await Receiver.open()];
  });
  after(async () => {
    await sql?.end().catch(() => undefined);
    await gateway.close();
    receiver.close();
    await living.close();
  });

  const asked = async <T>(method: 'GET' | 'POST', path: string, body?: unknown): Promise<T> => {
    const { status, text } = await gateway.insist(method, path, body);
    expect(status, text).to.be.below(300);
    return JSON.parse(text) as T;
  };
  const connect = async () => {
    sql = new pg.Client({ connectionString: await attachToEmbeddedPostgres(gateway.dataDir) });
    sql.on('error', () => undefined);
    await sql.connect();
  };
  const numberOf = async (what: string, from: string) =>
    Number((await sql.query<{ n: string }>(`SELECT ${what} AS n FROM ${from}`)).rows[0]?.n);
  const totalOf = async (status: string) =>
    (await asked<{ total: number }>('GET', `/v1/webhooks/deliveries?status=${status}&limit=1`)).total;

  /** Appends to the log beside the program. The payments cause no webhooks, because the endpoint subscribes to none of their events. */
  const fill = async () => {
    const endpoint = await asked<{ id: string }>('POST', '/v1/webhooks/endpoints', {
      url: receiver.url,
      events: ['charge.expired'],
    });
    const endpointId = endpoint.id.slice('we_'.length) as EndpointId;
    const { rows } = await sql.query<{ account: AccountId }>(
      "SELECT metadata::jsonb ->> 'account' AS account FROM event_store.events WHERE stream = $1",
      [WEBHOOK_ENDPOINT.stream(endpointId)],
    );
    const account = rows[0]?.account as AccountId;
    const connectionString = await attachToEmbeddedPostgres(gateway.dataDir);
    const store = await openPostgresEventStore({ connectionString });
    const { codec, close } = await programCodec(connectionString, gateway.dataDir);
    const log = { store, codec };
    const payments: PaymentId[] = [];
    await appendAll(log, () => {
      if (payments.length * MESSAGES.length >= LETTERS) return null;
      const payment = paidPayment(payments.length, account);
      payments.push(readStreamName(payment.stream).id as PaymentId);
      return payment;
    });
    let n = 0;
    await appendAll(log, () => {
      if (n >= LETTERS) return null;
      const payment = payments[Math.floor(n / MESSAGES.length)] as PaymentId;
      return deadLetter(account, endpointId, payment, n++);
    });
    await store.close();
    await close();
    while ((await totalOf('FAILED')) < LETTERS) await pause(500);
  };

  /**
   * Opens another account. Returns a function that creates charges one by one and returns the times until their webhooks, in milliseconds,
   * ascending.
   */
  const newNeighbour = async () => {
    const owner = ['account', 'create', '--name', 'Outra loja', '--email', 'outra@example.com'];
    const { testApiKey: apikey } = (await gateway.cli(owner)) as { testApiKey: string };
    const call = async (path: string, body: unknown, key?: string) => {
      const headers = { apikey, 'content-type': 'application/json', ...(key && { 'idempotency-key': key }) };
      const response = await fetch(gateway.baseUrl + path, { method: 'POST', headers, body: JSON.stringify(body) });
      return (await response.json()) as { id: string };
    };
    await call('/v1/webhooks/endpoints', { url: living.url, events: ['charge.created'] });
    return async (goesOn: () => boolean): Promise<readonly number[]> => {
      const tookMs: number[] = [];
      for (let n = 0; goesOn(); n++) {
        const began = Date.now();
        // A charge that the kill interrupts doesn’t count.
        const charge = await call('/v1/charges', { amount: 100, payment_method: 'pix' }, `soak-${n}`).catch(() => null);
        if (charge?.id !== undefined) {
          const { at } = await living.until(({ rawBody }) => rawBody.includes(charge.id), PATIENCE_MS);
          tookMs.push(at - began);
        }
        await pause(100);
      }
      return tookMs.toSorted((a, b) => a - b);
    };
  };

  it('delivers each once more, with flat memory and correct progress, while the other account’s webhooks continue', async function run() {
    this.timeout(0);
    await connect();
    await fill();
    let isDone = false;
    const sampling = (await newNeighbour())(() => !isDone);
    const memory: number[] = [];
    const outstanding: number[] = [];
    const began = Date.now();
    const path = '/v1/webhooks/deliveries/redrive';
    expect(await asked('POST', path, { status: 'FAILED' })).to.deep.equal({ matched: LETTERS, queued: LETTERS });
    const watching = (async () => {
      for (; !isDone; await pause(500)) {
        memory.push(await gateway.residentMb().catch(() => 0));
        const left = await numberOf('coalesce(sum(queued - requested), 0)', 'operations.redrives').catch(() => null);
        if (left !== null) outstanding.push(left);
      }
    })();
    const second = await asked<{ queued: number }>('POST', path, { status: 'FAILED' });
    expect(second.queued, 'queued by the second').to.equal(0);
    const point = Math.ceil((0.4 + 0.4 * Math.random()) * LETTERS);
    await receiver.reached(LETTERS / 5);
    const warm = Math.max(...memory);
    await receiver.reached(point);
    const peak = Math.max(...memory);
    await sql.end();
    await gateway.killAndRestart();
    await connect();
    await receiver.reached(LETTERS);
    await gateway.flushDeliveries();
    isDone = true;
    const seconds = (Date.now() - began) / 1_000;
    const [tookMs] = await Promise.all([sampling, watching]);
    const { deliveries, duplicates, changed } = await receiver.arrivals();
    console.log(`${LETTERS} in ${seconds.toFixed(0)} s, killed after ${point} had arrived; ${duplicates} came again`);
    console.log(`memory ${warm.toFixed(0)} MB at most in the first fifth, ${peak.toFixed(0)} MB until the kill`);
    console.log(`other account: p50 ${quantile(tookMs, 0.5)} ms, p95 ${quantile(tookMs, 0.95)} ms of ${tookMs.length}`);
    expect([deliveries, changed]).to.deep.equal([LETTERS, []]);
    expect(duplicates).to.be.below(Math.max(100, LETTERS / 100));
    expect([await totalOf('DELIVERED'), await totalOf('FAILED')]).to.deep.equal([LETTERS, 0]);
    const requests = "event_store.events WHERE type = 'WebhookDeliveryRetryRequested'";
    expect([await numberOf('count(*)', requests), await numberOf('count(DISTINCT stream)', requests)]).to.deep.equal([
      LETTERS,
      LETTERS,
    ]);
    expect(await numberOf('count(*)', 'operations.redrives')).to.equal(0);
    for (const [n, left] of outstanding.entries()) expect(left).to.be.at.most(outstanding[n - 1] ?? LETTERS);
    expect(quantile(tookMs, 0.95)).to.be.below(P95_MS_MAX);
    expect(peak - warm).to.be.below(GROWTH_MB_MAX);
  });
});
