// Limits of the listening socket (infrastructure/server/httpServer.ts). They are much smaller here than in the program.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import express from 'express';
import {
  type HttpServer,
  listen,
  SOCKET_BOUNDS,
  type SocketBounds,
} from '../../../infrastructure/server/httpServer.ts';
import { freePort } from '../../world/program.ts';

const SMALL: SocketBounds = {
  headersMs: 300,
  requestMs: 600,
  uploadMs: 1_800,
  uploadGraceMs: 600,
  uploadBytesPerSecond: 0,
  silenceMs: 5_000,
  connectionsMax: 3,
  connectionsPerAddress: 3,
  pipelinedMax: 20,
};

/** Resolves however the connection ends, also with a reset. */
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
  /** Returns the data received until the other side closes, and the time until then in milliseconds. */
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

  it('closes a connection with too many pipelined requests, and processes none above the limit', async () => {
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
    // Answered requests no longer count: the connection may send as many again.
    begun = 0;
    patient.write(request.repeat(20));
    while (begun < 20 && !patient.destroyed) await new Promise((resolve) => setImmediate(resolve));
    expect([begun, patient.destroyed]).to.deep.equal([20, false]);
    begun = 0;
    await untilClosed(open(request.repeat(2_000)));
    expect(begun).to.equal(20);
  });

  it('closes a connection with too many requests behind a refused one, which waits for an answer', async () => {
    port = await freePort();
    server = await listen('127.0.0.1', port, 'https://pay.example', { ...SMALL, requestMs: 5_000, uploadMs: 5_000 });
    const app = express();
    const answers: (() => void)[] = [];
    app.get('/', (_req, res) => void answers.push(() => void res.json({})));
    server.serve(app);
    const refused = (count: number): Socket =>
      open(`GET / HTTP/1.1\r\nHost: a\r\n\r\n${'GET / HTTP/1.1\r\n\r\n'.repeat(count)}`);
    const few = refused(SMALL.pipelinedMax - 2);
    const fewClosed = untilClosed(few);
    expect((await untilClosed(refused(SMALL.pipelinedMax - 1))).text).to.equal('');
    expect([few.destroyed, answers.length]).to.deep.equal([false, 2]);
    for (const answer of answers) answer();
    expect((await fewClosed).text.match(/HTTP\/1\.1 \d+/g)).to.deep.equal(['HTTP/1.1 200', 'HTTP/1.1 400']);
  });

  it('allows 10 s for headers, 30 s for a body, 15 min for an upload, 10,000 connections, 256 per address, 100 pipelined requests', () => {
    expect(SOCKET_BOUNDS).to.deep.equal({
      headersMs: 10_000,
      requestMs: 30_000,
      uploadMs: 900_000,
      uploadGraceMs: 10_000,
      uploadBytesPerSecond: 10_000,
      silenceMs: 75_000,
      connectionsMax: 10_000,
      connectionsPerAddress: 256,
      pipelinedMax: 100,
    });
  });
  for (const [what, bytes] of [
    ['nothing', ''],
    ['part of the headers', 'GET / HTTP/1.1\r\nHost: x\r\nX-'],
  ] as const)
    it(`closes a connection that sends ${what} within the time for headers, with an API error`, async () => {
      await serving(SMALL);
      const { text, afterMs } = await untilClosed(open(bytes));
      expect(text)
        .to.match(/^HTTP\/1\.1 408 Request Timeout\r\n/)
        .and.match(/\r\nX-Request-Id: req_/);
      expect(text).to.include('"code":"invalid_request","message":"The request did not arrive in time."');
      expect(afterMs).to.be.within(SMALL.headersMs - 50, 30 * SMALL.headersMs);
    });
  it('closes a connection that sends its headers slowly: bytes don’t extend the time limit', async () => {
    await serving(SMALL);
    const socket = open('GET / HTTP/1.1\r\n');
    const drip = () => socket.writable && socket.write('X-A: b\r\n', () => setImmediate(drip));
    drip();
    const { afterMs } = await untilClosed(socket);
    expect(afterMs).to.be.below(20 * SMALL.headersMs);
  });
  it('closes a connection whose body does not arrive', async () => {
    await serving(SMALL);
    const { text, afterMs } = await untilClosed(open('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n{'));
    expect(text).to.match(/^HTTP\/1\.1 408 /);
    expect(afterMs).to.be.within(SMALL.requestMs - 50, 15 * SMALL.requestMs);
  });
  it('closes a connection whose body does not arrive after the response began, without a second response in it', async () => {
    await serving(SMALL);
    const app = express();
    app.post('/', (_req, res) => void res.write('begun'));
    server?.serve(app);
    const { text } = await untilClosed(open('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n{'));
    expect(text)
      .to.match(/^HTTP\/1\.1 200 .*begun/s)
      .and.not.include('408');
  });
  it('gives an evidence upload more time', async () => {
    await serving(SMALL);
    const { text, afterMs } = await untilClosed(
      open('PUT /evidence/x HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n{'),
    );
    expect(text).to.match(/^HTTP\/1\.1 408 /);
    expect(afterMs).to.be.within(SMALL.uploadMs - 50, 10 * SMALL.uploadMs);
  });
  describe('an upload of evidence', () => {
    const RATED: SocketBounds = {
      ...SMALL,
      headersMs: 60_000,
      requestMs: 60_000,
      uploadMs: 60_000,
      uploadBytesPerSecond: 10_000,
    };
    const put = (length: number, path = '/evidence/x') =>
      `PUT ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\n\r\n`;
    /** Reads the upload. With `answersEarly`, it responds without reading. */
    const rated = async (answersEarly = false) => {
      await serving(RATED);
      const app = express();
      app.put('/evidence/x', (req, res) => {
        if (answersEarly) res.status(403).json({});
        else req.resume().on('end', () => res.json({}));
      });
      server?.serve(app);
    };
    it('is closed with upload_too_slow after its grace period if no or too few bytes arrive', async () => {
      for (const bytes of ['', '{']) {
        await rated();
        const { text, afterMs } = await untilClosed(open(put(1_000_000) + bytes));
        expect(text)
          .to.match(/^HTTP\/1\.1 408 Request Timeout\r\n/)
          .and.include('"type":"invalid_request_error","code":"upload_too_slow"')
          .and.match(/\r\nLink: <https:\/\/pay\.example\/docs\/errors#upload_too_slow>/);
        expect(afterMs).to.be.within(RATED.uploadGraceMs - 50, 20 * RATED.uploadGraceMs);
        await server?.stop(0);
      }
    });
    it('is closed as well if a dashboard form sends it', async () => {
      await rated();
      const path = '/dashboard/test/disputes/x/evidence?lang=pt';
      const { text } = await untilClosed(open(`POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n{`));
      expect(text).to.include('"code":"upload_too_slow"');
    });
    it('is closed if it stalls, however much arrived before', async () => {
      await rated();
      const socket = open(put(2_000_000));
      socket.write(Buffer.alloc(1_900_000));
      const { text, afterMs } = await untilClosed(socket);
      expect(text).to.include('"code":"upload_too_slow"');
      expect(afterMs).to.be.within(RATED.uploadGraceMs - 50, 20 * RATED.uploadGraceMs);
    });
    it('is accepted if it is just fast enough, however long it takes', async () => {
      await rated();
      const socket = open(put(60_000));
      // 20 kB per second, for five times the grace period.
      let left = 60_000;
      const sending = setInterval(() => {
        const next = Math.min(left, 2_000);
        left -= next;
        if (next > 0) socket.write(Buffer.alloc(next));
        else clearInterval(sending);
      }, 100);
      const answered = once(socket, 'data');
      expect(String((await answered)[0])).to.match(/^HTTP\/1\.1 200 /);
      expect(left).to.equal(0);
      clearInterval(sending);
    });
    it('that was rejected is not awaited', async () => {
      await rated(true);
      const { text, afterMs } = await untilClosed(open(put(1_000_000)));
      expect(text.match(/HTTP\/1\.1 \d+/g)).to.deep.equal(['HTTP/1.1 403']);
      expect(afterMs).to.be.within(RATED.uploadGraceMs - 50, 20 * RATED.uploadGraceMs);
    });
  });
  const HOSTS = 'The request must have exactly one Host header.';
  const INVALID = 'The request is not valid HTTP.';
  for (const [what, bytes, message] of [
    ['a request without a Host header', 'GET / HTTP/1.1\r\n\r\n', HOSTS],
    ['two Host headers', 'GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n', HOSTS],
    ['the same Host header twice', 'GET / HTTP/1.1\r\nHost: a\r\nX-A: b\r\nhOST: a\r\n\r\n', HOSTS],
    ['two Host headers in HTTP/1.0', 'GET / HTTP/1.0\r\nHost: a\r\nHost: a\r\n\r\n', HOSTS],
    ['two Host headers in a POST', 'POST / HTTP/1.1\r\nHost: a\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}', HOSTS],
    ['a CONNECT request', 'CONNECT x:443 HTTP/1.1\r\nHost: x\r\n\r\n', INVALID],
  ] as const)
    it(`rejects ${what} with an API error`, async () => {
      await serving({ ...SMALL, headersMs: 5_000, requestMs: 5_000, uploadMs: 5_000 });
      const { text } = await untilClosed(open(bytes));
      expect(text)
        .to.match(/^HTTP\/1\.1 400 Bad Request\r\n/)
        .and.match(/\r\nX-Request-Id: req_/);
      expect(text).to.include(`"code":"invalid_request","message":"${message}"`);
      // The public URL uses https, so the header also applies to requests that reach no route.
      expect(text).to.match(/\r\nStrict-Transport-Security: max-age=31536000\r\n/);
    });
  describe('a refused request behind another one on the same connection (RFC 9112, 9.3.2)', () => {
    const CHARGE = 'GET /charge HTTP/1.1\r\nHost: x\r\n\r\n';
    const STREAM = CHARGE.replace('charge', 'stream');
    let charged: number;
    beforeEach(async () => {
      await serving({ ...SMALL, headersMs: 5_000, requestMs: 5_000, uploadMs: 5_000 });
      charged = 0;
      const app = express();
      // By the next turn of the event loop, the server has parsed everything that arrived with the request.
      app.get('/charge', (_req, res) => {
        charged += 1;
        setImmediate(() => res.status(201).json({}));
      });
      app.get('/stream', (_req, res) => {
        res.write('first line');
        setImmediate(() => res.end('last line'));
      });
      app.post('/', (req, res) => req.resume().on('end', () => res.json({})));
      server?.serve(app);
    });
    const statusesOf = (text: string) => text.match(/HTTP\/1\.1 \d+/g)?.map((line) => Number(line.slice(-3)));
    for (const [name, refused] of [
      ['without a Host header', 'GET / HTTP/1.1\r\n\r\n'],
      ['that is not HTTP', 'rubbish\r\n\r\n'],
      ['to open a tunnel', 'CONNECT x:443 HTTP/1.1\r\nHost: x\r\n\r\n'],
      ['with a malformed body', 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nrubbish\r\n'],
    ] as const) {
      it(`${name} is answered after it`, async () => {
        const { text } = await untilClosed(open(CHARGE.repeat(2) + refused));
        expect(statusesOf(text)).to.deep.equal([201, 201, 400]);
      });
      it(`${name} is not answered inside its body`, async () => {
        const { text } = await untilClosed(open(STREAM + refused));
        expect(statusesOf(text)).to.deep.equal([200, 400]);
        expect(text).to.match(/first line.*last line.*HTTP\/1\.1 400/s);
      });
    }
    it('to open a tunnel does not end the program if its client resets the connection', async () => {
      const begun = Promise.withResolvers<{ answer: () => void; closed: Promise<void> }>();
      const app = express();
      app.get('/charge', (req, res) =>
        begun.resolve({ answer: () => void res.write('x'.repeat(5_000_000)), closed: closeOf(req.socket) }),
      );
      server?.serve(app);
      const socket = open(`${CHARGE}CONNECT x:443 HTTP/1.1\r\nHost: x\r\n\r\n`);
      const { answer, closed } = await begun.promise;
      const reset = closeOf(socket);
      socket.resetAndDestroy();
      await reset;
      answer();
      await closed;
    });
    it('is the last one to be processed', async () => {
      const { text } = await untilClosed(open(`${CHARGE}GET / HTTP/1.1\r\n\r\n${CHARGE}`));
      expect([charged, statusesOf(text)]).to.deep.equal([1, [201, 400]]);
    });
    it('is not answered if the connection ends with the answer before it', async () => {
      const last = CHARGE.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n');
      const { text } = await untilClosed(open(`${last}rubbish\r\n\r\n`));
      expect(statusesOf(text)).to.deep.equal([201]);
    });
  });
  it('accepts a request of HTTP/1.0 without a Host, and one with an unknown expectation', async () => {
    await serving({ ...SMALL, headersMs: 5_000, requestMs: 5_000, uploadMs: 5_000 });
    const asked = 'GET / HTTP/1.1\r\nHost: x\r\nExpect: tea\r\nConnection: close\r\n\r\n';
    for (const bytes of ['GET / HTTP/1.0\r\n\r\n', asked])
      expect((await untilClosed(open(bytes))).text).to.match(/^HTTP\/1\.1 200 OK\r\n/);
  });
  it('closes a rejected connection that does not close its side', async () => {
    await serving(SMALL);
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }).on('error', () => undefined);
    sockets.push(socket);
    socket.write('rubbish\r\n\r\n');
    socket.resume();
    await once(socket, 'end');
    // A half-open side notices the other's end only by a reset, which answers its bytes.
    const closed = closeOf(socket);
    const poke = () => socket.writable && socket.write('x', () => setImmediate(poke));
    poke();
    await closed;
  });
  it('closes connections above the limit, and accepts new ones after others have ended', async () => {
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
  describe('the connections of an address', () => {
    const PATIENT = { headersMs: 5_000, requestMs: 5_000, uploadMs: 5_000, silenceMs: 5_000 };
    const REQUEST = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';
    const from = (address: string): Socket => {
      const socket = connect({ port, host: '127.0.0.1', localAddress: address }).on('error', () => undefined);
      sockets.push(socket);
      return socket;
    };
    /** Returns the start of the response, or an empty text if the connection was closed without one. */
    const answer = async (socket: Socket): Promise<string> => {
      socket.write(REQUEST);
      const first = new Promise<string>((resolve) => socket.once('data', (chunk) => resolve(String(chunk))));
      return (await Promise.race([first, closeOf(socket).then(() => '')])).slice(0, 12);
    };
    const serve = async (connectionsPerAddress: number, trustProxy: string | number | false) => {
      port = await freePort();
      const bounds = { ...SOCKET_BOUNDS, ...PATIENT, connectionsPerAddress };
      server = await listen('127.0.0.1', port, 'https://pay.example', bounds);
      const app = express().set('trust proxy', trustProxy);
      app.get('/', (_req, res) => void res.json({}));
      server.serve(app);
    };

    it('are at most 256, independent of other addresses, and a new one is accepted after one ends', async () => {
      await serve(SOCKET_BOUNDS.connectionsPerAddress, false);
      const kept = Array.from({ length: 256 }, () => from('127.0.0.1'));
      expect(await Promise.all(kept.map(answer))).to.deep.equal(Array(256).fill('HTTP/1.1 200'));
      for (let n = 0; n < 3; n++) expect(await answer(from('127.0.0.1'))).to.equal('');
      expect(await answer(from('127.0.0.2'))).to.equal('HTTP/1.1 200');
      kept[0]?.end();
      await closeOf(kept[0] as Socket);
      expect(await answer(from('127.0.0.1'))).to.equal('HTTP/1.1 200');
      expect(await answer(from('127.0.0.1'))).to.equal('');
    });
    it('are unlimited for trusted proxies, and limited for others', async () => {
      for (const trusted of ['127.0.0.2', '127.0.0.2/32, 10.0.0.0/8']) {
        await serve(2, trusted);
        const open = async (address: string) => Promise.all([1, 2, 3, 4].map(() => answer(from(address))));
        const of = async (address: string) => (await open(address)).filter((text) => text !== '').length;
        expect([await of('127.0.0.2'), await of('127.0.0.3')]).to.deep.equal([4, 2]);
        for (const socket of sockets.splice(0)) socket.destroy();
        await server?.stop(100);
      }
    });
    it('are unlimited behind one proxy, whatever its address', async () => {
      await serve(2, 1);
      const all = await Promise.all([1, 2, 3, 4].map(() => answer(from('127.0.0.1'))));
      expect(all).to.deep.equal(Array(4).fill('HTTP/1.1 200'));
    });
  });
  it('closes a connection that is silent while its response waits to be read', async () => {
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
