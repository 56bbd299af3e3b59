// CPU cost of requests (issue 18, point 1): a rejection costs at most 5 ms more than a plain 404, and no turn of the event loop takes more
// than 20 ms. For bodies see validationCost.test.ts, for expressions regularExpressions.test.ts.
import { expect } from 'chai';
import { ROUTES } from '../../../http/api/routes.ts';
import { isOfOperators, isOfSession } from '../../../http/kernel/callers.ts';
import { cpuMsHere, longestTurnOf } from '../../support/longestTurn.ts';
import { newKey, type Reply, type TestGateway } from '../../world/gateway.ts';
import { openReady } from '../../world/http.ts';
import { exampleOf, type Made, makeKey, makeOnce, OWN_URL, sentTo } from '../examples/routeExamples.ts';

const REFUSAL_MS_MAX = 5;
const TURN_MS_MAX = 20;
/** Takes the least of this many measurements, because other work on the machine inflates CPU time. */
const TRIES = 10;
/** CPU time is measured in steps of 4 ms, so this many requests are measured together. */
const REQUESTS = 20;

type Ask = () => Promise<Reply<unknown>>;

const cpuMs = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
};
const times = (text: string, bytes: number): string => text.repeat(Math.floor(bytes / text.length));

describe('the cost of a request', () => {
  let gateway: TestGateway;
  let owner: { readonly authorization: string };
  before(async () => {
    gateway = await openReady({ trustProxy: 'loopback' });
    owner = await gateway.logIn();
  });
  after(() => gateway.close());

  /** Returns the CPU time in ms of one of several requests, including the client’s. */
  const costOf = async (ask: Ask): Promise<{ cost: number; status: number }> => {
    let status = 0;
    const before = cpuMs();
    for (let n = 0; n < REQUESTS; n++) ({ status } = await ask());
    return { cost: (cpuMs() - before) / REQUESTS, status };
  };

  const get =
    (path: string, headers: Record<string, string> = {}): Ask =>
    () =>
      gateway.get(path, { headers });
  const post = (path: string, raw: string, headers: Record<string, string> = {}): Ask => {
    const all = { 'content-type': 'application/json', ...headers };
    return () => gateway.call('POST', path, { raw, idempotencyKey: newKey(), headers: all });
  };
  const fields = (count: number): string => Array.from({ length: count }, (_, n) => `"f${n}":1`).join();
  const KIB = 1_024;

  const REFUSED: { readonly [what: string]: () => Ask } = {
    'a path of beginnings of tokens': () => get(`/v1/charges/${'eyJ'.repeat(5_000)}`),
    'a path of tokens': () => get(`/v1/charges/${times('eyJa.b.c', 15_000)}`),
    'a path of keys': () => get(`/v1/charges/${times('ak_live_', 15_000)}`),
    'a path of slashes': () => get(`/v1${'/'.repeat(15_000)}`),
    'a path of percent signs': () => get(`/v1/charges/${times('%25', 15_000)}`),
    'a path beside the pages': () => get(`/pay/${times('a.', 15_000)}`),
    'unknown parameters': () => get(`/v1/charges?${Array.from({ length: 1_800 }, (_, n) => `p${n}=1`).join('&')}`),
    'a parameter again and again': () => get(`/v1/charges?${times('limit=1&', 15_000)}`),
    'a long key': () => get('/v1/wallets', { apikey: times('ak_test_', 15_000) }),
    'a long token': () => get('/v1/api-keys', { apikey: '', authorization: `Bearer ${times('a.b', 15_000)}` }),
    'a short token': () => get('/v1/api-keys', { apikey: '', authorization: `Bearer ${times('a', 600)}.b.c` }),
    'a thousand trusted proxies': () => get('/nowhere', { 'x-forwarded-for': times('127.0.0.1,', 15_000) }),
    'a thousand addresses': () => get('/v1/wallets', { apikey: 'x', 'x-forwarded-for': times('1.2.3.4,', 15_000) }),
    'a long media type': () => post('/v1/charges', '{}', { 'content-type': `a/${times(';charset=', 15_000)}` }),
    'a long idempotency key': () => post('/v1/charges', '{}', { 'idempotency-key': times('ab', 15_000) }),
    'no JSON': () => post('/v1/charges', times('[{"a":"\\u0000"},', 63 * KIB)),
    'duplicate keys': () => post('/v1/charges', `{${times('"a":1,', 63 * KIB)}"a":1}`),
    'keys that are given twice': () => post('/v1/charges', `{${fields(4_000)},"f1":1}`),
    'unknown fields': () => post('/v1/webhooks/endpoints', `{${fields(6_000)}}`),
    'unknown fields with bad names': () =>
      post('/v1/webhooks/endpoints', `{${fields(4_000).replaceAll('"f', '"\\u0000')}}`),
    'deep metadata': () =>
      post(
        '/v1/charges',
        `{"amount":1,"payment_method":"pix","metadata":${times('{"a":', 40 * KIB)}1${'}'.repeat(8 * KIB)}}`,
      ),
    'many keys of metadata': () =>
      post('/v1/charges', `{"amount":1,"payment_method":"pix","metadata":{${fields(6_000)}}}`),
    'bad strings': () => post('/v1/charges', `{"amount":1,"x":[${times('"\\u0000",', 60 * KIB)}1]}`),
    events: () =>
      post('/v1/webhooks/endpoints', `{"url":"https://a.example","events":[${times('"a",', 60 * KIB)}"a"]}`),
    methods: () =>
      post(
        '/v1/payments',
        `{"amount":1,"idempotencyKey":"12345678","paymentMethods":[${times('"PIX",', 60 * KIB)}"PIX"]}`,
      ),
    'an e-mail address': () =>
      post(
        '/v1/payments',
        `{"amount":1,"idempotencyKey":"12345678","paymentMethods":["PIX"],"customerEmail":"${times('a.', 60 * KIB)}"}`,
      ),
    'a URL': () => post('/v1/webhooks/endpoints', `{"url":"https://${times('a.', 2_000)}","events":["*"]}`),
    'a label': () => post('/v1/api-keys', `{"label":"${times('é', 30 * KIB)}"}`, owner),
    'too large a body': () => post('/v1/charges', times('x', 70 * KIB)),
  };

  for (const [what, make] of Object.entries(REFUSED))
    it(`is at most 5 ms above a plain 404 when rejected: ${what}`, async () => {
      const ask = make();
      const plain = get('/nowhere');
      await ask();
      await plain();
      let above = Number.POSITIVE_INFINITY;
      for (let attempt = 0; attempt < TRIES && above > REFUSAL_MS_MAX; attempt++) {
        const { cost: ofPlain } = await costOf(plain);
        const { cost, status } = await costOf(ask);
        expect(status).to.be.within(400, 499);
        above = Math.min(above, cost - ofPlain);
      }
      if (above > REFUSAL_MS_MAX) expect(above, 'ms of CPU').to.be.below(cpuMsHere(REFUSAL_MS_MAX));
    });

  it('is as low beyond the rate limit', async () => {
    const limited = await openReady({ perMinute: 1 });
    const ask = (path: string) => () => limited.get(path);
    await ask('/v1/wallets')();
    const { cost: ofPlain } = await costOf(ask('/nowhere'));
    const { cost, status } = await costOf(ask(`/v1/charges/${'eyJ'.repeat(5_000)}`));
    expect(status).to.equal(429);
    if (cost - ofPlain > REFUSAL_MS_MAX) expect(cost - ofPlain).to.be.below(cpuMsHere(REFUSAL_MS_MAX));
    await limited.close();
  });

  /** Returns the least of several measurements, because a turn may include other work. */
  const longestOf = async (ask: Ask): Promise<number> => {
    let least = Number.POSITIVE_INFINITY;
    for (let attempt = 0; attempt < TRIES && least > TURN_MS_MAX; attempt++)
      least = Math.min(least, (await longestTurnOf(ask)).longestMs);
    return least;
  };
  const expectShort = (longestMs: number, what: string): void => {
    if (longestMs > TURN_MS_MAX) expect(longestMs, `${what}: ms of CPU in a turn`).to.be.below(cpuMsHere(TURN_MS_MAX));
  };

  it('stays below 20 ms a turn for pages with pumped headers', async () => {
    for (const path of ['/', '/docs', '/openapi.json', '/pay/x'])
      for (const name of ['accept', 'accept-language', 'accept-encoding', 'if-none-match', 'range', 'cookie'])
        for (const unit of ['a/b,', 'a;q=0.1,', '*/*;q=0,', '"a",', ';', ' ', 'W/"a', 'en-US,']) {
          const headers = { [name]: times(unit, 15_000).trim() };
          expectShort(await longestOf(() => gateway.get(path, { key: null, headers })), `${path} ${name} ${unit}`);
        }
  });

  it('stays below 20 ms a turn on every route', async () => {
    const made: Made = await makeOnce(gateway);
    const operator = await gateway.logIn('OPERATOR');
    const charge = await gateway.charge<{ id: string }>();
    const events = ['charge.failed'];
    const endpoint = await gateway.post<{ id: string }>('/v1/webhooks/endpoints', { url: OWN_URL, events });
    const owned = { ...made, chargeId: charge.body.id, endpointId: endpoint.body.id, keyId: await makeKey(gateway) };
    for (const route of ROUTES.filter(({ operationId }) => operationId !== 'logOut' && operationId !== 'signOut')) {
      const { path } = exampleOf(route);
      const session = isOfSession(route.principal) ? (isOfOperators(route.principal) ? operator : owner) : {};
      const ask: Ask = () =>
        gateway.call<unknown>(route.method, path?.(owned) ?? route.path, {
          ...sentTo(route, session),
          idempotencyKey: newKey(),
        });
      expectShort(await longestOf(ask), route.operationId);
    }
  });
});
