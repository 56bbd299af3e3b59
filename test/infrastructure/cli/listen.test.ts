// `listen` prints the demo account's webhooks, one line each, and forwards them to the merchant's own service.
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { UsageError } from '../../../infrastructure/cli/command.ts';
import { forward, listenCommand, type Received } from '../../../infrastructure/cli/listen.ts';
import { NO_PROGRESS, screenOf } from '../../../infrastructure/cli/output.ts';
import { NOTHING_TO_SAY, openInbox, type Webhook } from '../../../infrastructure/demo/merchant.ts';
import { startedDatabase, TestGateway } from '../../world/gateway.ts';
import type { TestDatabase } from '../../world/postgres.ts';
import { freePort } from '../../world/program.ts';

interface Hit {
  readonly method: string;
  readonly path: string;
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
}

/** The merchant's own service on a real socket. */
class Service {
  readonly hits: Hit[] = [];
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async open(answer: (response: ServerResponse, hit: Hit) => void): Promise<Service> {
    const server = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      const { method = '', url: path = '', rawHeaders } = request;
      const hit = { method, path, rawHeaders, body: Buffer.concat(chunks) };
      service.hits.push(hit);
      answer(response, hit);
    });
    const service = new Service(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return service;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/own/hooks?shop=1`;
  }

  close(): Promise<void> {
    this.#server.closeAllConnections();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }
}

const screen = screenOf({ write: () => undefined }, {});

describe('an inbox', () => {
  it('survives a sender that disconnects in the middle of a webhook', async () => {
    const bodies: string[] = [];
    await using inbox = await openInbox(async ({ rawBody }) => {
      bodies.push(rawBody.toString());
      return NOTHING_TO_SAY;
    });
    const { port, pathname } = new URL(inbox.url);
    const crashes: unknown[] = [];
    const crash = (error: unknown) => void crashes.push(error);
    process.on('unhandledRejection', crash);
    const socket = connect(Number(port), '127.0.0.1');
    await once(socket, 'connect');
    socket.write(`POST ${pathname} HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\nExpect: 100-continue\r\n\r\n`);
    await once(socket, 'data'); // the inbox is reading
    socket.write('abc');
    socket.destroy();
    expect((await fetch(inbox.url, { method: 'POST', body: 'whole' })).status).to.equal(200);
    process.off('unhandledRejection', crash);
    expect([bodies, crashes]).to.deep.equal([['whole'], []]);
  });
});

describe('forwarding a webhook', () => {
  /** All 256 byte values, to detect any conversion to text. */
  const rawBody = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
  const sent: Webhook = {
    method: 'PUT',
    headers: {},
    rawHeaders: [
      ...['Host', 'here:1', 'Connection', 'keep-alive', 'Content-Length', '256', 'Content-Type', 'application/json'],
      ...['X-Acme-Signature', 't=1,v1=ab', 'x-acme-Delivery-Id', 'wd_1', 'Set-Twice', 'a', 'Set-Twice', 'b'],
    ],
    rawBody,
    arrivedAtMs: 0,
  };

  it('keeps method, path, headers and every byte, and returns the response', async () => {
    const service = await Service.open((response) =>
      response.writeHead(429, { 'Retry-After': '7', 'content-type': 'text/plain' }).end('later'),
    );
    const { host } = new URL(service.url);
    for (const times of [1, 2]) {
      const forwarded = await forward(sent, new URL(service.url));
      if (forwarded.kind !== 'answered') throw new Error(forwarded.why);
      const { status, headers, body } = forwarded.answer;
      expect([status, headers['retry-after'], headers['content-type'], String(body)]).to.deep.equal([
        429,
        '7',
        'text/plain',
        'later',
      ]);
      expect(headers).to.not.have.any.keys('connection', 'keep-alive', 'transfer-encoding', 'content-length');
      expect(service.hits).to.have.length(times);
    }
    for (const { method, path, rawHeaders, body } of service.hits) {
      expect([method, path]).to.deep.equal(['PUT', '/own/hooks?shop=1']);
      expect(createHash('sha256').update(body).digest('hex')).to.equal(
        createHash('sha256').update(rawBody).digest('hex'),
      );
      expect(rawHeaders.slice(0, 8)).to.deep.equal(sent.rawHeaders.slice(6, 14));
      expect(rawHeaders).to.include.members(['Host', host, 'Content-Length', '256']);
    }
    await service.close();
  });

  it('reports each kind of failure with its reason and the status for Quita', async () => {
    const nobody = `127.0.0.1:${await freePort()}`;
    const refused = await forward(sent, new URL(`http://${nobody}/x`));
    expect(refused).to.deep.include({ kind: 'failed', why: `nothing listens at ${nobody}`, status: 502 });
    const silent = await Service.open(() => undefined);
    const late = await forward(sent, new URL(silent.url), 50);
    expect(late).to.deep.include({ kind: 'failed', why: 'no response within 0.05 s', status: 504 });
    await silent.close();
    const halfway = await Service.open((response) => {
      response.writeHead(200, { 'content-length': '10' }).write('half');
      response.destroy();
    });
    expect(await forward(sent, new URL(halfway.url))).to.deep.include({ kind: 'failed', status: 502 });
    await halfway.close();
    const endless = await Service.open((response) => response.end(Buffer.alloc(1_048_577)));
    const tooLong = await forward(sent, new URL(endless.url));
    expect(tooLong).to.deep.include({ kind: 'failed', why: 'the response exceeds 1048576 bytes', status: 502 });
    await endless.close();
  });
});

