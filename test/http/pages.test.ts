// The payer's routes under /pay (decisions I6, I7).
import { expect } from 'chai';
import type { TestGateway } from '../support/gateway.ts';
import { expectError, openReady, rawIdOf } from './support.ts';

describe('payer’s page', () => {
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

  it('is HTML without personal data, under a strict policy', async () => {
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
  it('has a QR image that never changes', async () => {
    const { status, headers } = await open(`/pay/${raw}/qr.png`);
    expect([status, headers.get('content-type')]).to.deep.equal([200, 'image/png']);
    expect(headers.get('cache-control')).to.equal('public, max-age=31536000, immutable');
  });
  it('tells its status', async () => {
    const { body } = await open(`/pay/${raw}/status`);
    expect(Object.keys(body)).to.deep.equal(['status', 'expires_at', 'now']);
    expect(body['status']).to.equal('pending');
  });
  it('hears of the settlement within a second, without asking', async () => {
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
    expect(performance.now() - paidAt).to.be.below(1_000);
    stop.abort();
  });
  it('has neither boleto nor card page when Pix is the only way to pay', async () => {
    expectError(await open(`/pay/${raw}/boleto.pdf`), 404, 'not_found');
    const { status, text, headers } = await open(`/pay/${raw}/card`);
    expect([status, headers.get('content-type')]).to.deep.equal([404, 'text/html; charset=utf-8']);
    expect(text).to.include('Cobrança não encontrada');
  });
  it('is 404 for what is no charge', async () => {
    for (const id of ['0'.repeat(26), 'x', `ch_${raw}`]) {
      for (const page of ['', '/card']) expect((await open(`/pay/${id}${page}`)).status).to.equal(404);
      for (const part of ['qr.png', 'boleto.pdf', 'status', 'events'])
        expectError(await open(`/pay/${id}/${part}`), 404, 'not_found');
    }
  });
});
