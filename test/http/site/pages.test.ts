// The payer's routes under /pay (rules I6, I7).
import { expect } from 'chai';
import { ACCOUNT } from '../../../domain/account/account.ts';
import type { TestGateway } from '../../world/gateway.ts';
import { expectError, openReady, rawIdOf } from '../../world/http.ts';
import { poison } from '../../world/poison.ts';

describe('the payer’s page', () => {
  let gateway: TestGateway;
  let raw: string;
  before(async () => {
    gateway = await openReady();
  });
  after(() => gateway.close());
  beforeEach(async () => {
    raw = rawIdOf((await gateway.charge<{ id: string }>({ customer: { name: 'Ana Souza' } })).body.id);
  });
  const open = (path: string) => gateway.get(path, { key: null });

  it('has the same security headers on its errors', async () => {
    const names = ['referrer-policy', 'x-frame-options', 'x-content-type-options', 'cross-origin-opener-policy'];
    const told = (headers: Headers) => names.map((name) => headers.get(name));
    const page = told((await open(`/pay/${raw}`)).headers);
    expect(page).to.deep.equal(['no-referrer', 'SAMEORIGIN', 'nosniff', 'same-origin']);
    for (const path of ['/pay', `/pay/${raw}/nothing`, '/pay/a/b/c/d']) {
      const { status, headers } = await open(path);
      expect([status, ...told(headers)], path).to.deep.equal([404, ...page]);
    }
    const { status, headers } = await gateway.call('DELETE', `/pay/${raw}`, { key: null });
    expect([status, ...told(headers)]).to.deep.equal([405, ...page]);
  });
  it('counts unknown paths under /pay against the address’s limit, together with pages', async () => {
    const few = await openReady({ addressPerMinute: 2 });
    const status = async (path: string) => (await few.get(path, { key: null })).status;
    expect([await status('/pay/x/nothing'), await status('/pay/x'), await status('/pay/x/nothing')]).to.deep.equal([
      404, 404, 429,
    ]);
    expect(await status('/pay/x')).to.equal(429);
    expect(await status('/nothing')).to.equal(404);
    await few.close();
  });
  it('is HTML without personal data and with a strict policy', async () => {
    const { status, headers, text } = await open(`/pay/${raw}`);
    expect([status, headers.get('content-type'), headers.get('cache-control')]).to.deep.equal([
      200,
      'text/html; charset=utf-8',
      'no-store',
    ]);
    expect(headers.get('content-security-policy'))
      .to.match(/default-src 'none'/)
      .and.not.match(/unsafe/);
    expect(headers.get('referrer-policy')).to.equal('no-referrer');
    expect(text).to.include('12,34').and.not.include('Ana Souza');
  });
  it('has a QR image that is cached as immutable', async () => {
    const { status, headers } = await open(`/pay/${raw}/qr.png`);
    expect([status, headers.get('content-type')]).to.deep.equal([200, 'image/png']);
    expect(headers.get('cache-control')).to.equal('public, max-age=31536000, immutable');
  });
  it('reports its status', async () => {
    const { body } = await open(`/pay/${raw}/status`);
    expect(Object.keys(body)).to.deep.equal(['status', 'expires_at', 'now']);
    expect(body['status']).to.equal('pending');
  });
  it('receives the settlement without polling, before the next keep-alive', async () => {
    const stop = new AbortController();
    const { body } = await fetch(`${gateway.baseUrl}/pay/${raw}/events`, { signal: stop.signal });
    const reader = body!.pipeThrough(new TextDecoderStream()).getReader();
    const until = async (status: string) => {
      for (let text = ''; !text.includes(`"status":"${status}"`); text += (await reader.read()).value ?? '');
    };
    await until('pending');
    await gateway.post(`/v1/sandbox/charges/${raw}/pay`);
    const paidAt = performance.now();
    await until('paid');
    expect(performance.now() - paidAt).to.be.below(9_000); // The status is repeated every ten seconds.
    stop.abort();
  });
  it('ends its stream after the final status and answers later requests with 204', async () => {
    const { body, status } = await fetch(`${gateway.baseUrl}/pay/${raw}/events`);
    expect(status).to.equal(200);
    const whole = new Response(body).text();
    expect((await gateway.post(`/v1/sandbox/charges/${raw}/pay`)).status).to.equal(200);
    // Repetitions that keep the stream alive don’t count.
    const told = (await whole).match(/"status":"\w+"/g);
    expect(told?.filter((status, n) => status !== told[n - 1])).to.deep.equal([
      '"status":"pending"',
      '"status":"paid"',
    ]);
    for (let again = 0; again < 2; again++) {
      const { status, text, headers } = await open(`/pay/${raw}/events`);
      expect([status, text, headers.get('x-request-id')?.slice(0, 4)]).to.deep.equal([204, '', 'req_']);
    }
  });
  it('receives the settlement while the account of another open page can’t be read', async () => {
    const sick = await gateway.newTenant();
    const other = rawIdOf((await gateway.charge<{ id: string }>({}, { key: sick.testKey })).body.id);
    const stop = AbortSignal.timeout(20_000);
    const stream = (id: string) => fetch(`${gateway.baseUrl}/pay/${id}/events`, { signal: stop });
    const [{ status }, { body }] = await Promise.all([stream(other), stream(raw)]);
    expect(status).to.equal(200);
    const account = ACCOUNT.stream(sick.accountId);
    await poison(gateway, sick, account);
    gateway.gateway.commands.forget(account);
    const told = new Response(body).text();
    await gateway.post(`/v1/sandbox/charges/${raw}/pay`);
    expect(await told).to.include('"status":"paid"');
  });
  it('rejects more than 20 streams per charge, but still answers the status', async () => {
    const stop = new AbortController();
    const stream = () => fetch(`${gateway.baseUrl}/pay/${raw}/events`, { signal: stop.signal });
    const opened = await Promise.all(Array.from({ length: 20 }, stream));
    expect(opened.map(({ status }) => status)).to.deep.equal(Array(20).fill(200));
    const refused = await open(`/pay/${raw}/events`);
    expectError(refused, 429, 'rate_limited');
    expect(refused.headers.get('retry-after')).to.equal('30');
    expect((await open(`/pay/${raw}/status`)).body['status']).to.equal('pending');
    stop.abort();
  });
  it('answers HEAD on its stream without keeping one open', async () => {
    for (let i = 0; i < 25; i++) {
      const { status, headers } = await gateway.call('HEAD', `/pay/${raw}/events`, { key: null });
      expect([status, headers.get('content-type')]).to.deep.equal([200, 'text/event-stream']);
    }
  });
  it('has neither boleto, crypto QR image nor card page if Pix is the only way to pay', async () => {
    for (const part of ['boleto.pdf', 'public/boleto.pdf', 'crypto.png'])
      expectError(await open(`/pay/${raw}/${part}`), 404, 'not_found');
    const { status, text, headers } = await open(`/pay/${raw}/card`);
    expect([status, headers.get('content-type')]).to.deep.equal([404, 'text/html; charset=utf-8']);
    expect(text).to.include('Cobrança não encontrada');
  });
  it('returns 404 for unknown and malformed ids', async () => {
    const help = `<${gateway.baseUrl}/docs/errors#not_found>; rel="help"`;
    for (const id of ['0'.repeat(26), 'x', `ch_${raw}`]) {
      for (const page of ['', '/card']) {
        const { status, headers } = await open(`/pay/${id}${page}`);
        expect([status, headers.get('link')]).to.deep.equal([404, help]);
      }
      for (const part of ['qr.png', 'crypto.png', 'boleto.pdf', 'public/boleto.pdf', 'receipt.pdf', 'status', 'events'])
        expectError(await open(`/pay/${id}/${part}`), 404, 'not_found');
    }
  });
});
