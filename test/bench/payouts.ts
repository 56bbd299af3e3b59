// Payouts of one wallet: the time from a request to its grant (ADR 0013), sequentially and from eight parallel clients.
import { GatewayUnderTest } from './gatewayUnderTest.ts';
import { type BenchRow, ofAccounts, type Row } from './row.ts';
import { quantile } from './statistics.ts';

const LATENCY_MS_MAX = 50;
const CLIENTS = [1, 8];

export const payouts: BenchRow = async ({ quick, accounts, say }) => {
  const [warmUp, count] = quick ? [5, 40] : [50, 400];
  const gateway = await GatewayUnderTest.start();
  const sellers = await gateway.tenants(accounts);
  const keyOf = (n: number): string => (sellers[n % sellers.length] as (typeof sellers)[number]).testKey;
  const ask = (name: string, n: number) =>
    gateway.call(
      '/v1/payouts',
      { amount: 50, destination: { pix_key: 'ana@example.com' } },
      { idempotencyKey: name, apiKey: keyOf(n) },
    );
  const earnings = { amount: 10_000_000, payment_method: 'pix' };
  for (const { testKey: apiKey } of sellers.slice(0, warmUp + count)) {
    const idempotencyKey = `payouts-${process.pid}`;
    const { id } = await gateway.call<{ id: string }>('/v1/charges', earnings, { idempotencyKey, apiKey });
    await gateway.call(`/v1/sandbox/charges/${id}/pay`, {}, { apiKey });
  }
  await gateway.caughtUp();
  const rows: Row[] = [];
  for (const clients of CLIENTS) {
    say(`payouts: ${count} from ${clients} at once`);
    const latenciesMs: number[] = [];
    let asked = 0;
    const client = async (): Promise<void> => {
      for (let n = asked++; n < warmUp + count; n = asked++) {
        const beganAt = performance.now();
        await ask(`payouts-${process.pid}-${clients}-${n}`, n);
        if (n >= warmUp) latenciesMs.push(performance.now() - beganAt);
      }
    };
    await Promise.all(Array.from({ length: clients }, client));
    const p99 = quantile(latenciesMs, 0.99);
    rows.push({
      name: clients === 1 ? 'payouts' : `payouts${clients}`,
      what: `POST /v1/payouts of ${accounts === null ? 'one wallet' : 'wallets in turn'}, ${clients === 1 ? 'one after the other' : `${clients} at once`}, p99${ofAccounts(accounts)}`,
      against: `a bound; ${count} payouts`,
      unit: 'ms',
      ours: p99,
      counterpart: null,
      goal: { text: '≤ 50 ms', met: p99 <= LATENCY_MS_MAX },
      details: { 'p50, ms:': quantile(latenciesMs, 0.5), 'longest, ms:': Math.max(...latenciesMs) },
    });
  }
  await gateway.stop();
  return rows;
};
