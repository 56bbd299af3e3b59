import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import type { WebhookSender } from '../../../application/ports/webhookSender.ts';
import { openThreadedSender } from '../../../infrastructure/webhookSender/threadedSender.ts';
import { openWebhookSender } from '../../../infrastructure/webhookSender/webhookSender.ts';
import { closed, openRawReceiver, openReceiver, type Receiver, timeless, webhook } from './receiver.ts';

/** The deadline of attempts that should reach it. */
const DEADLINE_MS = 500;
const SOON = { deadlineMs: DEADLINE_MS };
/** The deadline of the sender, for attempts that are answered at once, however slow the machine is. */
const PATIENT_MS = 20_000;
const OK = { ok: true, statusCode: 200, error: null, responseBody: null, retryAfterMs: null };
const NOTHING = { ok: false, statusCode: null, responseBody: null, retryAfterMs: null };
const failed = (statusCode: number, error: string, responseBody: string | null = null) => ({
  ok: false,
  statusCode,
  error,
  responseBody,
  retryAfterMs: null,
});

const rethrow = (error: Error): never => {
  throw error;
};
const SENDERS = {
  'in this thread': openWebhookSender,
  'in a thread of its own': (options: Parameters<typeof openThreadedSender>[0]) => openThreadedSender(options, rethrow),
};

