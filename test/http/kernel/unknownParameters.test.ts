// Unknown query parameters (rule I12): a mistyped filter must not return everything.
import { expect } from 'chai';
import { ROUTES } from '../../../http/api/routes.ts';
import { PLATFORM_PAGES } from '../../../http/kernel/callers.ts';
import { cookieOf } from '../../world/browser.ts';
import type { TestGateway } from '../../world/gateway.ts';
import { expectError, openReady, paramsOf } from '../../world/http.ts';

/** Lists that filter or page, each with one of its parameters and a valid value. */
const LISTS = {
  '/v1/charges': 'status=paid',
  '/v1/payments': 'sortOrder=asc',
  '/v1/webhooks/deliveries': 'offset=1',
  '/v1/med/cases': 'status=open',
  '/v1/infractions': 'type=med',
  '/v1/payouts': 'status=paid',
  '/v1/users': 'limit=100',
  '/ops/v1/accounts': 'limit=100',
  '/ops/v1/users': 'limit=100',
  '/ops/v1/held': 'limit=100',
  '/ops/v1/med/review': 'limit=100',
  '/ops/v1/payouts': 'limit=100',
  '/ops/v1/dlq': 'limit=100',
  '/ops/v1/dlq/redrives': 'limit=100',
  '/ops/v1/jobs': 'limit=100',
  '/ops/v1/reconciliation/findings': 'limit=100',
} as const;

/** Statistics and other routes that filter or page. */
const OTHERS = {
  '/v1/payments/stats': 'days=3',
  '/v1/payments/metrics': 'days=3',
  '/v1/statements/{month}': 'format=csv',
  '/ops/v1/providers/{id}/callbacks': 'outcome=unmatched',
  '/ops/v1/reconciliation/report': 'day=2026-11-02',
  '/ops/v1/parked': 'consumer=users',
  '/ops/v1/parked/{stream}': 'consumer=users',
  '/ops/v1/events': 'follow=false',
  '/ops/v1/events/{stream}': 'limit=1',
} as const;

