// Which tenants' providers are asked for what no notification told of.

import { expect } from 'chai';
import cron from 'node-cron';
import { CAPABILITIES, type Needs } from '../../../application/capabilities.ts';
import type { Job } from '../../../application/core/capability.ts';
import { jobsOf } from '../../../application/core/capabilityList.ts';
import { enqueueOwedWork, lookIfLeading } from '../../../application/core/watchdog.ts';
import type { PaymentProviders } from '../../../application/ports/paymentProvider.ts';
import type { AccountId, Mode } from '../../../domain/kernel/ids.ts';
import { fromMillis } from '../../../domain/kernel/time.ts';
import { openLog } from '../../../infrastructure/log/log.ts';
import { reconciliations } from '../../../infrastructure/providers/reconciliations.ts';
import { startSchedule } from '../../../infrastructure/system/schedule.ts';
import { timers } from '../../../infrastructure/timers/timerTable.ts';
import { paymentReads } from '../../../projections/payments/queries.ts';
import { PaymentTables } from '../../projections/payments/paymentTables.ts';
import { RecordingJobs } from '../../support/operations.ts';
import { FakeProvider } from '../../world/fakeProvider.ts';

const NOW = Date.parse('2026-11-21T00:00:00.000Z');
const FIRST_DAY = '2026-10-12';
const provider = new FakeProvider();
const TEST_ONLY: PaymentProviders = {
  route: async () => [],
  of: async ({ mode }) => (mode === 'test' ? provider : null),
};

const RECONCILE = jobsOf(CAPABILITIES).find(({ kind }) => kind.name === 'reconcile') as Job<Needs>;

describe('the schedule of reconciliation', () => {
  let tables: PaymentTables;
  let jobs: RecordingJobs;
  before(async () => {
    tables = await PaymentTables.open();
  });
  after(() => tables.close());
  beforeEach(async () => {
    await tables.fresh();
    jobs = new RecordingJobs();
  });
  /** `<account> <mode> <status> <day>` each. */
  const counted = async (...rows: readonly string[]) => {
    for (const row of rows)
      await tables.db.query('INSERT INTO rm_payments.status_counts VALUES ($1, $2, $3, $4, 1)', row.split(' '));
  };
  const run = async (providers: PaymentProviders = provider) => {
    await enqueueOwedWork([RECONCILE], needsOf(providers));
    return jobs.enqueued.splice(0);
  };
  const needsOf = (providers: PaymentProviders): Needs =>
    ({
      jobs,
      providers,
      clock: { now: () => NOW },
      timers: timers(tables.db),
      payments: paymentReads(tables.db, async () => ({ head: null, isCaughtUp: true })),
      reconciliations: reconciliations(tables.db),
    }) as unknown as Needs;
  const jobOf = (which: string) => {
    const [accountId, mode] = which.split('/');
    return { queue: 'reconcile', tenant: { accountId, mode }, payload: { accountId, mode } };
  };

  it('asks for each account and mode with payments of the last 40 days, once, whatever became of them', async () => {
    await counted(
      `a test PAID ${FIRST_DAY}`,
      'a test EXPIRED 2026-11-20',
      'a live PAID 2026-11-20',
      'b test PAID 2027-05-01',
    );
    await counted('c test PAID 2026-10-11', 'c live PAID 2025-11-20');
    expect(await run()).to.deep.equal(['a/live', 'a/test', 'b/test'].map(jobOf));
    expect(await run(), 'again').to.deep.equal(['a/live', 'a/test', 'b/test'].map(jobOf));
  });
  it('asks for nobody in a mode without a provider, nor where there are no payments', async () => {
    expect(await run()).to.deep.equal([]);
    await counted('a live PAID 2026-11-20');
    expect(await run(TEST_ONLY)).to.deep.equal([]);
    await counted('a test PAID 2026-11-20');
    expect(await run(TEST_ONLY)).to.deep.equal(['a/test'].map(jobOf));
  });
  it('asks for those that were not compared for ten minutes, by their own clock; a time far ahead counts for nothing', async () => {
    await counted(
      'a test PAID 2026-11-20',
      'a live PAID 2026-11-20',
      'b test PAID 2026-11-20',
      'c live PAID 2026-11-20',
    );
    const minutes = (of: number) => fromMillis(NOW + of * 60_000);
    const reached = reconciliations(tables.db);
    const at = (account: string, mode: Mode, until: number) =>
      reached.saveReconciledUntil({ accountId: account as AccountId, mode }, minutes(until));
    await at('a', 'test', -9);
    await at('a', 'live', -11);
    await at('b', 'test', -9);
    await at('c', 'live', 61);
    expect(await run()).to.deep.equal(['a/live', 'c/live'].map(jobOf));
    await tables.db.query("INSERT INTO operations.test_clocks VALUES ('a', 3600, false), ('b', 0, false)");
    expect(await run()).to.deep.equal(['a/live', 'a/test', 'c/live'].map(jobOf));
    await at('a', 'test', 55);
    await at('a', 'live', 0);
    await at('c', 'live', 59);
    expect(await run()).to.deep.equal([]);
  });
  it('is one task while it is started, and none when it was stopped', async () => {
    const before = cron.getTasks().size;
    const needs = needsOf(provider);
    const stop = startSchedule(
      RECONCILE.routine as string,
      async () => void (await lookIfLeading(() => true, [RECONCILE], needs)),
      () => undefined,
      openLog('silent'),
    );
    expect(cron.getTasks().size).to.equal(before + 1);
    await stop();
    expect([cron.getTasks().size, jobs.enqueued]).to.deep.equal([before, []]);
  });
});
