// The buffers that claims and the upkeep of the queue read, without table scans. The figures are those of generic plans, which the
// product's prepared statements use. test/soak/jobs.soak.ts runs the same checks with a million jobs.
import { expect } from 'chai';
import { type Cost, claimCosts, UPKEEP_COSTS, waitingLines, waitingOf } from './costs.ts';
import { QueueUnderTest } from './queueUnderTest.ts';

/** Maximum buffers per claimed job. */
const PER_JOB = 50;

describe('the cost of claims', () => {
  let test: QueueUnderTest;
  before(async () => {
    test = await QueueUnderTest.create();
    await test.open();
    // Statistics that an automatic analysis collects during a test would be stale afterwards.
    await test.rows('ALTER TABLE jobs.job_common SET (autovacuum_enabled = off)');
  });
  after(() => test.close());
  beforeEach(() => test.rows('TRUNCATE jobs.job'));

  for (const [what, fill] of waitingLines(3_000))
    it(`is at most ${PER_JOB} buffers a job: ${what}`, async () => {
      await test.rows(fill);
      const { jobs, buffers, scans } = await claimCosts(test);
      expect(scans).to.deep.equal([]);
      expect(buffers / Math.max(jobs, 1)).to.be.at.most(PER_JOB);
    });

  it('is the same with 10,000 waiting jobs of a tenant without room as with one', async () => {
    const full = { tenant: 'live/bad', held: 8, room: 0, latest: 'h' };
    const costs: Cost[] = [];
    for (const waiting of [1, 10_000]) {
      await test.rows('TRUNCATE jobs.job');
      await test.rows(waitingOf('live/bad', waiting));
      await test.rows(waitingOf('live/good', 1));
      costs.push(await claimCosts(test, { tenants: [full], targets: [] }));
    }
    const [few, many] = costs as [Cost, Cost];
    expect([few.jobs, many.jobs, ...many.scans]).to.deep.equal([1, 1]);
    // Indexes gain levels. Reading the 10,000 would take hundreds of pages.
    expect(many.buffers).to.be.at.most(few.buffers + 15);
  });

  for (const [what, cost] of UPKEEP_COSTS)
    it(`does not scan the table to ${what}`, async () => {
      const fill = (waitingLines(3_000).at(0) as readonly [string, string])[1];
      await test.rows(fill);
      await test.rows('ANALYZE jobs.job');
      const { buffers, scans } = await cost(test);
      expect(scans).to.deep.equal([]);
      expect(buffers).to.be.at.most(100);
    });
});
