// POST /v1/charges on a long log, against a log of 10,000 events. The length must not slow it down.
import { GatewayUnderTest } from './gatewayUnderTest.ts';
import { LoadGenerator } from './load.ts';
import { type BenchRow, ofAccounts } from './row.ts';
import { seed } from './seed.ts';
import { median } from './statistics.ts';

const SHORT_EVENTS = 10_000;
const CONNECTIONS = 32;

const withLog = async (events: number, accounts: number | null) => {
  const gateway = await GatewayUnderTest.start();
  const sellers = accounts === null ? null : await gateway.openTenants(accounts);
  await seed(gateway.log, events, { deliveries: false, accounts: sellers?.map(({ accountId }) => accountId) });
  const head = await gateway.head();
  await gateway.caughtUpAt(head);
  await gateway.sql.query('VACUUM ANALYZE');
  return { gateway, apiKeys: sellers?.map(({ testKey }) => testKey) ?? [gateway.apiKey], events: head };
};

export const scale: BenchRow = async ({ quick, events: wanted, accounts, say }) => {
  const [durationMs, warmUpMs, count] = quick ? [1_000, 1_000, 1] : [3_000, 5_000, 3];
  say(`scale: writing ${SHORT_EVENTS} and ${wanted} events, and projecting them`);
  const short = await withLog(SHORT_EVENTS, accounts);
  const long = await withLog(wanted, accounts);
  const generator = new LoadGenerator();
  const rates: { short: number[]; long: number[] } = { short: [], long: [] };
  const run = async ({ gateway: { port }, apiKeys }: typeof short, durationMs: number): Promise<number> =>
    (await generator.run({ port, apiKeys, connections: CONNECTIONS, durationMs, perSecond: null })).perSecond;
  await run(short, warmUpMs);
  await run(long, warmUpMs);
  for (let n = 0; n < count; n++) {
    rates.long.push(await run(long, durationMs));
    rates.short.push(await run(short, durationMs));
  }
  generator.close();
  await short.gateway.stop();
  await long.gateway.stop();
  const [ours, counterpart] = [median(rates.long), median(rates.short)];
  return [
    {
      name: 'scale',
      what: `POST /v1/charges on a log of ${long.events} events${ofAccounts(accounts)}`,
      against: `itself on a log of ${short.events}`,
      unit: 'requests/s',
      ours,
      counterpart,
      goal: { text: '≥ 0.9×', met: ours >= 0.9 * counterpart },
      details: {},
    },
  ];
};
