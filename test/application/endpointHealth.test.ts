import { expect } from 'chai';
import { EndpointHealth } from '../../application/processes/endpointHealth.ts';
import { at } from '../support/samples.ts';

const NOW = at('13:00:00');
const failing = (times: number, health = new EndpointHealth()): EndpointHealth => {
  for (let i = 1; i <= times; i++) health.failed('we', `d${i}`, at(`13:0${i}:00`));
  return health;
};

describe('endpoint health (W3)', () => {
  it('knows nothing of an endpoint that never failed', () =>
    expect(new EndpointHealth().waitsUntil('we', NOW)).to.equal(null));
  it('lets new deliveries go after two failures in a row', () =>
    expect(failing(2).waitsUntil('we', NOW)).to.equal(null));
  it('holds them from the third on, until the earliest probe', () =>
    expect(failing(3).waitsUntil('we', NOW)).to.equal(at('13:01:00')));
  it('a success forgets the failures', () => {
    const health = failing(3);
    health.succeeded('we');
    expect(health.waitsUntil('we', NOW)).to.equal(null);
    expect(failing(2, health).waitsUntil('we', NOW)).to.equal(null);
  });
  it('counts each endpoint by itself', () => {
    const health = failing(3);
    health.succeeded('other');
    expect([health.waitsUntil('other', NOW), health.waitsUntil('we', NOW)]).to.deep.equal([null, at('13:01:00')]);
  });
  it('goes on to the next probe when one is past', () =>
    expect(failing(3).waitsUntil('we', at('13:01:00'))).to.equal(at('13:02:00')));
  it('lets one go as the probe when none is left', () =>
    expect(failing(3).waitsUntil('we', at('13:03:00'))).to.equal(null));
  it('a retry that fails again moves its probe', () => {
    const health = failing(3);
    health.failed('we', 'd1', at('13:30:00'));
    expect(health.waitsUntil('we', NOW)).to.equal(at('13:02:00'));
  });
  it('one that is never tried again is no probe', () => {
    const health = new EndpointHealth();
    for (const id of ['a', 'b', 'c']) health.failed('we', id, null);
    expect(health.waitsUntil('we', NOW)).to.equal(null);
  });
});
