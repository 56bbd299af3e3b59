// Registering, listing and deleting webhook endpoints (rules W5, W6).
import { expect } from 'chai';
import type { TestGateway } from '../support/gateway.ts';
import { expectError, openReady } from './support.ts';

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
  const list = async (as = key) =>
    (await gateway.get<{ data: Endpoint[] }>('/v1/webhooks/endpoints', { key: as })).body.data;

  it('shows the secret once, and each has its own', async () => {
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
    expect(Object.keys(listed[0]!)).to.deep.equal(['id', 'url', 'events', 'status', 'createdAt', 'updatedAt']);
    expect(listed[1]).to.deep.include({ events: ['charge.paid'] });
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
    it(`url ${url.slice(0, 40)} is refused`, async () =>
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
    it(`url ${url} is refused in live mode`, async () =>
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
    it(`${JSON.stringify({ url, events })} is ${code}`, async () =>
      void expectError(await register({ url, events }), 400, code, param));

  it('are at most 16 in each mode, also of 30 at once; one deleted makes room for one', async () => {
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
  });
});