describe('unknown query parameters', () => {
  let gateway: TestGateway;
  /** Credentials of a user who may call routes that keys may not. */
  let headers: { readonly authorization: string };
  let operator: typeof headers;
  before(async () => {
    gateway = await openReady();
    headers = await gateway.logIn();
    operator = await gateway.logIn('OPERATOR');
    expect((await gateway.charge()).status).to.equal(201);
  });
  after(() => gateway.close());
  afterEach(() => expect(gateway.faults).to.deep.equal([]));

  /** Returns credentials that may call the path. */
  const headersFor = (path: string) => {
    if (path.startsWith('/ops/')) return operator;
    if (path.startsWith(PLATFORM_PAGES)) return cookieOf(operator);
    return path.startsWith('/dashboard') ? cookieOf(headers) : headers;
  };
  const look = (path: string) => gateway.get(path, { headers: headersFor(path) });

  const UNKNOWN: readonly (readonly [query: string, param: string | undefined])[] = [
    ['colour=red', 'colour'],
    ['colour', 'colour'],
    ['Status=paid', 'Status'],
    ['status[]=paid', 'status[]'],
    ['status%5B%5D=paid', 'status[]'],
    ['status[0]=paid', 'status[0]'],
    ['status[ne]=paid', 'status[ne]'],
    ['limit.max=1', 'limit.max'],
    ['lim%20it=1', 'lim it'],
    ['__proto__=1', '__proto__'],
    ['constructor=1', 'constructor'],
    ['toString=1', 'toString'],
    ['=1', undefined],
    ['a%00b=1', 'ab'],
    ['%F0%9F%92%A0=1', '💠'],
    ['colour=red&colour=blue', 'colour'],
    [`${'k'.repeat(9_000)}=1`, `${'k'.repeat(127)}…`],
  ];
  for (const [path, known] of Object.entries(LISTS))
    describe(path, () => {
      for (const [query, param] of UNKNOWN)
        it(`are rejected by name: ${query.slice(0, 40)}`, async () => {
          for (const text of [query, `${known}&${query}`, `${query}&${known}`])
            expectError(await look(`${path}?${text}`), 400, 'invalid_filter', param);
        });
      it('are all reported, after known ones', async () => {
        const details = expectError(await look(`${path}?b=1&limit=0&a=2`), 400, 'invalid_filter');
        expect(paramsOf(details)).to.deep.equal(['limit', 'b', 'a']);
      });
      it('are reported up to fifty', async () => {
        const query = Array.from({ length: 1_500 }, (_, n) => `p${n}=1`).join('&');
        const details = expectError(await look(`${path}?${query}`), 400, 'invalid_filter');
        expect(paramsOf(details)).to.deep.equal(Array.from({ length: 50 }, (_, n) => `p${n}`));
      });
      it('are rejected like known ones that are repeated, with the same value or another', async () => {
        const [name = '', value = ''] = known.split('=');
        for (const text of [`${known}&${known}`, `${known}&${name}=other`, `${name}=other&${known}&${name}=${value}`])
          expectError(await look(`${path}?${text}`), 400, 'invalid_filter', name);
      });
      it('are absent from empty queries', async () => {
        const all = await look(path);
        for (const query of ['?', '?&', '?&&']) expect((await look(path + query)).text).to.equal(all.text);
      });
    });
  for (const [path, known] of Object.entries(OTHERS))
    it(`are rejected by name on ${path}`, async () => {
      const asked = path.replace('{stream}', `account-${gateway.tenant.accountId}`).replace('{month}', '2026-01');
      for (const [query, param] of UNKNOWN)
        for (const text of [query, `${known}&${query}`, `${query}&${known}`])
          expectError(await look(`${asked}?${text}`), 400, 'invalid_filter', param);
      const details = expectError(await look(`${asked}?b=1&${known}&a=2`), 400, 'invalid_filter');
      expect(paramsOf(details)).to.deep.equal(['b', 'a']);
      const [name = ''] = known.split('=');
      expectError(await look(`${asked}?${known}&${known}`), 400, 'invalid_filter', name);
    });
  it('U+0000 in a known parameter is rejected even where any text is allowed', async () => {
    for (const [path, param] of [
      ['/ops/v1/jobs', 'queue'],
      [`${PLATFORM_PAGES}/jobs`, 'queue'],
    ] as const)
      expectError(await look(`${path}?${param}=a%00`), 400, 'invalid_filter', param);
  });

  it('after more than a thousand separators are rejected, and known ones there filter', async () => {
    const many = '&'.repeat(1_001);
    expectError(await look(`/v1/charges?${many}stauts=paid`), 400, 'invalid_filter', 'stauts');
    expectError(await look(`/v1/charges?${many}status=bogus`), 400, 'invalid_filter', 'status');
    const { body } = await look(`/v1/charges?${many}status=paid`);
    expect(body).to.have.property('data').deep.equal([]);
  });

  it('include page and offset on the list of charges, which uses cursors', async () => {
    for (const param of ['page', 'offset'])
      for (const value of ['', '0', '1', 'x'])
        expectError(await look(`/v1/charges?${param}=${value}`), 400, 'invalid_filter', param);
  });

  it('are tested here for every route that rejects them', async () => {
    const lists = ROUTES.filter(({ refusesUnknownQuery }) => refusesUnknownQuery).map(({ path }) => path);
    const tried = [...Object.keys(LISTS), ...Object.keys(OTHERS), '/v1/request-logs'];
    expect(lists.sort()).to.deep.equal(tried.sort());
    for (const [query, param] of UNKNOWN)
      expectError(await look(`/v1/request-logs?${query}`), 400, 'invalid_filter', param);
  });

  const others = ROUTES.filter(
    ({ method, path, refusesUnknownQuery }) => method === 'GET' && !/\{|^\/audit\//.test(path) && !refusesUnknownQuery, // The audit log takes other tokens.
  );
  for (const { path, query, responses } of others)
    it(`are ignored on ${path}`, async () => {
      const statusOf = async (text: string) => (await look(`${path}?${text}`)).status;
      const expected = responses[200] === undefined ? 303 : 200; // Some pages redirect.
      for (const text of ['colour=red', 'page=x&offset=-1', 'status[]=a', '__proto__=1', '=1', 'a=1&a=2'])
        expect(await statusOf(text)).to.equal(expected);
      for (const [param, { code }] of Object.entries(query))
        expectError(await look(`${path}?${param}=1&${param}=2`), 400, code, param);
    });
});
