// The request log of an account, for its dashboard (rule D3).
import { expect } from 'chai';
import { statusesOf } from '../../../../http/api/requests/requestLogs.ts';
import { newKey, type Reply, type TestGateway, type TestTenant } from '../../../world/gateway.ts';
import { expectError, openReady } from '../../../world/http.ts';

interface Listed {
  readonly id: string;
  readonly request_id: string;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly duration_ms: number;
  readonly key_fingerprint: string | null;
  readonly created_at: string;
}
interface Page {
  readonly object: 'list';
  readonly data: readonly Listed[];
  readonly has_more: boolean;
  readonly next_cursor: string | null;
}

describe('GET /v1/request-logs', () => {
  let gateway: TestGateway;
  let tenant: TestTenant;
  let session: Record<string, string>;
  let mark: string;
  let count = 0;
  before(async () => {
    gateway = await openReady();
  });
  after(() => gateway.close());
  beforeEach(async () => {
    count += 1;
    mark = `mark-${count}`;
    tenant = await gateway.newTenant();
    session = await gateway.logIn('VIEWER', await gateway.addUser('VIEWER', { tenant }));
  });
  afterEach(() => expect(gateway.faults).to.deep.equal([]));

  const list = (query = '', headers = session) => gateway.get<Page>(`/v1/request-logs${query}`, { key: null, headers });
  /** Returns the requests made with API keys, without the test’s own requests for the list. */
  const keysOnly = async (query = '') => {
    await gateway.writeRequests();
    const { status, body, text } = await list(query);
    expect(status, text).to.equal(200);
    return body.data.filter(({ key_fingerprint: key }) => key !== null);
  };
  const ask = (path: string, key = tenant.testKey, id = mark) =>
    gateway.get(path, { key, headers: { 'x-request-id': id } });

  it('shows requests by keys of both modes, newest first, and none of another account', async () => {
    await gateway.charge({}, { key: tenant.testKey, headers: { 'x-request-id': 'first' } });
    await ask('/v1/charges/none?secret=1', tenant.liveKey, 'second');
    await gateway.get('/v1/wallets', { headers: { 'x-request-id': 'stranger' } });
    const [second, first, ...others] = await keysOnly();
    expect(others).to.deep.equal([]);
    const { id, duration_ms: ms, created_at: at, key_fingerprint: key, ...rest } = second as Listed;
    expect(rest).to.deep.equal({ request_id: 'second', method: 'GET', path: '/v1/charges/none', status: 404 });
    expect(id).to.match(/^log_[0-9a-hjkmnp-tv-z]{26}$/);
    expect(key).to.match(/^[0-9a-f]{16}$/);
    expect(Number.isInteger(ms) && ms >= 0).to.equal(true);
    expect(Math.abs(Date.parse(at) - Date.now())).to.be.below(600_000);
    expect([first?.request_id, first?.method, first?.path, first?.status]).to.deep.equal([
      'first',
      'POST',
      '/v1/charges',
      201,
    ]);
    expect(first?.key_fingerprint).not.to.equal(key);
  });
  it('shows a user’s own requests without a key', async () => {
    await list('?limit=1');
    await gateway.writeRequests();
    const { body } = await list();
    expect(body.data.map(({ path, status, key_fingerprint: key }) => [path, status, key])).to.deep.equal([
      ['/v1/request-logs', 200, null],
    ]);
  });
  it('shows rejected requests of valid keys, and none of an invalid key', async () => {
    await gateway.post('/v1/charges', { amount: 0 }, { key: tenant.testKey, idempotencyKey: newKey() });
    await ask('/v1/sandbox/clock', tenant.liveKey);
    await ask('/v1/wallets', `${tenant.liveKey}x`);
    expect((await keysOnly()).map(({ path, status }) => [path, status])).to.deep.equal([
      ['/v1/sandbox/clock', 403],
      ['/v1/charges', 400],
    ]);
  });
  it('stores no body, query or key, and truncates long paths', async () => {
    await ask(`/v1/charges/${tenant.liveKey}?apikey=${tenant.testKey}`);
    await ask(`/v1/charges/${'x'.repeat(400)}`);
    const [long, leaky] = await keysOnly();
    expect(leaky?.path).to.equal('/v1/charges/***');
    expect(long?.path).to.equal(`/v1/charges/${'x'.repeat(400)}`.slice(0, 256));
    const { rows } = await gateway.storage.reads.query('SELECT * FROM operations.request_log');
    for (const secret of [tenant.liveKey, tenant.testKey, 'apikey'])
      expect(JSON.stringify(rows)).not.to.include(secret);
  });

  describe('filters', () => {
    let live: string;
    beforeEach(async () => {
      for (let i = 0; i < 3; i++) await ask('/v1/wallets', tenant.testKey);
      await ask('/v1/charges/none', tenant.testKey);
      await ask('/v1/charges/none', tenant.liveKey);
      await ask('/v1/sandbox/clock', tenant.liveKey);
      await gateway.writeRequests();
      live = (await keysOnly('?status=403'))[0]?.key_fingerprint as string;
    });
    const statuses = async (query: string) => (await keysOnly(query)).map(({ status }) => status);

    it('by status or class of statuses', async () => {
      expect(await statuses('?status=404')).to.deep.equal([404, 404]);
      expect(await statuses('?status=4xx')).to.deep.equal([403, 404, 404]);
      expect(await statuses('?status=2xx')).to.deep.equal([200, 200, 200]);
      expect(await statuses('?status=500')).to.deep.equal([]);
      const user = await gateway.addUser('VIEWER', { tenant });
      const headers = await gateway.logIn('VIEWER', user);
      expect((await gateway.call('POST', '/v1/auth/logout', { key: null, headers })).status).to.equal(204);
      await gateway.writeRequests();
      const { data } = (await list('?status=2xx')).body;
      expect(data.filter(({ path }) => path === '/v1/auth/logout').map(({ status }) => status)).to.deep.equal([204]);
    });
    it('by 3xx, which contains 303 and 304', () => {
      expect(statusesOf('3xx')).to.deep.equal([303, 304]);
    });
    it('by page; a page that ends exactly with the list is the last one', async () => {
      for (const [limit, more] of [
        [1, true],
        [2, false],
        [3, false],
      ] as const) {
        const { body } = await list(`?status=404&limit=${limit}`);
        const last = body.data.at(-1)?.id ?? '';
        expect([body.data.length, body.has_more, body.next_cursor]).to.deep.equal([
          ...[Math.min(limit, 2), more, more ? last : null],
        ]);
      }
    });
    it('by key, with and without a status', async () => {
      expect(await statuses(`?key=${live}`)).to.deep.equal([403, 404]);
      expect(await statuses(`?key=${live}&status=404`)).to.deep.equal([404]);
      expect(await statuses('?key=0000000000000000')).to.deep.equal([]);
    });
    it('by page with every filter, each request once', async () => {
      for (const filter of ['', '&status=4xx', `&key=${live}`]) {
        const all: string[] = [];
        let cursor = '';
        let reply: Reply<Page>;
        do {
          reply = await list(`?limit=2${filter}${cursor}`);
          all.push(...reply.body.data.map(({ id }) => id));
          expect(reply.body.has_more).to.equal(reply.body.next_cursor !== null);
          cursor = `&starting_after=${reply.body.next_cursor}`;
        } while (reply.body.has_more);
        expect(all).to.deep.equal([...new Set(all)].sort().reverse());
        expect(all.length).to.be.at.least({ '': 6, '&status=4xx': 3 }[filter] ?? 2);
      }
    });
  });

  for (const [query, code, param] of [
    ['?limit=0', 'invalid_filter', 'limit'],
    ['?limit=101', 'invalid_filter', 'limit'],
    ['?status=abc', 'invalid_filter', 'status'],
    ['?status=4XX', 'invalid_filter', 'status'],
    ['?status=6xx', 'invalid_filter', 'status'],
    ['?status=4', 'invalid_filter', 'status'],
    ['?key=xyz', 'invalid_filter', 'key'],
    ['?key=0123456789ABCDEF', 'invalid_filter', 'key'],
    ['?path=/v1', 'invalid_filter', 'path'],
    ['?page=1', 'invalid_filter', 'page'],
    ['?starting_after=ch_1', 'invalid_cursor', 'starting_after'],
    [`?starting_after=log_${'0'.repeat(26)}`, 'invalid_cursor', 'starting_after'],
  ] as const)
    it(`returns 400 ${code} for ${query}`, async () => {
      expectError(await list(query), 400, code, param);
    });
  it('rejects another account’s request as a cursor', async () => {
    await gateway.get('/v1/wallets', { headers: { 'x-request-id': mark } });
    await gateway.writeRequests();
    const { rows } = await gateway.storage.reads.query<{ id: string }>(
      'SELECT id FROM operations.request_log WHERE request_id = $1',
      [mark],
    );
    expectError(await list(`?starting_after=log_${rows[0]?.id}`), 400, 'invalid_cursor', 'starting_after');
  });
  it('rejects platform operators with 403', async () => {
    expectError(await list('', await gateway.logIn('OPERATOR')), 403, 'role_required');
  });
});
