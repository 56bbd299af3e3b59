// An upgrade and its rollback under load (docs/upgrading.md).
//   SECONDS  how long the deployment sells in each state (default 60)
import { expect } from 'chai';
import { upgradeTrial } from './upgrade/trial.ts';

const SECONDS = Number(process.env['SECONDS'] ?? 60);
const say = (line: string): void => void process.stderr.write(`${new Date().toISOString()}  ${line}\n`);

describe('an upgrade under load and its rollback', () => {
  it('lose nothing, duplicate nothing, and reject only requests that read the changed read model', async function run() {
    this.timeout(0);
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => process.exit(1));
    const report = await upgradeTrial({
      phaseMs: SECONDS * 1_000,
      merchants: 3,
      selling: { tills: 12, restMs: 50 },
      // Workers first, so that jobs of the newer release are left for the older workers.
      rollback: ['worker', 'api', 'projector'],
      say,
    });
    say(JSON.stringify(report, null, 2));
    expect(report.created).to.have.keys('1', '2');
    expect(report.jobsPutBack).to.be.greaterThan(0);
  });
});
