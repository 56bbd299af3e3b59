// How often the shared state of failing targets is read, and what is read of it (W3). The state itself is tested in
// test/infrastructure/deliveries/failingTargets.test.ts.
import { expect } from 'chai';
import type { FailingTargets, TimedAttempt } from '../../../application/ports/failingTargets.ts';
import { EndpointHealth } from '../../../application/webhooks/endpointHealth.ts';
import { at } from '../../support/samples.ts';

const attempt = { group: 'we', key: 'd', dueAt: at('13:00:00') } as TimedAttempt;

describe('endpoint health (W3)', () => {
  let asked: string[];
  let failures: number;
  let nowMs: number;
  let health: EndpointHealth;
  /** Another worker with the same targets. */
  let other: EndpointHealth;
  beforeEach(() => {
    asked = [];
    failures = 0;
    nowMs = 0;
    const targets: Omit<FailingTargets, 'forget'> = {
      failuresOf: async (target) => {
        asked.push(`failures of ${target}`);
        return failures;
      },
      failed: async () => {
        asked.push('failed');
        return ++failures;
      },
      hold: async ({ key }) => {
        asked.push(`hold ${key}`);
        return failures < 3 ? null : at('13:01:00');
      },
      recovered: async (target, then) => {
        asked.push(`${target} recovered at ${then}`);
        failures = 0;
      },
      failing: async () => new Map(),
      forgetOld: async () => undefined,
    };
    [health, other] = [new EndpointHealth(targets, () => nowMs), new EndpointHealth(targets, () => nowMs)];
  });
  /** Deliveries still go where they went. */
  const current = async () => true;
  const fail = async (times: number) => {
    for (let n = 0; n < times; n++) await health.failed(attempt, 'timeout');
  };

  it('reads the state of a healthy target once per second, however many deliveries it receives', async () => {
    for (const ms of [0, 1, 500, 999, 1_000, 1_500]) {
      nowMs = ms;
      await health.look('we');
      expect(await health.holds(attempt)).to.equal(false);
      await health.succeeded('we', at('13:00:00'), current);
    }
    expect(asked).to.deep.equal(['failures of we', 'failures of we']);
  });
  it('allows deliveries after two failures without reading, and reads the state from the third on', async () => {
    await fail(2);
    expect(await health.holds(attempt)).to.equal(false);
    await fail(1);
    expect(await health.holds(attempt)).to.equal(true);
    expect(await health.holds({ ...attempt, group: 'other' })).to.equal(false);
    expect(asked).to.deep.equal(['failed', 'failed', 'failed', 'hold d']);
  });
  it('learns at the next look that a target fails for another worker', async () => {
    await health.look('we');
    failures = 3;
    expect(await health.holds(attempt)).to.equal(false);
    nowMs = 1_000;
    await health.look('we');
    expect(await health.holds(attempt)).to.equal(true);
    failures = 0; // The target recovered for another worker, and the table reports it when asked to hold.
    expect(await health.holds(attempt)).to.equal(false);
  });
  it('records one success after any failure, once', async () => {
    await fail(1);
    for (let n = 0; n < 2; n++) await health.succeeded('we', at('13:00:09'), current);
    expect(asked).to.deep.equal(['failed', `we recovered at ${at('13:00:09')}`]);
    await fail(2);
    expect(await health.holds(attempt)).to.equal(false);
  });
  it('interrupts another worker’s failures by a success, although both jobs began while the target was healthy', async () => {
    await Promise.all([health.look('we'), other.look('we')]);
    for (let n = 0; n < 3; n++) {
      nowMs += 1_000;
      await other.failed(attempt, 'timeout');
      await health.succeeded('we', at('13:00:09'), current);
      expect(failures).to.equal(0);
    }
    expect(other.isFailing('we')).to.equal(false);
  });
  it('releases what another worker holds back, a second after its own last read at the latest', async () => {
    await health.look('we');
    for (let n = 0; n < 3; n++) await other.failed(attempt, 'timeout');
    expect(await other.holds(attempt)).to.equal(true);
    nowMs = 999;
    await health.succeeded('we', at('13:00:09'), current);
    expect(failures).to.equal(3);
    nowMs = 1_000;
    await health.succeeded('we', at('13:00:09'), current);
    expect(failures).to.equal(0);
    expect(await other.holds(attempt)).to.equal(false);
  });
  it('ends no failures by a success elsewhere', async () => {
    await fail(3);
    await health.succeeded('we', at('13:00:09'), async () => false);
    expect(failures).to.equal(3);
    expect(await health.holds(attempt)).to.equal(true);
  });
  it('reads the state once for successes at the same time', async () => {
    await health.look('we');
    asked = [];
    nowMs = 30_000;
    await Promise.all(Array.from({ length: 50 }, () => health.succeeded('we', at('13:00:09'), current)));
    expect(asked).to.deep.equal(['failures of we']);
  });
  it('ignores a look that completes after newer failures', async () => {
    const look = health.look('we');
    await fail(3);
    await look;
    expect(await health.holds(attempt)).to.equal(true);
  });
});
