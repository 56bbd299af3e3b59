// The latency of a single webhook, from the recorded settlement to the request on the wire.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { eachOf } from '../world/eachOf.ts';
import { GatewayUnderTest } from './gatewayUnderTest.ts';
import { type BenchRow, ofAccounts } from './row.ts';
import { quantile } from './statistics.ts';

const LATENCY_MS_MAX = 50;
const REGISTERED_AT_ONCE = 32;

/** First request for each charge, at the time of its head. */
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

export const latency: BenchRow = async ({ quick, accounts, say }) => {
  const [warmUp, count] = quick ? [5, 20] : [50, 300];
  const gateway = await GatewayUnderTest.start();
  const hits = await FirstHits.open();
  const sellers = await gateway.tenants(accounts);
  await eachOf(sellers, REGISTERED_AT_ONCE, ({ testKey: apiKey }) =>
    gateway.call('/v1/webhooks/endpoints', { url: hits.url, events: ['charge.paid'] }, { apiKey }),
  );
  await gateway.caughtUp();
  const latenciesMs: number[] = [];
  say(`latency: ${count} payments, one after the other`);
  for (let n = 0; n < warmUp + count; n++) {
    const { testKey: apiKey } = sellers[n % sellers.length] as (typeof sellers)[number];
    const { id } = await gateway.call<{ id: string }>(
      '/v1/charges',
      { amount: 1_000 + n, payment_method: 'pix' },
      { idempotencyKey: `latency-${process.pid}-${n}`, apiKey },
    );
    await gateway.call(`/v1/sandbox/charges/${id}/pay`, {}, { apiKey });
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
      what: `settled → webhook request on the wire, unloaded, p99${ofAccounts(accounts)}`,
      against: `a bound; ${count} payments one after the other`,
      unit: 'ms',
      ours: p99,
      counterpart: null,
      goal: { text: '< 50 ms', met: p99 < LATENCY_MS_MAX },
      details: { 'p50, ms:': quantile(latenciesMs, 0.5), 'longest, ms:': Math.max(...latenciesMs) },
    },
  ];
};
