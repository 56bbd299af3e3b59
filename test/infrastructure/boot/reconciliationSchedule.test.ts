// Which tenants' providers are asked for what no notification told of.
import { expect } from 'chai';
import cron from 'node-cron';
import type { QueueName } from '../../../application/ports/jobs.ts';
import type { PaymentProviders } from '../../../application/ports/paymentProvider.ts';
import {
  enqueueReconciliations,
  startReconciliationSchedule,
} from '../../../infrastructure/boot/reconciliationSchedule.ts';
import { PaymentTables } from '../../projections/payments/paymentTables.ts';
import { FakeProvider } from '../../support/fakeProvider.ts';
import { RecordingJobs } from '../processes/support.ts';

const NOW = Date.parse('2026-11-21T00:00:00.000Z');
const FIRST_DAY = '2026-10-12';
const provider = new FakeProvider();
const TEST_ONLY: PaymentProviders = { of: (mode) => (mode === 'test' ? provider : null) };

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
    await enqueueReconciliations({ db: tables.db, jobs, providers, now: () => NOW });
    return jobs.enqueued.splice(0);
  };
  const jobOf = (item: string) => ({ queue: 'reconcile', item, group: item });

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
  it('does not add to a job that still waits for its provider; the other mode’s and other accounts’ run', async () => {
    await counted('a test PAID 2026-11-20', 'a live PAID 2026-11-20', 'b live PAID 2026-11-20');
    const open = { '': 1, 'a/live': 1 } as Readonly<Record<string, number>>;
    jobs.open = async (queue?: QueueName, group = '') => (queue === 'reconcile' ? (open[group] ?? 0) : 9);
    expect(await run()).to.deep.equal(['a/test', 'b/live'].map(jobOf));
  });
  it('is one task while it is started, and none when it was stopped', async () => {
    const before = cron.getTasks().size;
    const needs = { db: tables.db, jobs, providers: provider, now: () => NOW, onError: () => undefined };
    const stop = startReconciliationSchedule(needs);
    expect(cron.getTasks().size).to.equal(before + 1);
    await stop();
    expect([cron.getTasks().size, jobs.enqueued]).to.deep.equal([before, []]);
  });
});
