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
    it(`${Object.keys(wish).join(', ')}, once`, () => {
      const after = given(webhookEndpoint, registered)
        .when(change(wish))
        .then(changed(wish), 'changed')
        .again('changed');
      expect(after.and().state).to.deep.equal({ ...known, updatedAt: at('12:30:00'), ...state });
    });
  it('records only what differs', () => {
    given(webhookEndpoint, registered)
      .when(change({ url: endpoint.url, events: ['charge.paid', 'charge.expired'], status: 'active' }))
      .then(changed({ events: ['charge.paid', 'charge.expired'] }), 'changed');
  });
  for (const wish of [{}, { url: endpoint.url }, { events: ['charge.paid'] }, { status: 'active' as const }])
    it(`${JSON.stringify(wish)} is as it was: nothing`, () =>
      given(webhookEndpoint, registered).when(change(wish)).then('changed'));
  it('takes another order of the events as a change', () => {
    const two = changed({ events: ['charge.paid', 'charge.expired'] });
    const turned = { events: ['charge.expired', 'charge.paid'] };
    given(webhookEndpoint, registered, two).when(change(turned)).then(changed(turned), 'changed');
  });
  it('makes an inactive endpoint active again, and inactive from a later time', () => {
    const [off, on] = [changed({ status: 'inactive' }), changed({ status: 'active' }, at('13:00:00'))];
    const active = given(webhookEndpoint, registered, off)
      .when(change({ status: 'active' }, at('13:00:00')))
      .then(on, 'changed')
      .and();
    expect(active.state).to.deep.equal({ status: 'active', ...known, updatedAt: at('13:00:00') });
    const again = given(webhookEndpoint, registered, off, on, changed({ status: 'inactive' }, at('14:00:00')));
    expect(again.state).to.deep.include({ status: 'inactive', inactiveSince: at('14:00:00') });
  });
  it('of the url of an inactive endpoint leaves the time since when it is inactive', () => {
    const { state } = given(
      webhookEndpoint,
      registered,
      changed({ status: 'inactive' }),
      changed({ url }, at('13:00:00')),
    );
    expect(state).to.deep.include({ status: 'inactive', inactiveSince: at('12:30:00'), url });
  });
  it('of one that is not there, deleted, or a stranger’s: not there', () => {
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
  it('is the next version, once; again is the version after', () => {
    const after = given(webhookEndpoint, registered).when(rotate(2)).then(rotated(2), 'rotated').again('taken').and();
    expect(after.state).to.deep.equal({ status: 'active', ...known, secretVersion: 2, updatedAt: at('12:30:00') });
    after.when(rotate(3)).then(rotated(3), 'rotated');
  });
  it('of any version but the next is taken', () => {
    for (const version of [0, 1, 3]) given(webhookEndpoint, registered).when(rotate(version)).then('taken');
  });
  it('of an inactive endpoint too, which stays inactive', () => {
    const after = given(webhookEndpoint, registered, changed({ status: 'inactive' }))
      .when(rotate(2))
      .then(rotated(2), 'rotated')
      .and();
    expect(after.state).to.deep.include({ status: 'inactive', secretVersion: 2, inactiveSince: at('12:30:00') });
  });
  it('of one that is not there, deleted, or a stranger’s: not there', () => {
    given(webhookEndpoint).when(rotate(1)).rejected('not_found');
    given(webhookEndpoint, registered, deleted).when(rotate(2)).rejected('not_found');
    for (const stranger of Object.values(STRANGERS))
      given(webhookEndpoint, registered)
        .when(rotateEndpointSecret(stranger, 2, at('12:30:00')))
        .rejected('not_found');
  });
});

describe('waitsUntil', () => {
  it('is seven days after the endpoint became inactive', () => {
    const { state } = given(webhookEndpoint, registered, changed({ status: 'inactive' }));
    expect(state.status === 'inactive' && waitsUntil(state)).to.equal('2026-11-28T12:30:00.000Z');
  });
});

describe('deleteEndpoint', () => {
  const remove = deleteEndpoint(owner, at('13:00:00'));
  it('deletes', () => {
    const after = given(webhookEndpoint, registered).when(remove).then(deleted, 'deleted').and();
    expect(after.state).to.deep.equal({ status: 'deleted', ...known, updatedAt: at('13:00:00') });
  });
  it('deletes an inactive one', () => {
    const after = given(webhookEndpoint, registered, changed({ status: 'inactive' }))
      .when(remove)
      .then(deleted, 'deleted');
    expect(after.and().state).to.deep.equal({ status: 'deleted', ...known, updatedAt: at('13:00:00') });
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
