// Registering, listing, changing and deleting webhook endpoints (rules W5, W6).

import { expect } from 'chai';
import type { EndpointId } from '../../../../domain/kernel/ids.ts';
import { WEBHOOK_ENDPOINT } from '../../../../domain/webhookEndpoint/webhookEndpoint.ts';
import type { TestGateway } from '../../../world/gateway.ts';
import { expectError, openReady, paramsOf, rawIdOf } from '../../../world/http.ts';

const URL = 'https://example.com/hook';
interface Endpoint {
  readonly id: string;
  readonly secret: string;
}

describe('webhook endpoints', () => {
  let gateway: TestGateway;
  let key: string;
  let liveKey: string;
  before(async () => {
    gateway = await openReady();
  });
  after(() => gateway.close());
  beforeEach(async () => {
    ({ testKey: key, liveKey } = await gateway.newTenant());
  });
  afterEach(() => expect(gateway.faults).to.deep.equal([]));

  const register = (body: unknown, as = key) => gateway.post<Endpoint>('/v1/webhooks/endpoints', body, { key: as });
  const change = (id: string, body: unknown, as = key) =>
    gateway.call('PATCH', `/v1/webhooks/endpoints/${id}`, { body, key: as });
  const list = async (as = key) =>
    (await gateway.get<{ data: Endpoint[] }>('/v1/webhooks/endpoints', { key: as })).body.data;

  it('show their secret once, and each has its own', async () => {
    const [a, b] = [
      await register({ url: URL, events: ['*'] }),
      await register({ url: URL, events: ['charge.paid', 'charge.paid'] }),
    ];
    expect([a.status, b.status]).to.deep.equal([201, 201]);
    const { id, secret } = a.body;
    expect(a.body).to.deep.equal({ id, url: URL, events: ['*'], secret, status: 'ACTIVE' });
    expect(secret)
      .to.match(/^[0-9a-f]{64}$/)
      .and.not.equal(b.body.secret);
    const listed = await list();
    expect(listed.map((endpoint) => endpoint.id)).to.deep.equal([id, b.body.id]);
    const shown = ['id', 'url', 'events', 'status', 'health', 'createdAt', 'updatedAt'];
    expect(Object.keys(listed[0]!)).to.deep.equal(shown);
    expect(listed[1]).to.deep.include({ events: ['charge.paid'] });
  });

  it('report a forbidden URL and an unknown event together', async () => {
    const body = { url: 'ftp://example.com', events: ['nothing'] };
    const { id } = (await register({ url: URL, events: ['*'] })).body;
    for (const reply of [await register(body), await change(id, body)])
      expect(paramsOf(expectError(reply, 400, 'invalid_request'))).to.deep.equal(['url', 'events']);
  });

  for (const url of [
    'ftp://example.com',
    'example.com',
    'https://',
    'https://a:b@example.com',
    'https://example.com:80',
    'http://0.0.0.0',
    'http://169.254.169.254',
    'http://100.64.0.1',
    'http://[64:ff9b::1]',
    'http://192.0.2.1',
    'https://x y',
    `https://example.com/${'x'.repeat(2_040)}`,
  ])
    it(`reject url ${url.slice(0, 40)}`, async () =>
      void expectError(await register({ url, events: ['*'] }), 400, 'invalid_url', 'url'));
  for (const url of [
    'http://example.com',
    'https://127.0.0.1',
    'https://10.0.0.1',
    'https://[::1]',
    'https://[::ffff:127.0.0.1]',
    'https://2130706433',
    'https://0x7f.1',
    'https://example.com:1023',
  ])
    it(`reject url ${url} in live mode`, async () =>
      void expectError(await register({ url, events: ['*'] }, liveKey), 400, 'invalid_url', 'url'));
  for (const [url, events, code, param] of [
    [undefined, ['*'], 'invalid_url', 'url'],
    [5, ['*'], 'invalid_url', 'url'],
    ['', ['*'], 'invalid_url', 'url'],
    [URL, undefined, 'invalid_event', 'events'],
    [URL, [], 'invalid_event', 'events'],
    [URL, '*', 'invalid_event', 'events'],
    [URL, [5], 'invalid_event', 'events.0'],
    [URL, ['charge.paid', 'nothing'], 'invalid_event', 'events'],
    [undefined, undefined, 'invalid_request', undefined],
  ] as const)
    it(`return ${code} for ${JSON.stringify({ url, events })}`, async () =>
      void expectError(await register({ url, events }), 400, code, param));

  it('are limited to 16 per mode, also under concurrency; deleting one frees its place', async () => {
    const replies = await Promise.all(Array.from({ length: 30 }, () => register({ url: URL, events: ['*'] })));
    expect(replies.filter(({ status }) => status === 201).length).to.equal(16);
    for (const reply of replies) if (reply.status !== 201) expectError(reply, 400, 'endpoint_limit_reached');
    const all = await list();
    expect(all.length).to.equal(16);
    expect((await register({ url: URL, events: ['*'] }, liveKey)).status).to.equal(201);
    const path = `/v1/webhooks/endpoints/${all[0]!.id}`;
    const gone = await gateway.call('DELETE', path, { key });
    expect([gone.status, gone.body]).to.deep.equal([200, { deleted: true }]);
    expectError(await gateway.call('DELETE', path, { key }), 404, 'not_found');
    expect((await register({ url: URL, events: ['*'] })).status).to.equal(201);
    expectError(await register({ url: URL, events: ['*'] }), 400, 'endpoint_limit_reached');
    // Inactive ones count too.
    expect((await change(all[1]!.id, { status: 'INACTIVE' })).status).to.equal(200);
    expectError(await register({ url: URL, events: ['*'] }), 400, 'endpoint_limit_reached');
    expect((await list()).length).to.equal(16);
  });

  describe('on a change', () => {
    const OTHER = 'https://other.example.com/hook';
    let id: string;
    beforeEach(async () => {
      id = (await register({ url: URL, events: ['charge.paid'] })).body.id;
    });
    const listed = async () => {
      const [{ url, events, status }] = (await list()) as unknown as [Record<string, unknown>];
      return { url, events, status };
    };
    const eventsOf = async () => {
      const types: string[] = [];
      const stream = WEBHOOK_ENDPOINT.stream(rawIdOf(id) as EndpointId);
      for await (const { type } of gateway.storage.store.readStream(stream)) types.push(type);
      return types;
    };

    for (const [wish, after] of [
      [{ url: OTHER }, { url: OTHER }],
      [{ events: ['*', 'charge.paid', '*'] }, { events: ['*', 'charge.paid'] }],
      [{ status: 'INACTIVE' }, { status: 'INACTIVE' }],
      [
        { url: OTHER, events: ['*'], status: 'INACTIVE' },
        { url: OTHER, events: ['*'], status: 'INACTIVE' },
      ],
    ] as const)
      it(`apply ${JSON.stringify(wish)} once`, async () => {
        const expected = { url: URL, events: ['charge.paid'], status: 'ACTIVE', ...after };
        for (let n = 0; n < 2; n++) {
          const reply = await change(id, wish);
          expect([reply.status, reply.body]).to.deep.equal([200, { id, ...expected }]);
          expect(await listed()).to.deep.equal(expected);
        }
        expect(await eventsOf()).to.deep.equal(['WebhookEndpointRegistered', 'WebhookEndpointChanged']);
      });
    for (const wish of [undefined, {}, { url: URL }, { events: ['charge.paid'], status: 'ACTIVE' }])
      it(`write no event for ${JSON.stringify(wish)}, which changes nothing`, async () => {
        const reply = await change(id, wish);
        const same = { id, url: URL, events: ['charge.paid'], status: 'ACTIVE' };
        expect([reply.status, reply.body]).to.deep.equal([200, same]);
        expect(await eventsOf()).to.deep.equal(['WebhookEndpointRegistered']);
      });
    for (const [wish, code, param] of [
      [{ url: OTHER, secret: 'x' }, 'invalid_request', 'secret'],
      [{ other: 1 }, 'invalid_request', 'other'],
      [{ url: 'ftp://example.com' }, 'invalid_url', 'url'],
      [{ url: 'http://169.254.169.254' }, 'invalid_url', 'url'],
      [{ url: '' }, 'invalid_url', 'url'],
      [{ url: null }, 'invalid_url', 'url'],
      [{ events: [] }, 'invalid_event', 'events'],
      [{ events: ['nothing'] }, 'invalid_event', 'events'],
      [{ events: null }, 'invalid_event', 'events'],
      [{ status: 'active' }, 'invalid_request', 'status'],
      [{ status: 'DELETED' }, 'invalid_request', 'status'],
      [{ status: null }, 'invalid_request', 'status'],
      [{ url: 5, status: 'ACTIVE' }, 'invalid_url', 'url'],
      [{ url: 5, events: [] }, 'invalid_request', undefined],
      [[], 'invalid_request', undefined],
    ] as const)
      it(`return ${code} for ${JSON.stringify(wish)} and stay unchanged`, async () => {
        expectError(await change(id, wish), 400, code, param);
        expect(await eventsOf()).to.deep.equal(['WebhookEndpointRegistered']);
      });
    it('must meet the rules of live mode with a live key', async () => {
      const live = (await register({ url: URL, events: ['*'] }, liveKey)).body.id;
      expectError(await change(live, { url: 'http://example.com' }, liveKey), 400, 'invalid_url', 'url');
    });
    it('return 404 for those of another account or mode, deleted or unknown', async () => {
      const stranger = await gateway.newTenant();
      for (const other of [stranger.testKey, liveKey])
        expectError(await change(id, { status: 'INACTIVE' }, other), 404, 'not_found');
      expectError(await change(`we_${'0'.repeat(26)}`, {}), 404, 'not_found');
      expectError(await change('we_x', {}), 404, 'not_found');
      await gateway.call('DELETE', `/v1/webhooks/endpoints/${id}`, { key });
      for (const wish of [{ status: 'INACTIVE' }, {}]) expectError(await change(id, wish), 404, 'not_found');
      // An invalid body is reported first.
      expectError(await change(id, { url: 'x' }), 400, 'invalid_url', 'url');
    });
    it('apply ten concurrent changes in one order', async () => {
      const replies = await Promise.all(
        Array.from({ length: 10 }, (_, n) => change(id, { url: `https://example.com/${n}` })),
      );
      expect(replies.map(({ status }) => status)).to.deep.equal(Array(10).fill(200));
      expect((await eventsOf()).length).to.equal(11);
    });
  });
});
