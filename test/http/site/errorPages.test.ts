// Outside /v1 and /ops, browsers get a page where programs get an error body.
import { request } from 'node:http';
import { expect } from 'chai';
import { TestGateway } from '../../world/gateway.ts';
import { expectError, rawIdOf } from '../../world/http.ts';

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

describe('errors in a browser', () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await TestGateway.open();
  });
  after(() => gateway.close());
  const browse = (path: string, language = 'en') =>
    gateway.get(path, { key: null, headers: { accept: BROWSER, 'accept-language': language } });
  const expectPage = async (path: string, status: number, title: string, language = 'en'): Promise<string> => {
    const reply = await browse(path, language);
    expect([reply.status, reply.headers.get('content-type')], path).to.deep.equal([status, 'text/html; charset=utf-8']);
    expect(reply.text, path).to.include(`<h1>${title}</h1>`).and.include(reply.headers.get('x-request-id'));
    return reply.text;
  };

  it('an unknown path returns an error page in the reader’s language', async () => {
    for (const path of [
      '/nothing',
      '/v1x',
      '/v2/charges',
      '/opsx',
      '/docs/nothing',
      '/docs/operations/nothing',
      '/pay',
    ])
      await expectPage(path, 404, 'Page not found');
    await expectPage('/nothing', 404, 'Página não encontrada', 'pt-BR,pt;q=0.9,en;q=0.8');
    await expectPage('/nothing', 404, 'Page not found', 'de');
  });
  it('the page has the usual security headers and is never cached', async () => {
    const { headers } = await browse('/nothing');
    expect(headers.get('content-security-policy'))
      .to.match(/^default-src 'none'/)
      .and.not.match(/unsafe/);
    expect(
      ['x-content-type-options', 'referrer-policy', 'cache-control', 'vary'].map((name) => headers.get(name)),
    ).to.deep.equal(['nosniff', 'no-referrer', 'no-store', 'Accept, Accept-Language']);
    expect(headers.get('link')).to.equal(`<${gateway.baseUrl}/docs/errors#not_found>; rel="help"`);
  });
  it('the page repeats no part of the request', async () => {
    const text = await expectPage('/%3Cscript%3Ealert(1)?q=%3Cb%3Ehello', 404, 'Page not found');
    expect(text).to.not.match(/alert|hello/);
  });
  it('programs get JSON on any path', async () => {
    for (const path of ['/nothing', '/docs/nothing', '/dashboard/test/nothing'])
      for (const accept of ['application/json', '*/*', 'application/json, text/html;q=0.9', 'image/png'])
        expectError(await gateway.get(path, { key: null, headers: { accept } }), 404, 'not_found');
    const sent = await new Promise<string | undefined>((resolve, reject) =>
      request(`${gateway.baseUrl}/nothing`, (res) => resolve(res.resume().headers['content-type']))
        .on('error', reject)
        .end(),
    );
    expect(sent).to.equal('application/json; charset=utf-8');
  });
  it('the API answers with JSON, whatever the Accept header', async () => {
    for (const path of ['/v1', '/v1/', '/v1/nothing', '/ops', '/ops/', '/ops/nothing', '/ops/v1/nothing'])
      expectError(await browse(path), 404, 'not_found');
    for (const path of ['/v1/charges', '/ops/v1/accounts']) expectError(await browse(path), 401, 'unauthorized');
  });
  it('POST requests get JSON, because pages are for reading', async () => {
    for (const path of ['/docs', '/nothing']) {
      const { status, headers } = await gateway.call('POST', path, {
        key: null,
        headers: { accept: BROWSER },
        body: {},
      });
      expect([status, headers.get('content-type')]).to.deep.equal([
        path === '/docs' ? 405 : 404,
        'application/json; charset=utf-8',
      ]);
    }
  });
  it('HEAD is answered like GET, without the body', async () => {
    const { status, headers, text } = await gateway.call('HEAD', '/nothing', {
      key: null,
      headers: { accept: BROWSER },
    });
    expect([status, headers.get('content-type'), text]).to.deep.equal([404, 'text/html; charset=utf-8', '']);
  });
  it('/login redirects to the dashboard', async () => {
    const { status, headers } = await gateway.get('/login', { key: null, headers: { accept: BROWSER } });
    expect([status, headers.get('location')]).to.deep.equal([303, '/dashboard']);
  });
  it('an expired link to a document returns a page, with the status that programs get', async () => {
    const link = `/evidence/mev_${'0'.repeat(26)}?token=expired`;
    const { status } = await gateway.get(link, { key: null });
    expect(status).to.be.within(403, 410);
    await expectPage(link, status, status === 404 ? 'Page not found' : 'This link is no longer valid');
    const raw = rawIdOf((await gateway.charge<{ id: string }>()).body.id);
    await expectPage(`/pay/${raw}/boleto.pdf?token=expired`, 404, 'Page not found');
    await expectPage(`/pay/${raw}/receipt.pdf`, 404, 'Página não encontrada', 'pt-BR');
  });
  it('beyond an address’s rate limit, a page with Retry-After is returned', async () => {
    const few = await TestGateway.open({ addressPerMinute: 1 });
    const visit = () => few.get('/docs/errors', { key: null, headers: { accept: BROWSER, 'accept-language': 'en' } });
    expect((await visit()).status).to.equal(200);
    const { status, headers, text } = await visit();
    expect([status, headers.get('content-type')]).to.deep.equal([429, 'text/html; charset=utf-8']);
    expect(text).to.include('Too many requests');
    expect(Number(headers.get('retry-after'))).to.be.within(1, 60);
    await few.close();
  });
});
