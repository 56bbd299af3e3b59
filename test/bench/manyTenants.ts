// Rows with many tenants: charges of many accounts in turn against those of one, a claim of jobs, and a reconciliation round.
import { claimCosts, waitingLines } from '../infrastructure/jobs/costs.ts';
import { QueueUnderTest } from '../infrastructure/jobs/queueUnderTest.ts';
import { ListedTenants } from '../infrastructure/providers/listedTenants.ts';
import { GatewayUnderTest } from './gatewayUnderTest.ts';
import { type Load, LoadGenerator } from './load.ts';
import type { BenchRow } from './row.ts';
import { median } from './statistics.ts';

const CONNECTIONS = 32;
/** Maximum CPU of PostgreSQL and Node per charge, relative to one account. */
const CPU_RATIO_MAX = 1.1;
const TENANTS = 50_000;
const BUFFERS_PER_JOB_MAX = 50;
/** A round is due every ten minutes. */
const ROUND_MS = 600_000;
const CORE_SHARE_MAX = 0.05;

const ACCOUNTS = 10_000;
const ACCOUNTS_QUICK = 200;

interface Round {
  readonly load: Load;
  /** Milliseconds per charge. */
  readonly node: number;
  readonly postgres: number;
  /** Index reads of the log, per charge. */
  readonly reads: number;
}

const LOG_READS =
  "SELECT coalesce(sum(idx_scan), 0)::text AS reads FROM pg_stat_user_tables WHERE schemaname = 'event_store'";

export const chargesOfMany: BenchRow = async ({ quick, accounts: wanted, say }) => {
  const accounts = wanted ?? (quick ? ACCOUNTS_QUICK : ACCOUNTS);
  const [durationMs, rounds] = quick ? [1_000, 1] : [5_000, 4];
  const gateway = await GatewayUnderTest.start();
  const generator = new LoadGenerator();
  say(`chargesOfMany: opening ${accounts} accounts`);
  const keys = (await gateway.openTenants(accounts)).map(({ testKey }) => testKey);
  const readsOfLog = async (): Promise<number> => {
    await gateway.sql.query('SELECT pg_stat_force_next_flush()');
    const { rows } = await gateway.sql.query<{ reads: string }>(LOG_READS);
    return Number(rows[0]!.reads);
  };
  const run = async (apiKeys: readonly string[], forMs: number): Promise<Round> => {
    await gateway.caughtUp();
    const [cpu, reads] = [await gateway.cpuMs(), await readsOfLog()];
    const { port } = gateway;
    const load = await generator.run({ port, apiKeys, connections: CONNECTIONS, durationMs: forMs, perSecond: null });
    await gateway.caughtUp();
    const after = await gateway.cpuMs();
    return {
      load,
      node: (after.node - cpu.node) / load.answered,
      postgres: (after.postgres - cpu.postgres) / load.answered,
      reads: ((await readsOfLog()) - reads) / load.answered,
    };
  };
  say('chargesOfMany: warming up');
  await run([gateway.apiKey], durationMs);
  // Runs until each account has a charge.
  for (let charges = 0; charges < accounts; ) charges += (await run(keys, durationMs)).load.answered;
  const pairs: { many: Round; one: Round }[] = [];
  for (let n = 0; n < rounds; n++) {
    const pair = { many: await run(keys, durationMs), one: await run([gateway.apiKey], durationMs) };
    pairs.push(pair);
    say(`chargesOfMany: ${pair.many.load.perSecond.toFixed(0)} against ${pair.one.load.perSecond.toFixed(0)} a second`);
  }
  generator.close();
  const compared = await gateway.verified();
  await gateway.stop();
  const of = (side: 'many' | 'one', figure: (round: Round) => number): number =>
    median(pairs.map((pair) => figure(pair[side])));
  const cpu = ({ node, postgres }: Round): number => node + postgres;
  const ratios = pairs.map(({ many, one }) => cpu(many) / cpu(one));
  const both = (figure: (round: Round) => number, digits: number): string =>
    `${of('many', figure).toFixed(digits)} and ${of('one', figure).toFixed(digits)}`;
  return [
    {
      name: 'chargesOfMany',
      what: `CPU per charge of ${accounts} accounts in turn, ${CONNECTIONS} connections`,
      against: 'one account',
      unit: 'ms',
      ours: of('many', cpu),
      counterpart: of('one', cpu),
      ratios,
      goal: { text: `≤ ${CPU_RATIO_MAX}×`, met: median(ratios) <= CPU_RATIO_MAX },
      details: {
        'CPU of Node, ms:': both(({ node }) => node, 3),
        'CPU of PostgreSQL, ms:': both(({ postgres }) => postgres, 3),
        'requests/s:': both(({ load }) => load.perSecond, 0),
        'reads of the log per charge:': both(({ reads }) => reads, 3),
        'verify:': `0 differences in ${compared} rows`,
      },
    },
  ];
};

export const claims: BenchRow = async ({ quick, say }) => {
  const lines = quick ? 1_000 : TENANTS;
  const queue = await QueueUnderTest.create();
  await queue.open();
  const costs: { readonly what: string; readonly perJob: number; readonly text: string }[] = [];
  for (const [what, fill] of waitingLines(lines)) {
    await queue.rows('TRUNCATE jobs.job');
    await queue.rows(fill);
    await queue.rows('VACUUM ANALYZE jobs.job');
    const { buffers, jobs } = await claimCosts(queue);
    costs.push({ what, perJob: buffers / Math.max(1, jobs), text: `${buffers} buffers for ${jobs} jobs` });
    say(`claims: ${what}: ${costs.at(-1)!.text}`);
  }
  await queue.close();
  const most = Math.max(...costs.map(({ perJob }) => perJob));
  return [
    {
      name: 'claims',
      what: `a claim of 24 places with ${lines} waiting lines, most buffers per job`,
      against: 'a bound',
      unit: 'buffers',
      ours: most,
      counterpart: null,
      goal: { text: `≤ ${BUFFERS_PER_JOB_MAX}`, met: most <= BUFFERS_PER_JOB_MAX },
      details: Object.fromEntries(costs.map(({ what, text }) => [`${what}:`, text])),
    },
  ];
};

export const reconciliation: BenchRow = async ({ quick, say }) => {
  const tenants = quick ? 1_000 : TENANTS;
  say(`reconciliation: ${tenants} tenants`);
  const listed = await ListedTenants.create(tenants, 2);
  const { statements, cpuMs, databaseMs } = await listed.round();
  await listed.close();
  const share = (100 * (cpuMs + databaseMs)) / ROUND_MS;
  return [
    {
      name: 'reconciliation',
      what: `a round of ${tenants} tenants with ${2 * tenants} payments in the hour, share of a core`,
      against: 'a bound',
      unit: '%',
      ours: share,
      counterpart: null,
      goal: { text: `≤ ${100 * CORE_SHARE_MAX} %`, met: share <= 100 * CORE_SHARE_MAX },
      details: {
        'statements:': statements,
        'CPU of Node, ms:': cpuMs.toFixed(0),
        'time of PostgreSQL, ms:': databaseMs.toFixed(0),
      },
    },
  ];
};
