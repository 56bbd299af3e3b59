// Buffers read by claims with 50,000 waiting lines, and by upkeep with 1,000,000 jobs, without a scan of the table (ADR 0003).
import { expect } from 'chai';
import { claimCosts, UPKEEP_COSTS, waitingLines } from '../infrastructure/jobs/costs.ts';
import { QueueUnderTest } from '../infrastructure/jobs/queueUnderTest.ts';

const LINES = 50_000;
const JOBS = 1_000_000;
const PER_JOB = 50;
const UPKEEP = 100;

const say = (line: string): void => void process.stderr.write(`      ${line}\n`);

describe('the job queue', function () {
  this.timeout(0);
  let test: QueueUnderTest;
  before(async () => {
    test = await QueueUnderTest.create();
    await test.open();
  });
  after(() => test.close());
  const filled = async (fill: string) => {
    await test.rows('TRUNCATE jobs.job');
    await test.rows(fill);
    await test.rows('VACUUM ANALYZE jobs.job');
  };

  for (const [what, fill] of waitingLines(LINES))
    it(`reads at most ${PER_JOB} buffers for each claimed job with ${LINES} waiting: ${what}`, async () => {
      await filled(fill);
      const { jobs, buffers, scans } = await claimCosts(test);
      say(`${buffers} buffers for ${jobs} jobs`);
      expect(scans).to.deep.equal([]);
      expect(buffers / Math.max(jobs, 1)).to.be.at.most(PER_JOB);
    });

  it(`reads at most ${UPKEEP} buffers for each regular task at ${JOBS} jobs if nothing is due`, async () => {
    for (const [what, fill] of waitingLines(JOBS).slice(0, 2)) {
      await filled(fill);
      say(what);
      for (const [name, cost] of UPKEEP_COSTS) {
        const { buffers, scans } = await cost(test);
        say(`  ${name}: ${buffers}`);
        expect([name, scans]).to.deep.equal([name, []]);
        expect(buffers, name).to.be.at.most(UPKEEP);
      }
    }
  });
});
