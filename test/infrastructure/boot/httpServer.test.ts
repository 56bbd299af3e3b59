// What the listening socket bears (infrastructure/boot/httpServer.ts). Bounds are a hundredth of the program's.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import express from 'express';
import { type HttpServer, listen, SOCKET_BOUNDS, type SocketBounds } from '../../../infrastructure/boot/httpServer.ts';
import { freePort } from '../../support/program.ts';

const SMALL: SocketBounds = {
  headersMs: 300,
  requestMs: 600,
  uploadMs: 1_800,
  silenceMs: 5_000,
  connectionsMax: 3,
  pipelinedMax: 20,
};

/** However it ends: a reset is an end too. */
const closeOf = (socket: Socket): Promise<void> =>
  new Promise((resolve) => {
    socket.once('close', () => resolve());
  });

describe('the listening socket', () => {
  let server: HttpServer | undefined;
  let port: number;
  const sockets: Socket[] = [];
  const serving = async (bounds: SocketBounds) => {
    port = await freePort();
    server = await listen('127.0.0.1', port, 'https://pay.example', bounds);
    const app = express();
    app.get('/', (_req, res) => void res.json({}));
    app.post('/', (req, res) => req.resume().on('end', () => res.json({})));
    server.serve(app);
  };
  const open = (bytes = ''): Socket => {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    if (bytes !== '') socket.write(bytes);
    sockets.push(socket);
    return socket;
  };
  /** What comes until the other side closes, and after how many milliseconds that is. */
  const untilClosed = async (socket: Socket): Promise<{ text: string; afterMs: number }> => {
    const began = performance.now();
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString();
    });
    await closeOf(socket);
    return { text, afterMs: performance.now() - began };
  };
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await server?.stop(100);
    server = undefined;
  });

  it('ends a connection on which more wait for their answers than it may have, and works on none of the rest', async () => {
    port = await freePort();
    server = await listen('127.0.0.1', port, 'https://pay.example', {
      ...SMALL,
      headersMs: 5_000,
      requestMs: 5_000,
      uploadMs: 5_000,
    });
    const app = express();
    let begun = 0;
    const answers: (() => void)[] = [];
    app.get('/', (_req, res) => {
      begun++;
      answers.push(() => void res.json({}));
    });
    server.serve(app);
    const request = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
    const patient = open(request.repeat(20));
    while (begun < 20) await new Promise((resolve) => setImmediate(resolve));
    expect(answers.length).to.equal(20);
    for (const answer of answers.splice(0)) answer();
    await once(patient, 'data');
    // Those that are answered wait no more: the connection may have as many again.
    begun = 0;
    patient.write(request.repeat(20));
    while (begun < 20 && !patient.destroyed) await new Promise((resolve) => setImmediate(resolve));
    expect([begun, patient.destroyed]).to.deep.equal([20, false]);
    begun = 0;
    await untilClosed(open(request.repeat(2_000)));
    expect(begun).to.equal(20);
  });

  it('gives headers ten seconds, a body thirty, an upload fifteen minutes, and bears 10,000 connections with 100 pipelined requests each', () => {
    expect(SOCKET_BOUNDS).to.deep.equal({
      headersMs: 10_000,
      requestMs: 30_000,
      uploadMs: 900_000,
      silenceMs: 75_000,
      connectionsMax: 10_000,
      pipelinedMax: 100,
    });
  });
  for (const [what, bytes] of [
    ['no byte', ''],
    ['a part of the headers', 'GET / HTTP/1.1\r\nHost: x\r\nX-'],
  ] as const)
    it(`ends a connection that sends ${what} in the time for headers, with the interface’s error`, async () => {
      await serving(SMALL);
      const { text, afterMs } = await untilClosed(open(bytes));
      expect(text)
        .to.match(/^HTTP\/1\.1 408 Request Timeout\r\n/)
        .and.match(/\r\nX-Request-Id: req_/);
      expect(text).to.include('"code":"invalid_request","message":"The request did not arrive in time."');
      expect(afterMs).to.be.within(SMALL.headersMs - 50, 30 * SMALL.headersMs);
    });
  it('ends one that drips its headers: each byte gives no new time', async () => {
    await serving(SMALL);
    const socket = open('GET / HTTP/1.1\r\n');
    const drip = () => socket.writable && socket.write('X-A: b\r\n', () => setImmediate(drip));
    drip();
    const { afterMs } = await untilClosed(socket);
    expect(afterMs).to.be.below(20 * SMALL.headersMs);
  });
  it('ends one whose body does not come', async () => {
    await serving(SMALL);
    const { text, afterMs } = await untilClosed(open('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n{'));
    expect(text).to.match(/^HTTP\/1\.1 408 /);
    expect(afterMs).to.be.within(SMALL.requestMs - 50, 15 * SMALL.requestMs);
  });
  it('gives an upload of evidence the time that its URL lives', async () => {
    await serving(SMALL);
    const { text, afterMs } = await untilClosed(
      open('PUT /evidence/x HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n{'),
    );
    expect(text).to.match(/^HTTP\/1\.1 408 /);
    expect(afterMs).to.be.within(SMALL.uploadMs - 50, 10 * SMALL.uploadMs);
  });
  for (const [what, bytes] of [
    ['a request without a Host', 'GET / HTTP/1.1\r\n\r\n'],
    ['a request for a tunnel', 'CONNECT x:443 HTTP/1.1\r\nHost: x\r\n\r\n'],
  ] as const)
    it(`refuses ${what} with the interface’s error`, async () => {
      await serving({ ...SMALL, headersMs: 5_000, requestMs: 5_000, uploadMs: 5_000 });
      const { text } = await untilClosed(open(bytes));
      expect(text)
        .to.match(/^HTTP\/1\.1 400 Bad Request\r\n/)
        .and.match(/\r\nX-Request-Id: req_/);
      expect(text).to.include('"code":"invalid_request","message":"The request is not valid HTTP."');
    });
  it('takes a request of HTTP/1.0 without a Host, and one with an expectation that nobody knows', async () => {
    await serving({ ...SMALL, headersMs: 5_000, requestMs: 5_000, uploadMs: 5_000 });
    const asked = 'GET / HTTP/1.1\r\nHost: x\r\nExpect: tea\r\nConnection: close\r\n\r\n';
    for (const bytes of ['GET / HTTP/1.0\r\n\r\n', asked])
      expect((await untilClosed(open(bytes))).text).to.match(/^HTTP\/1\.1 200 OK\r\n/);
  });
  it('ends one that was refused and does not close its side', async () => {
    await serving(SMALL);
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }).on('error', () => undefined);
    sockets.push(socket);
    socket.write('rubbish\r\n\r\n');
    socket.resume();
    await once(socket, 'end');
    // Only a reset tells a half-open side that the other one is gone: it comes as an answer to bytes.
    const closed = closeOf(socket);
    const poke = () => socket.writable && socket.write('x', () => setImmediate(poke));
    poke();
    await closed;
  });
  it('closes connections beyond its bound, and takes others when they are gone', async () => {
    await serving({ ...SMALL, headersMs: 5_000, requestMs: 5_000, uploadMs: 5_000 });
    const request = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';
    const kept = [open(), open(), open()];
    await Promise.all(kept.map((socket) => once(socket, 'connect')));
    for (let i = 0; i < 2; i++) expect((await untilClosed(open(request))).text).to.equal('');
    kept[0]?.write(request);
    expect(String((await once(kept[0] as Socket, 'data'))[0])).to.match(/^HTTP\/1\.1 200 /);
    kept[1]?.end();
    await closeOf(kept[1]?.resume() as Socket);
    const next = open(request);
    expect(String((await once(next, 'data'))[0])).to.match(/^HTTP\/1\.1 200 /);
  });
  it('ends a connection that is silent while its answer waits to be read', async () => {
    port = await freePort();
    server = await listen('127.0.0.1', port, 'https://pay.example', { ...SMALL, silenceMs: 200 });
    const app = express();
    const gone = new Promise((resolve) => {
      app.get('/', (_req, res) => void res.on('close', resolve).write('x'.repeat(50_000_000)));
    });
    server.serve(app);
    open('GET / HTTP/1.1\r\nHost: x\r\n\r\n').pause();
    await gone;
  });
});
