import tls from 'node:tls';
import { expect } from 'chai';
import type { WebhookSender } from '../../../application/ports/webhookSender.ts';
import { openWebhookSender } from '../../../infrastructure/webhookSender/webhookSender.ts';
import { EXPIRED, RECEIVER } from '../../support/tls/certificates.ts';
import { closed, openRawReceiver, openReceiver, type Receiver, timeless, webhook } from './receiver.ts';

const OK = { ok: true, statusCode: 200, error: null, responseBody: 'ok', retryAfterMs: null };
const failed = (error: string) => ({ ok: false, statusCode: null, error, responseBody: null, retryAfterMs: null });

describe('webhook sender over https', () => {
  let receiver: Receiver;
  let sender: WebhookSender;
  const trusted = tls.getCACertificates('default');
  const send = async (host: string) => timeless(await sender.send(webhook(`https://${host}:${receiver.port}/`)));

  beforeEach(() => {
    const resolver = { resolve: async () => ['127.0.0.1'], close() {} };
    sender = openWebhookSender({ allowPrivate: true, deadlineMs: 20_000, resolver });
  });
  afterEach(async () => {
    tls.setDefaultCACertificates(trusted);
    await sender.close();
    await receiver.close();
  });
  const trust = (cert: string): void => tls.setDefaultCACertificates([...trusted, cert]);

  it('rejects a self-signed certificate each time', async () => {
    receiver = await openReceiver((response) => response.end('ok'), RECEIVER);
    const error = 'tls: DEPTH_ZERO_SELF_SIGNED_CERT, self-signed certificate';
    expect(await send('hooks.example.test')).to.deep.equal(failed(error));
    expect(await send('hooks.example.test')).to.deep.equal(failed(error));
    expect(receiver.requests).to.deep.equal([]);
  });

  it('rejects a self-signed certificate even if verification is disabled for the process', async () => {
    receiver = await openReceiver((response) => response.end('ok'), RECEIVER);
    const before = process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
    try {
      expect((await send('hooks.example.test')).ok).to.equal(false);
    } finally {
      if (before === undefined) delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
      else process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = before;
    }
  });

  it('delivers to a trusted certificate for the name, with the name as SNI, over one connection', async () => {
    trust(RECEIVER.cert);
    receiver = await openReceiver((response) => response.end('ok'), RECEIVER);
    expect(await send('hooks.example.test.')).to.deep.equal(OK);
    expect(await send('hooks.example.test.')).to.deep.equal(OK);
    expect(receiver.serverNames).to.deep.equal(['hooks.example.test']);
  });

  it('delivers to a trusted certificate for a literal address', async () => {
    trust(RECEIVER.cert);
    receiver = await openReceiver((response) => response.end('ok'), RECEIVER);
    expect(await send('127.0.0.1')).to.deep.equal(OK);
  });

  it('rejects a trusted certificate for another name', async () => {
    trust(RECEIVER.cert);
    receiver = await openReceiver((response) => response.end('ok'), RECEIVER);
    const { error } = await send('other.example.test');
    expect(error).to.match(/^tls: ERR_TLS_CERT_ALTNAME_INVALID, .*other\.example\.test/);
    expect(receiver.requests).to.deep.equal([]);
  });

  it('rejects an expired certificate', async () => {
    trust(EXPIRED.cert);
    receiver = await openReceiver((response) => response.end('ok'), EXPIRED);
    expect(await send('hooks.example.test')).to.deep.equal(failed('tls: CERT_HAS_EXPIRED, certificate has expired'));
  });

  it('fails if the server does not use TLS', async () => {
    receiver = await openReceiver((response) => response.end('ok'));
    const { error } = await send('hooks.example.test');
    expect(error).to.match(/^tls: (EPROTO|ERR_SSL_[A-Z_]+), [a-z ]+$/);
  });

  it('ends at the deadline if the handshake does not complete', async () => {
    receiver = await openRawReceiver(() => {});
    await sender.close();
    sender = openWebhookSender({ allowPrivate: true, deadlineMs: 500 });
    expect(await send('127.0.0.1')).to.deep.equal(failed('timeout: no connection within 500 ms'));
    await closed(receiver.sockets[0]!);
  });

  it('aborts a handshake when it is closed', async () => {
    let greeted = () => {};
    const greeting = new Promise<void>((resolve) => {
      greeted = resolve;
    });
    receiver = await openRawReceiver(() => greeted());
    await sender.close();
    sender = openWebhookSender({ allowPrivate: true });
    const outcome = send('127.0.0.1');
    await greeting;
    await sender.close();
    await closed(receiver.sockets[0]!);
    expect(await outcome).to.deep.equal(failed('connection: the sender is closed'));
  });

  it('reports a connection error if the peer hangs up during the handshake', async () => {
    receiver = await openRawReceiver((socket) => socket.destroy());
    const { error } = await send('127.0.0.1');
    expect(error).to.match(/^connection: /);
  });
});