describe('npm run listen', function suite() {
  let database: TestDatabase;
  let gateway: TestGateway;
  let dataDir: string;
  before(async () => {
    database = await startedDatabase();
    gateway = await TestGateway.open({ database });
    dataDir = await mkdtemp(join(tmpdir(), 'quita-listen-'));
    const { testKey: testApiKey, liveKey: liveApiKey } = gateway.tenant;
    const demo = { baseUrl: gateway.baseUrl, email: 'x@example.com', password: 'x', testApiKey, liveApiKey };
    await writeFile(join(dataDir, 'demo.json'), JSON.stringify(demo));
  });
  after(async () => {
    await gateway.close();
    await database.drop();
    await rm(dataDir, { recursive: true });
  });

  /** Runs the command while `work` runs. Returns the printed lines. */
  const listening = async (
    { isJson = false, forwardTo }: { isJson?: boolean; forwardTo?: string },
    work: (until: (matches: (line: string) => boolean, count?: number) => Promise<void>) => Promise<void>,
  ): Promise<readonly string[]> => {
    const printed: string[] = [];
    let wake = Promise.withResolvers<void>();
    const print = (line: string): void => {
      printed.push(line);
      wake.resolve();
    };
    const until = async (matches: (line: string) => boolean, count = 1): Promise<void> => {
      while (printed.filter(matches).length < count) {
        wake = Promise.withResolvers();
        await wake.promise;
      }
    };
    const stop = new AbortController();
    const options = forwardTo === undefined ? {} : { 'forward-to': forwardTo };
    const ended = listenCommand.run(
      { env: { DATA_DIR: dataDir }, signal: stop.signal },
      { args: [], options, isJson },
      { print, warn: () => undefined, screen, progress: NO_PROGRESS },
    );
    await Promise.race([ended, registered()]);
    await work(until);
    stop.abort();
    expect(await ended).to.deep.equal({ json: undefined, text: '' });
    return printed;
  };
  const endpoints = async () => {
    const { body } = await gateway.get<{ data: { id: string; status: string }[] }>('/v1/webhooks/endpoints');
    return body.data.filter(({ status }) => status === 'ACTIVE').map(({ id }) => id);
  };
  const registered = async (): Promise<void> => {
    while ((await endpoints()).length === 0) await new Promise((resolve) => setImmediate(resolve));
  };
  const flush = () => gateway.post('/v1/sandbox/deliveries/flush', {});

  it('prints one line with the time per event, and removes its endpoint at the end', async () => {
    let id = '';
    const printed = await listening({}, async (until) => {
      const { body } = await gateway.charge({ amount: 1_000 });
      id = body['id'] as string;
      await gateway.post(`/v1/sandbox/charges/${id}/pay`, {});
      await until((line) => line.includes('charge.paid'));
      await until((line) => line.includes('payment.completed'));
      await flush();
    });
    expect(printed[0]).to.match(
      /^Listening at http:\/\/127\.0\.0\.1:\d+\/webhooks as we_\w{26}\. Press Ctrl-C to stop\.$/,
    );
    const paid = printed.find((line) => line.includes('charge.paid'));
    expect(paid).to.match(
      new RegExp(
        String.raw`^\d\d:\d\d:\d\d\.\d{3}Z  charge\.paid {16}evt_\w{26}  ${id}   +R\$ 10\.00  signature valid$`,
      ),
    );
    const legacy = printed.find((line) => line.includes('payment.completed'));
    expect(legacy).to.match(new RegExp(String.raw`  wd_\w{26}   tx_${id.slice(3)} .* signature valid$`));
    expect(printed.length).to.equal(6);
    expect(await endpoints()).to.deep.equal([]);
  });

  it('prints one object per line with --json, and forwards each webhook', async () => {
    let first = true;
    const service = await Service.open((response) => {
      response.writeHead(first ? 500 : 200).end();
      first = false;
    });
    let lines: readonly Received[] = [];
    try {
      const printed = await listening({ isJson: true, forwardTo: service.url }, async (until) => {
        await gateway.charge({ amount: 2_500 });
        await until((line) => line.includes('"type":"payment.created"'));
        await until((line) => line.includes('"type":"charge.created"'));
        await gateway.post('/v1/sandbox/clock/advance', { seconds: 300 });
        await until(() => true, 3); // the delivery that was answered with 500 has arrived again
      });
      lines = printed.map((line) => JSON.parse(line) as Received);
    } finally {
      await service.close();
    }
    expect(lines.map(({ signature }) => signature)).to.deep.equal(['valid', 'valid', 'valid']);
    expect(lines.map(({ forwarded }) => forwarded?.status).toSorted()).to.deep.equal([200, 200, 500]);
    const [failed] = lines.filter(({ forwarded }) => forwarded?.status === 500) as [Received];
    const again = lines.filter(({ type }) => type === failed.type);
    expect(again.map(({ eventId, paymentId, deliveryId }) => [eventId, paymentId, deliveryId])).to.deep.equal([
      [failed.eventId, failed.paymentId, failed.deliveryId],
      [failed.eventId, failed.paymentId, failed.deliveryId],
    ]);
    const [made] = lines.filter(({ type }) => type === 'charge.created') as [Received];
    expect([made.amount, made.currency]).to.deep.equal([2_500, 'BRL']);
    expect(service.hits).to.have.length(3);
    for (const { rawHeaders, method } of service.hits)
      expect([method, rawHeaders.map((name) => name.toLowerCase()).includes('x-acme-signature')]).to.deep.equal([
        'POST',
        true,
      ]);
  });

  it('rejects an invalid URL and a deployment without a demo account in one line', async () => {
    const run = (env: Record<string, string>, options: Record<string, string>) =>
      listenCommand
        .run(
          { env, signal: new AbortController().signal },
          { args: [], options, isJson: false },
          { print: () => undefined, warn: () => undefined, screen, progress: NO_PROGRESS },
        )
        .then(() => null)
        .catch((error: unknown) => error as Error);
    for (const text of ['', 'localhost:80', 'ftp://x/', '/hooks']) {
      const error = await run({ DATA_DIR: dataDir }, { 'forward-to': text });
      expect(error, text).to.be.instanceOf(UsageError);
      expect(error?.message).to.equal(
        `--forward-to must be an http or https URL, like http://127.0.0.1:8080/webhooks, not "${text}"`,
      );
    }
    const none = await run({ DATA_DIR: '/nowhere/at/all' }, {});
    expect(none?.message).to.match(/^no demo account in .*demo\.json: run npm start first$/);
  });
});