for (const [where, openSender] of Object.entries(SENDERS))
  describe(`webhook sender over http, ${where}`, () => {
    let sender: WebhookSender;
    let receiver: Receiver;
    const opened: Receiver[] = [];
    const open = async (...args: Parameters<typeof openReceiver>): Promise<Receiver> => {
      receiver = await openReceiver(...args);
      opened.push(receiver);
      return receiver;
    };
    const openRaw = async (...args: Parameters<typeof openRawReceiver>): Promise<Receiver> => {
      receiver = await openRawReceiver(...args);
      opened.push(receiver);
      return receiver;
    };
    const send = async (url = receiver.url, more = {}) => timeless(await sender.send(webhook(url, more)));

    beforeEach(() => {
      sender = openSender({ allowPrivate: true, deadlineMs: PATIENT_MS });
    });
    afterEach(async () => {
      await sender.close();
      for (const each of opened.splice(0)) await each.close();
    });

    it('posts exactly the given bytes and headers', async () => {
      await open((response) => response.end());
      const body = '{"nome":"José \\u0000 😀"}';
      const headers = { 'content-type': 'application/json', 'X-Acme-Signature': 't=1,v1=ab', 'webhook-id': 'evt_1' };
      await sender.send(webhook(`${receiver.url}a/b?c=d%20e#part`, { body, headers }));
      const [request] = receiver.requests;
      expect(request).to.deep.equal({
        method: 'POST',
        path: '/a/b?c=d%20e',
        headers: {
          host: `127.0.0.1:${receiver.port}`,
          connection: 'keep-alive',
          'content-type': 'application/json',
          'x-acme-signature': 't=1,v1=ab',
          'webhook-id': 'evt_1',
          'user-agent': 'Quita-Webhooks/1.0',
          'accept-encoding': 'identity',
          'content-length': String(Buffer.byteLength(body)),
        },
        body,
      });
    });

    it('posts an empty body, and uses the configured user agent', async () => {
      await open((response) => response.end());
      const named = openSender({ allowPrivate: true, userAgent: 'Loja/2' });
      expect(timeless(await named.send(webhook(receiver.url, { body: '' })))).to.deep.equal(OK);
      await named.close();
      expect([
        receiver.requests[0]?.headers['user-agent'],
        receiver.requests[0]?.headers['content-length'],
      ]).to.deep.equal(['Loja/2', '0']);
    });

    it('ends at the attempt’s own deadline if it is shorter, and never after the sender’s', async () => {
      await sender.close();
      sender = openSender({ allowPrivate: true, deadlineMs: DEADLINE_MS });
      await open(() => undefined);
      for (const [deadlineMs, most] of [
        [50, 50],
        [60_000, DEADLINE_MS],
      ] as const)
        expect(timeless(await sender.send(webhook(receiver.url, { deadlineMs })))).to.deep.equal({
          ...NOTHING,
          error: `timeout: no answer within ${most} ms`,
        });
    });

    it('treats every 2xx as delivered, and keeps the body', async () => {
      await open((response, { path }) =>
        response.writeHead(Number(path.slice(1))).end(path === '/204' ? undefined : 'thanks'),
      );
      for (const statusCode of [200, 201, 202, 299]) {
        expect(await send(`${receiver.url}${statusCode}`)).to.deep.equal({ ...OK, statusCode, responseBody: 'thanks' });
      }
      expect(await send(`${receiver.url}204`)).to.deep.equal({ ...OK, statusCode: 204 });
    });

    it('treats every other status as failed, and keeps the body', async () => {
      await open((response, { path }) => response.writeHead(Number(path.slice(1))).end('no'));
      for (const statusCode of [400, 401, 404, 410, 500, 502, 503, 599]) {
        expect(await send(`${receiver.url}${statusCode}`)).to.deep.equal(
          failed(statusCode, `status: ${statusCode}`, 'no'),
        );
      }
    });

    it('does not follow a redirect', async () => {
      const other = await open((response) => response.end('here'));
      const target = other.url;
      await open((response, { path }) => response.writeHead(Number(path.slice(1)), { location: target }).end());
      for (const statusCode of [301, 302, 303, 307, 308]) {
        expect(await send(`${receiver.url}${statusCode}`)).to.deep.equal(
          failed(statusCode, `redirect: ${statusCode} to ${target}`),
        );
      }
      expect(other.requests).to.deep.equal([]);
    });

    it('treats a 3xx without a location as a redirect too, and truncates a long location', async () => {
      await open((response, { path }) =>
        response
          .writeHead(path === '/304' ? 304 : 302, path === '/304' ? {} : { location: `/${'a'.repeat(900)}` })
          .end(),
      );
      expect(await send(`${receiver.url}304`)).to.deep.equal(failed(304, 'redirect: 304'));
      const { error } = await send(receiver.url);
      expect(error).to.equal(`redirect: 302 to /${'a'.repeat(300 - 'redirect: 302 to /'.length)}`);
    });

    it('reads Retry-After of a 429 in seconds and of a 503 as a date, and ignores it otherwise', async () => {
      const inTwoHours = new Date(Date.now() + 7_200_000).toUTCString();
      await open((response, { path }) =>
        response.writeHead(Number(path.slice(1)), { 'retry-after': path === '/503' ? inTwoHours : '120' }).end(),
      );
      expect(await send(`${receiver.url}429`)).to.deep.equal({ ...failed(429, 'status: 429'), retryAfterMs: 120_000 });
      const { retryAfterMs, ...rest } = await send(`${receiver.url}503`);
      expect({ ...rest, retryAfterMs: null }).to.deep.equal(failed(503, 'status: 503'));
      expect(retryAfterMs).to.be.within(7_100_000, 7_200_000);
      expect(await send(`${receiver.url}500`)).to.deep.equal(failed(500, 'status: 500'));
    });

    it('ends at the deadline if no status arrives, and closes the socket', async () => {
      await open(() => {});
      const outcome = await sender.send(webhook(receiver.url, SOON));
      expect(timeless(outcome)).to.deep.equal({ ...NOTHING, error: 'timeout: no answer within 500 ms' });
      expect(outcome.durationMs).to.be.within(DEADLINE_MS - 5, DEADLINE_MS + 8_000);
      await closed(receiver.sockets[0]!);
    });

    it('ends at the deadline if headers arrive slowly', async () => {
      await openRaw((socket) => {
        socket.write('HTTP/1.1 200 OK\r\nx-a: ');
        const drip = setInterval(() => socket.write('a'), 10);
        socket.on('close', () => clearInterval(drip));
      });
      expect(await send(receiver.url, SOON)).to.deep.equal({ ...NOTHING, error: 'timeout: no answer within 500 ms' });
      await closed(receiver.sockets[0]!);
    });

    it('ends at the deadline if the body arrives slowly, and keeps the status and the received part', async () => {
      await openRaw((socket) => {
        socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9000\r\n\r\nslow');
        const drip = setInterval(() => socket.write('.'), 10);
        socket.on('close', () => clearInterval(drip));
      });
      const { responseBody, ...rest } = await send(receiver.url, SOON);
      expect(rest).to.deep.equal({
        ok: false,
        statusCode: 200,
        error: 'timeout: answer not complete within 500 ms',
        retryAfterMs: null,
      });
      expect(responseBody).to.match(/^slow\.+$/);
      await closed(receiver.sockets[0]!);
    });

    it('reports the status, not the deadline, if the body of a failure arrives slowly', async () => {
      await openRaw((socket) => socket.write('HTTP/1.1 503 No\r\nretry-after: 60\r\ncontent-length: 9\r\n\r\nslow'));
      expect(await send(receiver.url, SOON)).to.deep.equal({
        ...failed(503, 'status: 503', 'slow'),
        retryAfterMs: 60_000,
      });
    });

    it('delivers despite a body above 16 KiB, keeps 4 KiB of it, and closes the socket', async () => {
      await openRaw((socket) => {
        socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
        const flood = () => {
          while (!socket.destroyed && socket.write(`1000\r\n${'a'.repeat(4_096)}\r\n`));
        };
        socket.on('drain', flood);
        flood();
      });
      expect(await send()).to.deep.equal({ ...OK, responseBody: 'a'.repeat(4_096) });
      await closed(receiver.sockets[0]!);
    });

    it('keeps the connection after a body of exactly 16 KiB', async () => {
      await open((response) => response.end('b'.repeat(16_384)));
      expect(await send()).to.deep.equal({ ...OK, responseBody: 'b'.repeat(4_096) });
      expect(await send()).to.deep.equal({ ...OK, responseBody: 'b'.repeat(4_096) });
      expect(receiver.sockets.length).to.equal(1);
    });

    it('delivers despite an endless gzip bomb, and keeps only 4 KiB', async () => {
      const bomb = gzipSync(Buffer.alloc(10_000_000, 'z'));
      await open((response) => {
        response.writeHead(200, { 'content-encoding': 'gzip', 'content-length': bomb.length + 1 });
        response.write(bomb);
      });
      expect(await send()).to.deep.equal({ ...OK, responseBody: 'z'.repeat(4_096) });
      await closed(receiver.sockets[0]!);
    });

    it('decodes a compressed response although it did not ask for one', async () => {
      await open((response) => response.writeHead(422, { 'content-encoding': 'gzip' }).end(gzipSync('não processado')));
      expect(await send()).to.deep.equal(failed(422, 'status: 422', 'não processado'));
      expect(await send()).to.deep.equal(failed(422, 'status: 422', 'não processado'));
    });

    it('replaces NUL and broken UTF-8', async () => {
      await open((response) => response.end(Buffer.from([0x61, 0x00, 0xff, 0x62])));
      expect(await send()).to.deep.equal({ ...OK, responseBody: 'a\uFFFD\uFFFDb' });
    });

    it('fails if the connection is cut in the body, and keeps the status and the received part', async () => {
      await openRaw((socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf'));
      const { error, ...rest } = await send();
      expect(rest).to.deep.equal({ ok: false, statusCode: 200, responseBody: 'half', retryAfterMs: null });
      expect(error).to.match(/^connection: /);
    });

    it('delivers if the end of the connection ends the body', async () => {
      await openRaw((socket) => socket.end('HTTP/1.0 200 OK\r\n\r\nwhole'));
      expect(await send()).to.deep.equal({ ...OK, responseBody: 'whole' });
    });

    it('fails if the connection is cut before a status, or the response is not HTTP', async () => {
      await openRaw((socket) => socket.end());
      expect(await send()).to.deep.equal({ ...NOTHING, error: 'connection: other side closed' });
      await openRaw((socket) => socket.end('SSH-2.0-OpenSSH_9.6\r\n'));
      const { error, ...rest } = await send();
      expect({ ...rest, error: null }).to.deep.equal({ ...NOTHING, error: null });
      expect(error).to.match(/^connection: [^\n]+$/);
    });

    it('ignores an interim response', async () => {
      await openRaw((socket) =>
        socket.write(
          'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 201 Created\r\ncontent-length: 2\r\n\r\nok',
        ),
      );
      expect(await send()).to.deep.equal({ ...OK, statusCode: 201, responseBody: 'ok' });
    });

    it('has no status if only an interim response arrives', async () => {
      await openRaw((socket) => socket.write('HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'));
      expect(await send(receiver.url, SOON)).to.deep.equal({ ...NOTHING, error: 'timeout: no answer within 500 ms' });
    });

    it('rejects an upgrade', async () => {
      await openRaw((socket) =>
        socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'),
      );
      expect(await send()).to.deep.equal({ ...NOTHING, error: 'connection: bad upgrade' });
    });

    it('fails if no server listens', async () => {
      const { port } = await open(() => {});
      // At an address whose ports no test uses, because a port that was just released may be in use again.
      for (let twice = 0; twice < 2; twice++)
        expect(await send(`http://127.0.0.2:${port}/`)).to.deep.equal({
          ...NOTHING,
          error: 'connection: connect ECONNREFUSED',
        });
    });

    it('fails without throwing for a header that can’t be sent', async () => {
      await open((response) => response.end());
      const bad = await sender.send(webhook(receiver.url, { headers: { 'x-name': 'a\r\nb: c' } }));
      expect(timeless(bad)).to.deep.equal({ ...NOTHING, error: 'connection: invalid x-name header' });
      expect(receiver.requests).to.deep.equal([]);
      expect(await send()).to.deep.equal(OK);
    });

    it('reuses a connection', async () => {
      await open((response) => response.end('ok'));
      for (let i = 0; i < 5; i++) expect(await send()).to.deep.equal({ ...OK, responseBody: 'ok' });
      expect([receiver.requests.length, receiver.sockets.length]).to.deep.equal([5, 1]);
    });

    it('opens a new connection after the receiver closed the old one', async () => {
      await open((response) => response.setHeader('connection', 'close').end('ok'));
      for (let i = 0; i < 3; i++) expect(await send()).to.deep.equal({ ...OK, responseBody: 'ok' });
      expect(receiver.sockets.length).to.equal(3);
    });

    it('limits the connections per origin, and starts the deadline of an attempt when it gets one', async () => {
      await sender.close();
      sender = openSender({ allowPrivate: true, deadlineMs: PATIENT_MS, connections: 1 });
      await open((response, { path }) => {
        if (path === '/answered') response.end('ok');
      });
      const silent = [send(`${receiver.url}silent`, SOON), send(`${receiver.url}silent`, SOON)];
      const answered = send(`${receiver.url}answered`);
      expect(await Promise.all(silent)).to.deep.equal(
        [0, 1].map(() => ({ ...NOTHING, error: 'timeout: no answer within 500 ms' })),
      );
      expect(await answered).to.deep.equal({ ...OK, responseBody: 'ok' });
      expect(receiver.requests.map(({ path }) => path)).to.deep.equal(['/silent', '/silent', '/answered']);
    });

    it('runs at most 16 attempts at once per origin', async () => {
      await open((response, { path }) => {
        if (path === '/answered') response.end('ok');
      });
      let over = 0;
      const silent = Array.from({ length: 16 }, () => send(`${receiver.url}silent`, SOON).finally(() => over++));
      expect(await send(`${receiver.url}answered`)).to.deep.equal({ ...OK, responseBody: 'ok' });
      expect(over).to.be.above(0);
      await Promise.all(silent);
      expect(receiver.requests.length).to.equal(17);
    });

    it('lets pending attempts of one account at a silent host delay no other account', async () => {
      await sender.close();
      sender = openSender({ allowPrivate: true, deadlineMs: PATIENT_MS, connections: 1 });
      await open((response, { path }) => {
        if (path === '/answered') response.end('ok');
      });
      let over = 0;
      const silent = [1, 2, 3].map(() => send(`${receiver.url}silent`, { account: 'other' }).finally(() => over++));
      expect(await send(`${receiver.url}answered`)).to.deep.equal({ ...OK, responseBody: 'ok' });
      expect(over).to.equal(0);
      await sender.close();
      await Promise.all(silent);
    });

    it('lets pending deliveries to a silent endpoint delay no ping', async () => {
      await sender.close();
      sender = openSender({ allowPrivate: true, deadlineMs: PATIENT_MS, connections: 1 });
      await open((response, { path }) => {
        if (path === '/answered') response.end('ok');
      });
      let over = 0;
      const silent = [1, 2, 3].map(() => send(`${receiver.url}silent`).finally(() => over++));
      expect(await send(`${receiver.url}answered`, { isPing: true })).to.deep.equal({ ...OK, responseBody: 'ok' });
      expect(over).to.equal(0);
      await sender.close();
      await Promise.all(silent);
    });

    it('ends attempts in flight when it is closed, and rejects later ones', async () => {
      let arrived = () => {};
      const arrival = new Promise<void>((resolve) => {
        arrived = resolve;
      });
      await open(() => arrived());
      const inFlight = send();
      await arrival;
      await Promise.all([sender.close(), sender.close()]);
      const { error, ...rest } = await inFlight;
      expect({ ...rest, error: null }).to.deep.equal({ ...NOTHING, error: null });
      expect(error).to.match(/^connection: /);
      await closed(receiver.sockets[0]!);
      expect(await send()).to.deep.equal({ ...NOTHING, error: 'connection: the sender is closed' });
    });

    it('closes idle connections when it is closed', async () => {
      await open((response) => response.end('ok'));
      await send();
      await sender.close();
      await closed(receiver.sockets[0]!);
    });
  });
