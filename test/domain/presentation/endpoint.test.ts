// The public view of a webhook endpoint, and its health (rule W6).
import { expect } from 'chai';
import type { EndpointId } from '../../../domain/kernel/ids.ts';
import { endpointHealth, endpointView } from '../../../domain/presentation/endpoint.ts';
import { ACCOUNT_ID, at } from '../../support/samples.ts';

const endpointId = '00000000000000000000000003' as EndpointId;

describe('endpointView', () => {
  it('shows only public fields, never the secret or its version', () => {
    const endpoint = {
      endpointId,
      accountId: ACCOUNT_ID,
      mode: 'test' as const,
      url: 'https://a.example',
      events: ['*'],
      secretVersion: 3,
    };
    const view = { id: 'we_00000000000000000000000003', url: 'https://a.example', events: ['*'] };
    expect(endpointView({ ...endpoint, status: 'active' })).to.deep.equal({ ...view, status: 'ACTIVE' });
    expect(endpointView({ ...endpoint, status: 'inactive' })).to.deep.equal({ ...view, status: 'INACTIVE' });
  });
});

describe('endpointHealth', () => {
  it('shows no failure details for a healthy endpoint', () =>
    void expect(endpointHealth(null)).to.deep.equal({
      state: 'healthy',
      failingSince: null,
      lastError: null,
      waiting: 0,
    }));
  it('shows since when and why an endpoint fails, and how many deliveries wait', () => {
    const failures = { failingSince: at('13:00:00'), lastError: 'timeout', waiting: 3 };
    expect(endpointHealth(failures)).to.deep.equal({ state: 'failing', ...failures });
  });
});
