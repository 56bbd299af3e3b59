// Requests in flight per address behind a proxy (issue 18, point 5).
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import { IN_FLIGHT_MAX } from '../../../http/kernel/admission.ts';
import type { TestGateway } from '../../world/gateway.ts';
import { expectError, openReady, portOf } from '../../world/http.ts';

describe('requests in flight behind a proxy', () => {
  let gateway: TestGateway;
  const sockets: Socket[] = [];
  const opened = async (trustProxy?: string) => {
    gateway = await openReady(trustProxy === undefined ? {} : { trustProxy });
  };
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await gateway.close();
  });
  /** Starts a charge request without sending its body, so it stays in flight until its connection ends. */
  const hang = async (address: string): Promise<Socket> => {
    const socket = connect(portOf(gateway), '127.0.0.1').on('error', () => undefined);
    sockets.push(socket);
    const { testKey } = gateway.tenant;
    const head = `POST /v1/charges HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${address}\r\napikey: ${testKey}\r\n`;
    // The interim answer (100 Continue) shows that the server has begun the request.
    const more =
      'Idempotency-Key: 12345678\r\nContent-Type: application/json\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n';
    socket.write(head + more);
    await once(socket, 'data');
    return socket;
  };
  const ask = (address: string, path = '/v1/wallets') => gateway.get(path, { headers: { 'x-forwarded-for': address } });

  it('are limited to 256 per forwarded address, without affecting others, until one of them ends', async () => {
    await opened('loopback');
    const hanging = await Promise.all(Array.from({ length: IN_FLIGHT_MAX }, () => hang('203.0.113.7')));
    for (const path of ['/v1/wallets', '/', '/nowhere', '/pay/x']) {
      const refused = await ask('203.0.113.7', path);
      expectError(refused, 503, 'service_unavailable');
      expect(refused.headers.get('retry-after')).to.equal('2');
    }
    for (const other of ['203.0.113.8', '2001:db8::1']) expect((await ask(other)).status).to.equal(200);
    const [first] = hanging;
    first?.destroy();
    let status = 503;
    while (status === 503) ({ status } = await ask('203.0.113.7'));
    expect(status).to.equal(200);
  });
  it('are counted per /64 network for IPv6', async () => {
    await opened('loopback');
    await Promise.all(Array.from({ length: IN_FLIGHT_MAX }, (_, n) => hang(`2001:db8:0:1::${n.toString(16)}`)));
    expectError(await ask('2001:db8:0:1:ffff::1'), 503, 'service_unavailable');
    expect((await ask('2001:db8:0:2::1')).status).to.equal(200);
  });
  it('are counted for the client that the proxy names, not for addresses the client claims', async () => {
    await opened('loopback');
    await Promise.all(Array.from({ length: IN_FLIGHT_MAX }, (_, n) => hang(`10.1.${n}.1, 203.0.113.7`)));
    expectError(await ask('10.9.9.9, 203.0.113.7'), 503, 'service_unavailable');
    expect((await ask('203.0.113.7, 203.0.113.9')).status).to.equal(200);
  });
  it('are not limited without TRUST_PROXY', async () => {
    await opened();
    await Promise.all(Array.from({ length: IN_FLIGHT_MAX + 1 }, () => hang('203.0.113.7')));
    expect((await ask('203.0.113.7')).status).to.equal(200);
  });
});
