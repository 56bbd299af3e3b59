// A short upgrade and rollback of a deployment that keeps selling. `npm run soak:upgrade` is the long version.
import { expect } from 'chai';
import { upgradeTrial } from '../soak/upgrade/trial.ts';

describe('a rolling upgrade and its rollback', () => {
  it('loses nothing and rejects only requests that read the changed read model', async function trial() {
    this.timeout(400_000); // It takes a minute on two quiet cores.
    const report = await upgradeTrial({
      phaseMs: 2_000,
      merchants: 1,
      selling: { tills: 2, restMs: 200 },
      // APIs go first, so that no job of the newer release is left waiting for the watchdog.
      rollback: ['api', 'worker', 'projector'],
      say: () => undefined,
    });
    expect(report.created).to.have.keys('1', '2');
    expect(report.charges).to.equal(Object.values(report.created).reduce((sum, count) => sum + count, 0));
  });
});
