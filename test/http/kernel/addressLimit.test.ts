// Rate limits by address for requests without a valid key (rule E8): pages, readiness and invalid keys.
import { expect } from 'chai';
import type express from 'express';
import { addressLimit } from '../../../http/kernel/admission.ts';
import { MinuteWindows } from '../../../http/kernel/minuteWindows.ts';
import { allRoutes } from '../../../infrastructure/boot/app.ts';
import { newKey, type Reply, type TestGateway } from '../../world/gateway.ts';
import { expectError, openReady, rawIdOf } from '../../world/http.ts';

const PER_MINUTE = 5;

describe('rate limit of an address', () => {
  let gateway: TestGateway;
  let raw: string;
  /** A different address for each test, sent as if by a trusted proxy. */
  let from: string;
  let tests = 0;
  before(async () => {
    gateway = await openReady({ addressPerMinute: PER_MINUTE, trustProxy: 1 });
    raw = rawIdOf((await gateway.charge<{ id: string }>()).body.id);
  });
  after(() => gateway.close());
  beforeEach(() => {
    tests += 1;
    from = `203.0.113.${tests}`;
  });
  afterEach(() => expect(gateway.faults).to.deep.equal([]));

  const ask = (path: string, key: string | null = null, address = from, id = 'mine') =>
    gateway.get(path, { key, headers: { 'x-forwarded-for': address, 'x-request-id': id } });
  const expectLimited = (reply: Reply<unknown>) => {
    expectError(reply, 429, 'rate_limited');
    expect(Number(reply.headers.get('retry-after'))).to.be.within(1, 60);
    expect(reply.headers.get('x-request-id')).to.equal('mine');
    expect(reply.headers.get('x-ratelimit-limit-minute')).to.equal(String(PER_MINUTE));
    expect(reply.headers.get('x-ratelimit-remaining-minute')).to.equal('0');
  };
  const wrongKey = () => `ak_test_${newKey().padEnd(32, 'x').slice(0, 32)}`;

  it('answers wrong, malformed and missing keys with 401 up to the limit, then 429, and never rejects a valid key', async () => {
    const wrong = [null, 'nonsense', wrongKey(), '', wrongKey()];
    for (const key of wrong) expectError(await ask('/v1/wallets', key), 401, 'unauthorized');
    for (const key of [...wrong, ...wrong]) expectLimited(await ask('/v1/wallets', key));
    for (const key of [gateway.tenant.testKey, gateway.tenant.liveKey]) {
      const reply = await ask('/v1/wallets', key);
      expect([reply.status, reply.headers.get('retry-after')]).to.deep.equal([200, null]);
    }
    expectLimited(await ask('/v1/charges/none', wrongKey()));
    const charge = await gateway.charge({}, { headers: { 'x-forwarded-for': from } });
    expect(charge.status).to.equal(201);
  });
  it('counts invalid tokens together with invalid keys', async () => {
    const right = await gateway.logIn('VIEWER');
    const look = (authorization: string) =>
      gateway.get('/v1/account', {
        key: null,
        headers: { 'x-forwarded-for': from, 'x-request-id': 'mine', ...(authorization !== '' && { authorization }) },
      });
    for (const token of ['', 'Bearer x', 'Bearer a.b.c', `${right.authorization}x`])
      expectError(await look(token), 401, 'unauthorized');
    expectError(await ask('/v1/wallets', wrongKey()), 401, 'unauthorized');
    expectLimited(await look('Bearer a.b.c'));
    expect((await look(right.authorization)).status).to.equal(200);
  });
  it('doesn’t count requests with a valid key', async () => {
    for (let i = 0; i < 3 * PER_MINUTE; i++)
      expect((await ask('/v1/wallets', gateway.tenant.testKey)).status).to.equal(200);
    expectError(await ask('/v1/wallets'), 401, 'unauthorized');
  });
  it('counts pages, their parts and their assets together, found or not', async () => {
    const paths = [`/pay/${raw}`, `/pay/${raw}/status`, `/pay/${raw}/qr.png`, '/pay/none', '/pay/assets/none'];
    const replies = await Promise.all(paths.map((path) => ask(path)));
    expect(replies.map(({ status }) => status)).to.deep.equal([200, 200, 200, 404, 404]);
    for (const path of [...paths, `/pay/${raw}/events`]) expectLimited(await ask(path));
  });
  it('counts readiness checks separately, so an address that exceeded the key limit can still request them', async () => {
    for (let i = 0; i < PER_MINUTE; i++) {
      const { status, headers } = await ask('/health/ready');
      expect([status, headers.get('x-ratelimit-limit-minute')]).to.deep.equal([200, null]);
    }
    expectLimited(await ask('/health/ready'));
    expectError(await ask('/v1/wallets'), 401, 'unauthorized');
    expect((await ask(`/pay/${raw}`)).status).to.equal(200);
  });
  it('applies to the event catalog, which needs no key', async () => {
    for (let i = 0; i < PER_MINUTE; i++) expect((await ask('/v1/webhooks/event-catalog')).status).to.equal(200);
    expectLimited(await ask('/v1/webhooks/event-catalog'));
  });
  it('is separate for each address, shared within an IPv6 /64, and the same for an IPv4-mapped address', async () => {
    for (let i = 0; i < PER_MINUTE; i++) await ask(`/pay/${raw}`, null, `2001:db8:0:${tests}::${i + 1}`);
    expectLimited(await ask(`/pay/${raw}`, null, `2001:db8:0:${tests}:ffff:ffff:ffff:ffff`));
    expect((await ask(`/pay/${raw}`, null, `2001:db8:0:${tests + 1}::1`)).status).to.equal(200);
    for (let i = 0; i < PER_MINUTE; i++) await ask(`/pay/${raw}`, null, i % 2 === 0 ? from : `::ffff:${from}`);
    expectLimited(await ask(`/pay/${raw}`));
    expectLimited(await ask(`/pay/${raw}`, null, `::ffff:${from}`));
  });
  it('writes one rate_limited security event a minute per address, with the network and never the key', async () => {
    const before = gateway.securityEvents.length;
    const wrong = wrongKey();
    for (let i = 0; i < PER_MINUTE + 3; i++) await ask('/v1/wallets', wrong, from, `try-${i}`);
    const events = gateway.securityEvents.slice(before);
    const network = '203.0.113.0/24';
    const failed = (requestId: string) => ({
      security: 'authentication_failed',
      reason: 'unknown',
      network,
      requestId,
    });
    const [first, ...rest] = [0, 1, 2, 3, 4, 5, 6, 7].map((i) => failed(`try-${i}`));
    const limited = { security: 'rate_limited', of: 'keys', perMinute: PER_MINUTE, network, requestId: 'try-5' };
    expect(events).to.deep.equal([first, ...rest.slice(0, 5), limited, ...rest.slice(5)]);
    expect(JSON.stringify(events)).not.to.include(wrong.slice(8)).and.not.to.include(from);
  });
});

