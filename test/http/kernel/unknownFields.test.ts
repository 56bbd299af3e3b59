// Unknown fields in bodies on every route (rule I12): ignored when a charge or payment is created, rejected elsewhere.
import { expect } from 'chai';
import { ROUTES } from '../../../http/api/routes.ts';
import { isOfOperators, isOfSession } from '../../../http/kernel/callers.ts';
import type { JsonSchema } from '../../../http/kernel/jsonSchema.ts';
import type { Route } from '../../../http/kernel/route.ts';
import { newKey, type TestGateway } from '../../world/gateway.ts';
import { expectError, openReady, paramsOf } from '../../world/http.ts';
import { bodyOf, EXAMPLES } from '../examples/routeExamples.ts';

const CREATING = ['createCharge', 'createPayment', 'createPixCharge'];
const UNKNOWN = 'colour';

type Fields = Readonly<Record<string, unknown>>;

/** Returns the paths of all objects with declared fields, starting with the body itself. */
const objectsOf = ({ properties = {} }: JsonSchema, path: readonly string[] = []): (readonly string[])[] => [
  path,
  ...Object.entries(properties).flatMap(([name, part]) =>
    name === 'metadata' || part.properties === undefined ? [] : objectsOf(part, [...path, name]),
  ),
];
/** Returns the body with a field added to the object at the path, which is created if missing. */
const withField = (body: Fields, [first, ...rest]: readonly string[], field: string): Fields =>
  first === undefined
    ? { ...body, [field]: 1 }
    : { ...body, [first]: withField((body[first] ?? {}) as Fields, rest, field) };

