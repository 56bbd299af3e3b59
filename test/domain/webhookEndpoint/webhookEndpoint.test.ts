import { expect } from 'chai';
import type { AccountId, EndpointId } from '../../../domain/kernel/ids.ts';
import {
  changeEndpoint,
  deleteEndpoint,
  type Endpoint,
  type EndpointChange,
  registerEndpoint,
  rotateEndpointSecret,
  type WebhookEndpointEvent,
  waitsUntil,
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
  it('registers an endpoint and is idempotent', () => {
    const after = given(webhookEndpoint)
      .when(registerEndpoint(endpoint, at('12:00:00')))
      .then(registered, 'registered')
      .again('registered');
    expect(after.and().state).to.deep.equal({ status: 'active', ...known, updatedAt: at('12:00:00') });
  });
  it('keeps the original endpoint when repeated with other content', () => {
    const other = { ...endpoint, url: 'https://other.example.com', events: ['*'] };
    given(webhookEndpoint, registered)
      .when(registerEndpoint(other, at('12:30:00')))
      .then('registered');
  });
  it('does not restore a deleted endpoint', () => {
    given(webhookEndpoint, registered, deleted)
      .when(registerEndpoint(endpoint, at('14:00:00')))
      .then('registered');
  });
});

const STRANGERS = {
  'another account': { accountId: '00000000000000000000000009' as AccountId, mode: 'test' as const },
  'the other mode': { ...owner, mode: 'live' as const },
};
const NOTHING: EndpointChange = { url: null, events: null, status: null };
const changed = (change: Partial<EndpointChange>, when = at('12:30:00')): WebhookEndpointEvent => ({
  type: 'WebhookEndpointChanged',
  data: { ...NOTHING, ...change, at: when },
});
const change = (wish: Partial<EndpointChange>, when = at('12:30:00')) =>
  changeEndpoint(owner, { ...NOTHING, ...wish }, when);

describe('changeEndpoint', () => {
  const url = 'https://other.example.com/hook';
  const CHANGES: readonly [Partial<EndpointChange>, object][] = [
    [{ url }, { status: 'active', url }],
    [{ events: ['*'] }, { status: 'active', events: ['*'] }],
    [{ status: 'inactive' }, { status: 'inactive', inactiveSince: at('12:30:00') }],
    [
      { url, events: ['*'], status: 'inactive' },
      { url, events: ['*'], status: 'inactive', inactiveSince: at('12:30:00') },
    ],
  ];
  for (const [wish, state] of CHANGES)
    it(`changes ${Object.keys(wish).join(', ')} and is idempotent`, () => {
      const after = given(webhookEndpoint, registered)
        .when(change(wish))
        .then(changed(wish), 'changed')
        .again('changed');
      expect(after.and().state).to.deep.equal({ ...known, updatedAt: at('12:30:00'), ...state });
    });
  it('records only the fields that differ', () => {
    given(webhookEndpoint, registered)
      .when(change({ url: endpoint.url, events: ['charge.paid', 'charge.expired'], status: 'active' }))
      .then(changed({ events: ['charge.paid', 'charge.expired'] }), 'changed');
  });
  for (const wish of [{}, { url: endpoint.url }, { events: ['charge.paid'] }, { status: 'active' as const }])
    it(`records nothing for ${JSON.stringify(wish)} if nothing differs`, () =>
      given(webhookEndpoint, registered).when(change(wish)).then('changed'));
  it('records another order of the events as a change', () => {
    const two = changed({ events: ['charge.paid', 'charge.expired'] });
    const turned = { events: ['charge.expired', 'charge.paid'] };
    given(webhookEndpoint, registered, two).when(change(turned)).then(changed(turned), 'changed');
  });
  it('reactivates an inactive endpoint, and deactivates it again from a later time', () => {
    const [off, on] = [changed({ status: 'inactive' }), changed({ status: 'active' }, at('13:00:00'))];
    const active = given(webhookEndpoint, registered, off)
      .when(change({ status: 'active' }, at('13:00:00')))
      .then(on, 'changed')
      .and();
    expect(active.state).to.deep.equal({ status: 'active', ...known, updatedAt: at('13:00:00') });
    const again = given(webhookEndpoint, registered, off, on, changed({ status: 'inactive' }, at('14:00:00')));
    expect(again.state).to.deep.include({ status: 'inactive', inactiveSince: at('14:00:00') });
  });
  it('keeps the time of deactivation when only the URL changes', () => {
    const { state } = given(
      webhookEndpoint,
      registered,
      changed({ status: 'inactive' }),
      changed({ url }, at('13:00:00')),
    );
    expect(state).to.deep.include({ status: 'inactive', inactiveSince: at('12:30:00'), url });
  });
  it('rejects an endpoint that is missing, deleted, or of another account or mode with not_found', () => {
    given(webhookEndpoint).when(change({ url })).rejected('not_found');
    given(webhookEndpoint, registered, deleted).when(change({ url })).rejected('not_found');
    for (const stranger of Object.values(STRANGERS))
      given(webhookEndpoint, registered)
        .when(changeEndpoint(stranger, { ...NOTHING, url }, at('12:30:00')))
        .rejected('not_found');
  });
});