describe('proxy headers', () => {
  const events = async (options: Parameters<typeof openReady>[0], names: readonly string[]) => {
    const gateway = await openReady(options);
    for (const name of ['accept', ...names])
      for (let times = 0; times < 2; times++)
        expect((await gateway.get('/v1/wallets', { headers: { [name]: '203.0.113.9' } })).status).to.equal(200);
    await gateway.close();
    return gateway.securityEvents;
  };
  it('are reported once if no proxy is trusted', async () => {
    for (const name of ['x-forwarded-for', 'forwarded', 'x-real-ip'])
      expect(await events({}, [name, 'x-forwarded-for'])).to.deep.equal([
        { security: 'forwarding_header_untrusted', header: name },
      ]);
  });
  it('are not reported if a proxy is trusted', async () => {
    expect(await events({ trustProxy: 1 }, ['x-forwarded-for', 'forwarded'])).to.deep.equal([]);
  });
});

describe('default rate limit of an address', () => {
  /** Returns whether the limit admits each of `times` requests, all from loopback. */
  const judged = async (times: number, of: 'pages' | 'login' = 'pages') => {
    const limit = addressLimit(new MinuteWindows({ remembered: 100, takeShares: null }));
    const req = { ip: '127.0.0.1', socket: {} } as express.Request;
    const res = { setHeader: () => res } as unknown as express.Response;
    const all: boolean[] = [];
    for (let i = 0; i < times; i++) all.push((await limit(req, res, of)) === null);
    return all;
  };
  it('is 1,200 a minute, also for loopback', async () => {
    const all = await judged(1_202);
    expect([all.indexOf(false), all.at(-1)]).to.deep.equal([1_200, false]);
  });
  it('is 20 a minute for logins', async () => {
    const all = await judged(22, 'login');
    expect([all.indexOf(false), all.at(-1)]).to.deep.equal([20, false]);
  });
  it('counts as logins all requests that try a password or link, or request one', () => {
    const routes = allRoutes({ publicUrl: 'https://pay.quita.example', demoFile: null });
    const operations = routes.filter(({ limit }) => limit === 'login').map(({ operationId }) => operationId);
    expect(operations.sort()).to.deep.equal([
      'askForPassword',
      'logIn',
      'requestPasswordReset',
      'setPassword',
      'signIn',
    ]);
  });
  it('shares login counts across processes from the first request, other counts after a credit of 1/60 of the limit', async () => {
    const asked: unknown[] = [];
    const count: MinuteWindows['count'] = (name, limit) => {
      asked.push([name, limit]);
      return { isIn: true, left: 0 };
    };
    const limit = addressLimit({ count } as MinuteWindows);
    const req = { ip: '127.0.0.1', socket: {} } as express.Request;
    for (const kind of ['login', 'keys', 'pages'] as const) await limit(req, {} as express.Response, kind);
    expect(asked).to.deep.equal([
      ['login 127.0.0.1', { perMinute: 20, credit: 0 }],
      ['keys 127.0.0.1', { perMinute: 1_200, credit: 20 }],
      ['pages 127.0.0.1', { perMinute: 1_200, credit: 20 }],
    ]);
  });
  it('restarts one minute after the first request, not before', async () => {
    let elapsedMs = 1_000;
    const windows = new MinuteWindows({ remembered: 100, takeShares: null, now: () => elapsedMs });
    const limit = addressLimit(windows, { perMinute: 2 });
    const told: string[] = [];
    const req = { ip: '127.0.0.1', socket: {} } as express.Request;
    const res = {
      setHeader: (name: string, value: string) => told.push(`${name} ${value}`),
    } as unknown as express.Response;
    const areIn = async (times: number) => {
      const all: boolean[] = [];
      for (let i = 0; i < times; i++) all.push((await limit(req, res, 'pages')) === null);
      return all;
    };
    expect(await areIn(3)).to.deep.equal([true, true, false]);
    elapsedMs += 59_999;
    expect(await areIn(1)).to.deep.equal([false]);
    elapsedMs += 1;
    expect(await areIn(3)).to.deep.equal([true, true, false]);
    const waits = told.filter((header) => header.startsWith('Retry-After'));
    expect(waits).to.deep.equal(['Retry-After 60', 'Retry-After 1', 'Retry-After 60']);
  });
});

describe('rate limit of an address in memory', () => {
  const res = { setHeader: () => res } as unknown as express.Response;
  const req = (ip: string) => ({ ip, socket: {} }) as express.Request;
  it('forgets the least recently seen addresses, but never an active one', async () => {
    const limit = addressLimit(new MinuteWindows({ remembered: 100, takeShares: null }), { perMinute: 10 });
    const hog = req('198.51.100.1');
    for (let i = 0; i < 10; i++) expect(await limit(hog, res, 'keys')).to.equal(null);
    for (let i = 0; i < 10_000; i++) {
      const other = req(`2001:db8:${(i >> 8).toString(16)}:${(i & 255).toString(16)}::1`);
      expect(await limit(other, res, 'keys')).to.equal(null);
      if (i % 40 === 0) expect(await limit(hog, res, 'keys')).not.to.equal(null);
    }
  });
});
