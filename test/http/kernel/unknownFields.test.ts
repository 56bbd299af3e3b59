// Unknown fields of bodies, on every route of the table (rule I12): ignored where a charge or payment is created, refused elsewhere.
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

/** Paths of the objects that name their fields, the body itself as the first. */
const objectsOf = ({ properties = {} }: JsonSchema, path: readonly string[] = []): (readonly string[])[] => [
  path,
  ...Object.entries(properties).flatMap(([name, part]) =>
    name === 'metadata' || part.properties === undefined ? [] : objectsOf(part, [...path, name]),
  ),
];
/** The body with a field in the object at the path, which is made where it is not there. */
const withField = (body: Fields, [first, ...rest]: readonly string[], field: string): Fields =>
  first === undefined
    ? { ...body, [field]: 1 }
    : { ...body, [first]: withField((body[first] ?? {}) as Fields, rest, field) };

describe('unknown fields of a body', () => {
  let gateway: TestGateway;
  let owner: { readonly authorization: string };
  let operator: typeof owner;
  before(async () => {
    gateway = await openReady();
    [owner, operator] = await Promise.all([gateway.logIn(), gateway.logIn('OPERATOR')]);
  });
  after(() => gateway.close());
  afterEach(() => expect(gateway.faults).to.deep.equal([]));

  /** Of something that never was, where the path names one: a body is judged before that. */
  const send = (route: Route, body: unknown) =>
    gateway.call(route.method, EXAMPLES[route.operationId]?.absent ?? route.path, {
      body,
      idempotencyKey: newKey(),
      ...(isOfSession(route.principal) && { key: null, headers: isOfOperators(route.principal) ? operator : owner }),
    });

  it('are ignored by three routes only', () => {
    const ignoring = ROUTES.filter((route) => bodyOf(route)?.ignoresUnknownFields);
    expect(ignoring.map(({ operationId }) => operationId).sort()).to.deep.equal(CREATING);
  });

  for (const route of ROUTES.filter((one) => one.body.kind === 'json')) {
    const { schema } = bodyOf(route) as NonNullable<ReturnType<typeof bodyOf>>;
    const example = () => ({ ...(EXAMPLES[route.operationId]?.body as Fields | undefined) });
    for (const path of objectsOf(schema)) {
      const at = `${route.method} ${route.path}${path.map((name) => ` ${name}`).join('')}`;
      if (CREATING.includes(route.operationId))
        it(`${at} ignores them`, async () => {
          for (const field of [UNKNOWN, 'constructor', 'page']) {
            const sent = withField(example(), path, field);
            const idempotencyKey = newKey();
            const body = 'idempotencyKey' in sent ? { ...sent, idempotencyKey } : sent;
            const { status, text } = await send(route, body);
            expect(status, text).to.equal(201);
          }
        });
      else
        it(`${at} refuses them by their path`, async () => {
          for (const field of [UNKNOWN, 'constructor', 'toString', 'Mode', '']) {
            const reply = await send(route, withField(example(), path, field));
            const {
              code,
              param,
              details = [],
            } = (reply.body as { error: { code: string; param?: string; details?: [] } }).error;
            const name = [...path, field].join('.');
            expect(reply.status).to.equal(400);
            // Where the object around it was made here, it may lack fields of its own.
            if (paramsOf(details).length > 1) expect(paramsOf(details)).to.include(name);
            else expect([code, param ?? '']).to.deep.equal(['invalid_request', name]);
          }
        });
    }
  }

  for (const route of ROUTES.filter(({ body, method }) => body.kind === 'none' && method !== 'GET'))
    it(`${route.method} ${route.path} takes no body, and ignores what is sent`, async () => {
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

  it('a mode does not issue a live key', async () => {
    const before = await gateway.get<{ data: unknown[] }>('/v1/api-keys', { key: null, headers: owner });
    const reply = await gateway.post('/v1/api-keys', { mode: 'test' }, { key: null, headers: owner });
    expectError(reply, 400, 'invalid_request', 'mode');
    const after = await gateway.get<{ data: unknown[] }>('/v1/api-keys', { key: null, headers: owner });
    expect(after.body.data.length).to.equal(before.body.data.length);
  });
  it('reports several at once, and fifty of thousands', async () => {
    const path = '/v1/webhooks/endpoints';
    const sent = { url: 'https://example.com/hook', events: ['*'] };
    const two = expectError(await gateway.post(path, { ...sent, b: 1, a: 2 }), 400, 'invalid_request');
    expect(paramsOf(two)).to.deep.equal(['b', 'a']);
    const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`f${n}`, 1]));
    const fifty = expectError(await gateway.post(path, { ...sent, ...many }), 400, 'invalid_request');
    expect(paramsOf(fifty)).to.deep.equal(Array.from({ length: 50 }, (_, n) => `f${n}`));
    expect((await gateway.get<{ data: unknown[] }>(path)).body.data).to.deep.equal([]);
  });
  it('a name with forbidden characters is reported once, without them', async () => {
    const raw = '{"url":"https://example.com/hook","events":["*"],"a\\u0000b":1}';
    const headers = { 'content-type': 'application/json' };
    const reply = await gateway.call('POST', '/v1/webhooks/endpoints', { raw, headers });
    expectError(reply, 400, 'invalid_request', 'ab');
  });
  it('a rotation of a secret knows `id` and `endpointId`, which must be those of the path', async () => {
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