describe('unknown fields in a body', () => {
  let gateway: TestGateway;
  let owner: { readonly authorization: string };
  let operator: typeof owner;
  before(async () => {
    gateway = await openReady();
    [owner, operator] = await Promise.all([gateway.logIn(), gateway.logIn('OPERATOR')]);
  });
  after(() => gateway.close());
  afterEach(() => expect(gateway.faults).to.deep.equal([]));

  /** Sends the body for a resource that does not exist, because the body is validated before the path’s ids. */
  const send = (route: Route, body: unknown) =>
    gateway.call(route.method, EXAMPLES[route.operationId]?.absent ?? route.path, {
      body,
      idempotencyKey: newKey(),
      ...(isOfSession(route.principal) && { key: null, headers: isOfOperators(route.principal) ? operator : owner }),
    });

  it('are ignored on three routes only', () => {
    const ignoring = ROUTES.filter((route) => bodyOf(route)?.ignoresUnknownFields);
    expect(ignoring.map(({ operationId }) => operationId).sort()).to.deep.equal(CREATING);
  });

  for (const route of ROUTES.filter((one) => one.body.kind === 'json')) {
    const { schema } = bodyOf(route) as NonNullable<ReturnType<typeof bodyOf>>;
    const example = () => ({ ...(EXAMPLES[route.operationId]?.body as Fields | undefined) });
    for (const path of objectsOf(schema)) {
      const at = `${route.method} ${route.path}${path.map((name) => ` ${name}`).join('')}`;
      if (CREATING.includes(route.operationId))
        it(`are ignored: ${at}`, async () => {
          for (const field of [UNKNOWN, 'constructor', 'page']) {
            const sent = withField(example(), path, field);
            const idempotencyKey = newKey();
            const body = 'idempotencyKey' in sent ? { ...sent, idempotencyKey } : sent;
            const { status, text } = await send(route, body);
            expect(status, text).to.equal(201);
          }
        });
      else
        it(`are rejected with their path: ${at}`, async () => {
          for (const field of [UNKNOWN, 'constructor', 'toString', 'Mode', '']) {
            const reply = await send(route, withField(example(), path, field));
            const {
              code,
              param,
              details = [],
            } = (reply.body as { error: { code: string; param?: string; details?: [] } }).error;
            const name = [...path, field].join('.');
            expect(reply.status).to.equal(400);
            // An object created by this test may lack required fields.
            if (paramsOf(details).length > 1) expect(paramsOf(details)).to.include(name);
            else expect([code, param ?? '']).to.deep.equal(['invalid_request', name]);
          }
        });
    }
  }

  for (const route of ROUTES.filter(({ body, method }) => body.kind === 'none' && method !== 'GET'))
    it(`are ignored with the whole body, because the route takes none: ${route.method} ${route.path}`, async () => {
      const path = EXAMPLES[route.operationId]?.absent ?? route.path;
      const headers = isOfSession(route.principal) ? (isOfOperators(route.principal) ? operator : owner) : {};
      const ask = async (raw?: string) => {
        const more = raw === undefined ? {} : { raw };
        const { status } = await gateway.call(route.method, path, {
          headers: { ...headers, ...(raw !== undefined && { 'content-type': 'application/json' }) },
          ...more,
        });
        return status;
      };
      if (route.operationId === 'logOut') owner = await gateway.logIn();
      const bare = route.operationId === 'logOut' ? 204 : await ask();
      for (const raw of ['{"colour":1}', '{"a":1,"a":2}', '{', '"\\u0000"']) {
        if (route.operationId === 'logOut') Object.assign(headers, await gateway.logIn());
        expect(await ask(raw)).to.equal(bare);
      }
    });

  it('such as `mode` don’t issue a live key', async () => {
    const before = await gateway.get<{ data: unknown[] }>('/v1/api-keys', { key: null, headers: owner });
    const reply = await gateway.post('/v1/api-keys', { mode: 'test' }, { key: null, headers: owner });
    expectError(reply, 400, 'invalid_request', 'mode');
    const after = await gateway.get<{ data: unknown[] }>('/v1/api-keys', { key: null, headers: owner });
    expect(after.body.data.length).to.equal(before.body.data.length);
  });
  it('are reported together, up to fifty', async () => {
    const path = '/v1/webhooks/endpoints';
    const sent = { url: 'https://example.com/hook', events: ['*'] };
    const two = expectError(await gateway.post(path, { ...sent, b: 1, a: 2 }), 400, 'invalid_request');
    expect(paramsOf(two)).to.deep.equal(['b', 'a']);
    const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`f${n}`, 1]));
    const fifty = expectError(await gateway.post(path, { ...sent, ...many }), 400, 'invalid_request');
    expect(paramsOf(fifty)).to.deep.equal(Array.from({ length: 50 }, (_, n) => `f${n}`));
    expect((await gateway.get<{ data: unknown[] }>(path)).body.data).to.deep.equal([]);
  });
  it('are reported once and without forbidden characters in their names', async () => {
    const raw = '{"url":"https://example.com/hook","events":["*"],"a\\u0000b":1}';
    const headers = { 'content-type': 'application/json' };
    const reply = await gateway.call('POST', '/v1/webhooks/endpoints', { raw, headers });
    expectError(reply, 400, 'invalid_request', 'ab');
  });
  it('don’t include `id` and `endpointId` of a secret rotation, which must match the path', async () => {
    const made = await gateway.post<{ id: string }>('/v1/webhooks/endpoints', {
      url: 'https://example.com/hook',
      events: ['*'],
    });
    const { id } = made.body;
    const rotate = (body: object) => gateway.post(`/v1/webhooks/endpoints/${id}/rotate-secret`, body);
    for (const body of [{}, { id }, { endpointId: id }, { id, endpointId: id }])
      expect((await rotate(body)).status).to.equal(200);
    for (const other of [`we_${'0'.repeat(26)}`, '', id.toUpperCase()]) {
      expectError(await rotate({ id: other }), 400, 'invalid_request', 'id');
      expectError(await rotate({ endpointId: other }), 400, 'invalid_request', 'endpointId');
    }
    expectError(await rotate({ endpointId: 1 }), 400, 'invalid_request', 'endpointId');
    expectError(await rotate({ endpoint_id: id }), 400, 'invalid_request', 'endpoint_id');
  });
});
