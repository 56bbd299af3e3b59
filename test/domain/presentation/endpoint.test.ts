// Webhook endpoint as the interface shows it, and its health (rule W6).
import { expect } from 'chai';
import type { EndpointId } from '../../../domain/kernel/ids.ts';
import { endpointHealth, endpointView } from '../../../domain/presentation/endpoint.ts';
import { ACCOUNT_ID, at } from '../../support/samples.ts';

const endpointId = '00000000000000000000000003' as EndpointId;

describe('endpointView', () => {
  it('shows what is public, never a secret or its version', () => {
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
  it('of one that does not keep failing says nothing of failures', () =>
    void expect(endpointHealth(null)).to.deep.equal({
      state: 'healthy',
      failingSince: null,
      lastError: null,
      waiting: 0,
    }));
  it('of one that keeps failing says since when, why, and how many wait', () => {
    const failures = { failingSince: at('13:00:00'), lastError: 'timeout', waiting: 3 };
    expect(endpointHealth(failures)).to.deep.equal({ state: 'failing', ...failures });
  });
});