describe('rotateEndpointSecret', () => {
  const rotated = (secretVersion: number): WebhookEndpointEvent => ({
    type: 'WebhookEndpointSecretRotated',
    data: { secretVersion, at: at('12:30:00') },
  });
  const rotate = (version: number) => rotateEndpointSecret(owner, version, at('12:30:00'));
  it('records the next version once, and then the one after it', () => {
    const after = given(webhookEndpoint, registered).when(rotate(2)).then(rotated(2), 'rotated').again('taken').and();
    expect(after.state).to.deep.equal({ status: 'active', ...known, secretVersion: 2, updatedAt: at('12:30:00') });
    after.when(rotate(3)).then(rotated(3), 'rotated');
  });
  it('returns “taken” for any version but the next', () => {
    for (const version of [0, 1, 3]) given(webhookEndpoint, registered).when(rotate(version)).then('taken');
  });
  it('rotates the secret of an inactive endpoint, which stays inactive', () => {
    const after = given(webhookEndpoint, registered, changed({ status: 'inactive' }))
      .when(rotate(2))
      .then(rotated(2), 'rotated')
      .and();
    expect(after.state).to.deep.include({ status: 'inactive', secretVersion: 2, inactiveSince: at('12:30:00') });
  });
  it('rejects an endpoint that is missing, deleted, or of another account or mode with not_found', () => {
    given(webhookEndpoint).when(rotate(1)).rejected('not_found');
    given(webhookEndpoint, registered, deleted).when(rotate(2)).rejected('not_found');
    for (const stranger of Object.values(STRANGERS))
      given(webhookEndpoint, registered)
        .when(rotateEndpointSecret(stranger, 2, at('12:30:00')))
        .rejected('not_found');
  });
});

describe('waitsUntil', () => {
  it('returns seven days after the endpoint became inactive', () => {
    const { state } = given(webhookEndpoint, registered, changed({ status: 'inactive' }));
    expect(state.status === 'inactive' && waitsUntil(state)).to.equal('2026-11-28T12:30:00.000Z');
  });
});

describe('deleteEndpoint', () => {
  const remove = deleteEndpoint(owner, at('13:00:00'));
  it('deletes an active endpoint', () => {
    const after = given(webhookEndpoint, registered).when(remove).then(deleted, 'deleted').and();
    expect(after.state).to.deep.equal({ status: 'deleted', ...known, updatedAt: at('13:00:00') });
  });
  it('deletes an inactive endpoint', () => {
    const after = given(webhookEndpoint, registered, changed({ status: 'inactive' }))
      .when(remove)
      .then(deleted, 'deleted');
    expect(after.and().state).to.deep.equal({ status: 'deleted', ...known, updatedAt: at('13:00:00') });
  });
  it('rejects a second deletion with not_found', () =>
    given(webhookEndpoint, registered, deleted).when(remove).rejected('not_found'));
  it('rejects an unknown endpoint with not_found', () => given(webhookEndpoint).when(remove).rejected('not_found'));
  it('rejects an endpoint of another account with not_found', () => {
    const stranger = { accountId: '00000000000000000000000009' as AccountId, mode: 'test' as const };
    given(webhookEndpoint, registered)
      .when(deleteEndpoint(stranger, at('13:00:00')))
      .rejected('not_found');
  });
  it('rejects an endpoint of the other mode with not_found', () => {
    given(webhookEndpoint, registered)
      .when(deleteEndpoint({ ...owner, mode: 'live' }, at('13:00:00')))
      .rejected('not_found');
  });
});

describe('wants', () => {
  it('accepts only subscribed names', () => {
    expect(wants(['charge.paid', 'payment.created'], 'payment.created')).to.equal(true);
    expect(wants(['charge.paid'], 'charge.expired')).to.equal(false);
    expect(wants(['charge.paid'], 'charge')).to.equal(false);
    expect(wants([], 'charge.paid')).to.equal(false);
  });
  it('accepts every name with *', () => expect(wants(['*'], 'med_case.updated')).to.equal(true));
});
