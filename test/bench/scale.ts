// POST /v1/charges on a long log against a log of 10,000 events: what is fast must stay fast.
import { GatewayUnderTest } from './gatewayUnderTest.ts';
import { LoadGenerator } from './load.ts';
import type { BenchRow } from './row.ts';
import { seed } from './seed.ts';
import { median } from './statistics.ts';

const SHORT_EVENTS = 10_000;
const CONNECTIONS = 32;

const withLog = async (events: number): Promise<{ gateway: GatewayUnderTest; events: number }> => {
  const gateway = await GatewayUnderTest.start();
  await seed(gateway.log, events, false);
  const head = await gateway.head();
  await gateway.caughtUpAt(head);
  await gateway.sql.query('VACUUM ANALYZE');
  return { gateway, events: head };
};

export const scale: BenchRow = async ({ quick, events: wanted, say }) => {
  const [durationMs, warmUpMs, count] = quick ? [1_000, 1_000, 1] : [3_000, 5_000, 3];
  say(`scale: writing ${SHORT_EVENTS} and ${wanted} events, and projecting them`);
  const short = await withLog(SHORT_EVENTS);
  const long = await withLog(wanted);
  const generator = new LoadGenerator();
  const rates: { short: number[]; long: number[] } = { short: [], long: [] };
  const run = async ({ port, apiKey }: GatewayUnderTest, forMs: number, name: string): Promise<number> =>
    (
      await generator.run({
        port,
        apiKey,
        connections: CONNECTIONS,
        durationMs: forMs,
        perSecond: null,
        name: `scale-${process.pid}-${name}`,
      })
    ).perSecond;
  await run(short.gateway, warmUpMs, 'warm-up');
  await run(long.gateway, warmUpMs, 'warm-up');
  for (let n = 0; n < count; n++) {
    rates.long.push(await run(long.gateway, durationMs, `${n}`));
    rates.short.push(await run(short.gateway, durationMs, `${n}`));
  }
  generator.close();
  await short.gateway.stop();
  await long.gateway.stop();
  const [ours, counterpart] = [median(rates.long), median(rates.short)];
  return [
    {
      name: 'scale',
      what: `POST /v1/charges on a log of ${long.events} events`,
      against: `itself on a log of ${short.events}`,
      unit: 'requests/s',
      ours,
      counterpart,
      goal: { text: '≥ 0.9×', met: ours >= 0.9 * counterpart },
      details: {},
    },
  ];
};
