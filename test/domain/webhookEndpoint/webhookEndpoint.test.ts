import { expect } from 'chai';
import type { AccountId, EndpointId } from '../../../domain/kernel/ids.ts';
import {
  deleteEndpoint,
  type Endpoint,
  registerEndpoint,
  type WebhookEndpointEvent,
  wants,
  webhookEndpoint,
} from '../../../domain/webhookEndpoint/webhookEndpoint.ts';
import { given } from '../../support/given.ts';
import { ACCOUNT_ID, at } from '../../support/samples.ts';

const endpoint: Endpoint = {
  endpointId: '00000000000000000000000003' as EndpointId,
  accountId: ACCOUNT_ID,
  mode: 'test',
  url: 'https://shop.example.com/hook',
  events: ['charge.paid'],
  secretVersion: 1,
};
const registered: WebhookEndpointEvent = {
  type: 'WebhookEndpointRegistered',
  data: { ...endpoint, at: at('12:00:00') },
};
const deleted: WebhookEndpointEvent = { type: 'WebhookEndpointDeleted', data: { at: at('13:00:00') } };
const owner = { accountId: ACCOUNT_ID, mode: 'test' as const };
const known = { ...endpoint, createdAt: at('12:00:00') };

describe('registerEndpoint', () => {
  it('registers, once', () => {
    const after = given(webhookEndpoint)
      .when(registerEndpoint(endpoint, at('12:00:00')))
      .then(registered, 'registered')
      .again('registered');
    expect(after.and().state).to.deep.equal({ status: 'active', ...known, updatedAt: at('12:00:00') });
  });
  it('again with other content keeps what was registered', () => {
    const other = { ...endpoint, url: 'https://other.example.com', events: ['*'] };
    given(webhookEndpoint, registered)
      .when(registerEndpoint(other, at('12:30:00')))
      .then('registered');
  });
  it('does not bring a deleted one back', () => {
    given(webhookEndpoint, registered, deleted)
      .when(registerEndpoint(endpoint, at('14:00:00')))
      .then('registered');
  });
});

describe('deleteEndpoint', () => {
  const remove = deleteEndpoint(owner, at('13:00:00'));
  it('deletes', () => {
    const after = given(webhookEndpoint, registered).when(remove).then(deleted, 'deleted').and();
    expect(after.state).to.deep.equal({ status: 'deleted', ...known, updatedAt: at('13:00:00') });
  });
  it('twice: it is not there any more', () =>
    given(webhookEndpoint, registered, deleted).when(remove).rejected('not_found'));
  it('of one that was never registered: not there', () => given(webhookEndpoint).when(remove).rejected('not_found'));
  it('of another tenant: not there', () => {
    const stranger = { accountId: '00000000000000000000000009' as AccountId, mode: 'test' as const };
    given(webhookEndpoint, registered)
      .when(deleteEndpoint(stranger, at('13:00:00')))
      .rejected('not_found');
  });
  it('of the other mode: not there', () => {
    given(webhookEndpoint, registered)
      .when(deleteEndpoint({ ...owner, mode: 'live' }, at('13:00:00')))
      .rejected('not_found');
  });
});

describe('wants', () => {
  it('takes subscribed names and no others', () => {
    expect(wants(['charge.paid', 'payment.created'], 'payment.created')).to.equal(true);
    expect(wants(['charge.paid'], 'charge.expired')).to.equal(false);
    expect(wants(['charge.paid'], 'charge')).to.equal(false);
    expect(wants([], 'charge.paid')).to.equal(false);
  });
  it('takes everything with *', () => expect(wants(['*'], 'med_case.updated')).to.equal(true));
});
