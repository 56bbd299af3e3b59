// Webhook deliveries, from scheduled to recorded as delivered in events and read models, against a bare undici loop that posts the same
// signed bodies to the same receiver. And one delivery alone: from the settlement's record to the request on the wire.
import { type ChildProcess, fork } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { AccountId, EndpointId } from '../../domain/kernel/ids.ts';
import type { BareOrder } from './bareLoop.ts';
import { GatewayUnderTest } from './gatewayUnderTest.ts';
import type { BenchRow } from './row.ts';
import { appendAll, newDelivery } from './seed.ts';
import { median, quantile } from './statistics.ts';

const CONCURRENCY = 64;
const BODY_BYTES = 900;
const LATENCY_MS_MAX = 50;

const start = (file: string): ChildProcess => fork(join(import.meta.dirname, file));
const reply = <T>(child: ChildProcess): Promise<T> =>
  new Promise((resolve) => child.once('message', (message) => resolve(message as T)));
const ask = <T>(child: ChildProcess, order: object): Promise<T> => {
  const answer = reply<T>(child);
  child.send(order);
  return answer;
};

const bodyOf = (): string =>
  JSON.stringify({
    id: 'evt_0',
    object: 'event',
    type: 'charge.paid',
    data: { object: { note: 'x'.repeat(BODY_BYTES) } },
  });

export const delivery: BenchRow = async ({ quick, say }) => {
  const [perRound, count] = quick ? [500, 1] : [10_000, 3];
  const gateway = await GatewayUnderTest.start();
  const receiver = start('receiverProcess.ts');
  const bare = start('bareLoop.ts');
  const { port } = await reply<{ port: number }>(receiver);
  const url = `http://127.0.0.1:${port}/hook`;
  const { id } = await gateway.call<{ id: string }>('/v1/webhooks/endpoints', { url, events: ['charge.paid'] });
  const endpointId = id.slice('we_'.length) as EndpointId;
  // The reactor keeps the endpoint a moment after it was registered.
  const accounts = async () =>
    (await gateway.sql.query<{ account_id: AccountId }>('SELECT account_id FROM operations.fan_out_endpoints')).rows;
  let [account] = await accounts();
  while (account === undefined) [account] = await accounts();
  const accountId = account.account_id;
  const body = bodyOf();

  const ours = async (deliveries: number): Promise<number> => {
    const before = await gateway.head();
    const beganAt = performance.now();
    let left = deliveries;
    await appendAll(gateway.store, () => (left-- > 0 ? newDelivery(accountId, endpointId, body) : null));
    await gateway.levelAt(before + 2 * deliveries);
    return (deliveries * 1_000) / (performance.now() - beganAt);
  };
  const counterpart = async (deliveries: number): Promise<number> => {
    const order: BareOrder = { url, body, deliveries, concurrency: CONCURRENCY };
    return (await ask<{ perSecond: number }>(bare, order)).perSecond;
  };
  const arrived = async (deliveries: number): Promise<void> => {
    const { deliveries: came } = await ask<{ deliveries: number }>(receiver, {});
    if (came !== deliveries) throw new Error(`${deliveries} deliveries were recorded, but ${came} arrived`);
  };

  const rates: { ours: number[]; counterpart: number[] } = { ours: [], counterpart: [] };
  await ours(perRound / 2);
  await arrived(perRound / 2);
  for (let n = 0; n < count; n++) {
    rates.ours.push(await ours(perRound));
    await arrived(perRound);
    rates.counterpart.push(await counterpart(perRound));
    await arrived(perRound);
    say(`delivery: ${rates.ours[n]!.toFixed(0)} against ${rates.counterpart[n]!.toFixed(0)} a second`);
  }
  const scheduled = perRound * count + perRound / 2;
  const delivered = await gateway.count("rm_webhook_deliveries.deliveries WHERE status = 'DELIVERED'");
  if (delivered !== scheduled)
    throw new Error(`${scheduled} deliveries were scheduled, but ${delivered} rows say delivered`);
  const compared = await gateway.verified();
  receiver.disconnect();
  bare.disconnect();
  await gateway.stop();
  const [fast, loop] = [median(rates.ours), median(rates.counterpart)];
  return [
    {
      name: 'delivery',
      what: 'webhook deliveries, scheduled to recorded',
      against: `a bare undici loop, ${CONCURRENCY} at once, same signed bodies, same receiver`,
      unit: 'deliveries/s',
      ours: fast,
      counterpart: loop,
      goal: { text: '≥ 0.5×', met: fast >= 0.5 * loop },
      details: {
        'reconciled:': `${scheduled} scheduled = ${delivered} delivered rows = arrived, verify: 0 differences in ${compared} rows`,
      },
    },
  ];
};

/** Told apart by the charge; the time is that of the request's head. */
class FirstHits {
  readonly url: string;
  readonly #at = new Map<string, number>();
  readonly #waiters = new Map<string, (atMs: number) => void>();
  readonly #server;

  private constructor(server: ReturnType<typeof createServer>) {
    this.#server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  }

  static async open(): Promise<FirstHits> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const hits = new FirstHits(server);
    server.on('request', (req, res) => {
      const atMs = Date.now();
      let text = '';
      req.setEncoding('utf8');
      req.on('data', (chunk: string) => {
        text += chunk;
      });
      req.on('end', () => {
        res.end();
        hits.#took((JSON.parse(text) as { data: { object: { id: string } } }).data.object.id, atMs);
      });
    });
    return hits;
  }

  of(chargeId: string): Promise<number> {
    const known = this.#at.get(chargeId);
    return known === undefined
      ? new Promise((resolve) => this.#waiters.set(chargeId, resolve))
      : Promise.resolve(known);
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  #took(chargeId: string, atMs: number): void {
    this.#at.set(chargeId, atMs);
    this.#waiters.get(chargeId)?.(atMs);
  }
}

export const latency: BenchRow = async ({ quick, say }) => {
  const [warmUp, count] = quick ? [5, 20] : [50, 300];
  const gateway = await GatewayUnderTest.start();
  const hits = await FirstHits.open();
  await gateway.call('/v1/webhooks/endpoints', { url: hits.url, events: ['charge.paid'] });
  const latenciesMs: number[] = [];
  say(`latency: ${count} payments, one after the other`);
  for (let n = 0; n < warmUp + count; n++) {
    const { id } = await gateway.call<{ id: string }>(
      '/v1/charges',
      { amount: 1_000 + n, payment_method: 'pix' },
      `latency-${process.pid}-${n}`,
    );
    await gateway.call(`/v1/sandbox/charges/${id}/pay`, {});
    const requestAtMs = await hits.of(id);
    const { rows } = await gateway.sql.query<{ at: number }>(
      `SELECT (extract(epoch FROM recorded_at) * 1000)::float AS at FROM event_store.events WHERE stream = $1 AND type = 'TransactionSettled'`,
      [`payment-${id.slice('ch_'.length)}`],
    );
    if (n >= warmUp) latenciesMs.push(requestAtMs - rows[0]!.at);
  }
  hits.close();
  await gateway.stop();
  const p99 = quantile(latenciesMs, 0.99);
  return [
    {
      name: 'latency',
      what: 'settled → webhook request on the wire, unloaded, p99',
      against: `a bound; ${count} payments one after the other`,
      unit: 'ms',
      ours: p99,
      counterpart: null,
      goal: { text: '< 50 ms', met: p99 < LATENCY_MS_MAX },
      details: { 'p50, ms:': quantile(latenciesMs, 0.5), 'longest, ms:': Math.max(...latenciesMs) },
    },
  ];
};
