// How often the shared knowledge of failing targets is asked for, and what of it (W3); the rest is tested
// in test/infrastructure/deliveries/failingTargets.test.ts
// has the rest.
import { expect } from 'chai';
import type { FailingTargets, TimedAttempt } from '../../../application/ports/failingTargets.ts';
import { EndpointHealth, PROBE_RULE } from '../../../application/webhooks/endpointHealth.ts';
import { at } from '../../support/samples.ts';

const attempt = { group: 'we', key: 'd', dueAt: at('13:00:00') } as TimedAttempt;

describe('endpoint health (W3)', () => {
  let asked: string[];
  let failures: number;
  let nowMs: number;
  let health: EndpointHealth;
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
    health = new EndpointHealth(targets, () => nowMs);
  });
  const fail = async (times: number) => {
    for (let n = 0; n < times; n++) await health.failed(attempt, 'timeout');
  };

  it('holds from the third failure on, and probes once a minute', () =>
    expect(PROBE_RULE).to.deep.equal({ failuresInARow: 3, everySeconds: 60 }));
  it('of a target that is well costs one read a second, however much goes there', async () => {
    for (const ms of [0, 1, 500, 999, 1_000, 1_500]) {
      nowMs = ms;
      await health.look('we');
      expect(await health.holds(attempt)).to.equal(false);
      await health.succeeded('we', at('13:00:00'));
    }
    expect(asked).to.deep.equal(['failures of we', 'failures of we']);
  });
  it('lets go after two failures without asking, and asks from the third on', async () => {
    await fail(2);
    expect(await health.holds(attempt)).to.equal(false);
    await fail(1);
    expect(await health.holds(attempt)).to.equal(true);
    expect(await health.holds({ ...attempt, group: 'other' })).to.equal(false);
    expect(asked).to.deep.equal(['failed', 'failed', 'failed', 'hold d']);
  });
  it('of a target that fails for another worker is learnt with the next look', async () => {
    await health.look('we');
    failures = 3;
    expect(await health.holds(attempt)).to.equal(false);
    nowMs = 1_000;
    await health.look('we');
    expect(await health.holds(attempt)).to.equal(true);
    failures = 0; // it is well again for another worker: the table says so when it is asked to hold
    expect(await health.holds(attempt)).to.equal(false);
  });
  it('one success after any failure is told, once', async () => {
    await fail(1);
    for (let n = 0; n < 2; n++) await health.succeeded('we', at('13:00:09'));
    expect(asked).to.deep.equal(['failed', `we recovered at ${at('13:00:09')}`]);
    await fail(2);
    expect(await health.holds(attempt)).to.equal(false);
  });
  it('a look that is overtaken by a failure changes nothing', async () => {
    const look = health.look('we');
    await fail(3);
    await look;
    expect(await health.holds(attempt)).to.equal(true);
  });
});
