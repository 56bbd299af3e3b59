// Charges of one build in two deployments, each against one process on PostgreSQL: with separate roles, and with the log in EventStoreDB.
import { thisTree } from './checkout.ts';
import type { Load } from './load.ts';
import { startEventStoreDb } from './logUnderTest.ts';
import { CHARGES_MORE, CHARGES_WHAT, chargesInPairs, ratios, rowOf, type Sides } from './paired.ts';
import { type BenchRow, ofAccounts, type Row } from './row.ts';
import { type Cpu, Side } from './side.ts';
import { median } from './statistics.ts';

const AGAINST = 'all in one process on PostgreSQL';

type Rounds = readonly Sides<Load & Cpu>[];
const rowsOf = (side: Side): Promise<number> => side.count('rm_payments.payments');

/** Returns a row with one goal for the ratio of requests and one for CPU. */
const deploymentRow = (
  [name, what]: readonly [name: string, what: string],
  results: Rounds,
  [requestsMin, cpuMax, cpuOf]: readonly [requestsMin: number, cpuMax: number, cpuOf: (round: Cpu) => number],
  cpuName: string,
): Row => {
  const row = rowOf({ name, what, unit: 'requests/s', against: AGAINST }, results, {
    ...CHARGES_MORE,
    [`${cpuName}, µs:`]: cpuOf,
  });
  const requests = median(ratios(results, ({ perSecond }) => perSecond));
  const cpu = median(ratios(results, cpuOf));
  const text = `≥ ${requestsMin}× the requests, ≤ ${cpuMax}× ${cpuName}`;
  return { ...row, goal: { text, met: requests >= requestsMin && cpu <= cpuMax } };
};

export const roles: BenchRow = async (options) => {
  const { accounts } = options;
  const sides = [
    await Side.open(thisTree, { roles: ['api', 'projector', 'worker'], accounts }),
    await Side.open(thisTree, { accounts }),
  ] as const;
  const results = await chargesInPairs(sides, options, rowsOf);
  const all = ({ node, postgres }: Cpu): number => node + postgres;
  const names = ['roles', `${CHARGES_WHAT}, as api, projector and worker${ofAccounts(accounts)}`] as const;
  return [deploymentRow(names, results, [0.9, 1.25, all], 'all CPU')];
};

export const eventStoreDbCpu: BenchRow = async (options) => {
  const { accounts } = options;
  const server = await startEventStoreDb();
  const sides = [
    await Side.open(thisTree, { env: { EVENTSTORE_URL: server.url }, accounts }),
    await Side.open(thisTree, { accounts }),
  ] as const;
  let lost = 0;
  const results = await chargesInPairs(sides, options, async (side) => {
    if (side === sides[0]) for (const count of await side.metric('quita_event_store_subscriptions_lost')) lost += count;
    return rowsOf(side);
  });
  await server.stop();
  const names = ['eventStoreDbCpu', `${CHARGES_WHAT} on ${server.what}${ofAccounts(accounts)}`] as const;
  const row = deploymentRow(names, results, [0.5, 1.6, ({ node }) => node], 'CPU of Node');
  return [{ ...row, details: { ...row.details, 'subscriptions lost:': lost } }];
};
