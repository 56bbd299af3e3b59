import { expect } from 'chai';
import { PREFIX } from '../../../domain/kernel/ids.ts';
import { ACCOUNT_ROLES, ROLES, type Role } from '../../../domain/user/user.ts';
import { ROUTES } from '../../../http/api/routes.ts';
import { isOfBrowser, isOfOperators, isOfSession } from '../../../http/kernel/callers.ts';
import type { Route } from '../../../http/kernel/route.ts';
import {
  type CallOptions,
  newKey,
  type Reply,
  type TestGateway,
  type TestTenant,
  type TestUser,
} from '../../world/gateway.ts';
import { type ErrorReply, expectError, openReady } from '../../world/http.ts';
import type { Owned } from '../examples/exampleParts.ts';
import {
  EXAMPLES,
  exampleOf,
  type Made,
  makeKey,
  makeOnce,
  NO_ID,
  OWN_URL,
  sentTo,
} from '../examples/routeExamples.ts';
import { isAnothersParameter } from '../examples/routePieces.ts';

/** Operations that end the caller’s sessions. */
const ENDS_SESSIONS = ['logOut', 'changePassword', 'signOut'];
const KEY_ROLE = 'API_KEY_ROLE_REQUIRED';

/** Expects a page if the route’s 404 is one, else the error body. */
const expectAbsent = (route: Route, reply: Reply<unknown>): void => {
  if (route.responses[404]?.kind === 'page')
    expect([reply.status, reply.text.slice(0, 15)]).to.deep.equal([404, '<!doctype html>']);
  else expectError(reply, 404, 'not_found');
};

describe('every route of the table', () => {
  let gateway: TestGateway;
  let stranger: TestTenant;
  let owned: Owned;
  let made: Made;
  /** Users of the first tenant’s account and of the platform, by role. */
  let people: ReadonlyMap<Role, TestUser>;
  /** Token of the other account’s owner. */
  let strangersToken: { readonly authorization: string };

  const call = (route: Route, path: string, { headers = {}, ...others }: CallOptions = {}) =>
    gateway.call<unknown>(route.method, path, {
      ...sentTo(route, headers),
      ...(Object.hasOwn(route.headers, 'Idempotency-Key') && { idempotencyKey: newKey() }),
      ...others,
    });
  const pathOf = (route: Route) => exampleOf(route).path?.(owned) ?? route.path;

  before(async () => {
    gateway = await openReady({ evidence: { viewSeconds: 86_400 } }); // a link created once serves all tests
    stranger = await gateway.newTenant();
    made = await makeOnce(gateway);
    owned = { ...made, chargeId: '', endpointId: '', keyId: '' };
    await renewNamed();
    const { password } = made.user;
    const users = ROLES.map(async (role) => [role, await gateway.addUser(role, { password })] as const);
    people = new Map(await Promise.all(users));
    strangersToken = await gateway.logIn('OWNER', await gateway.addUser('OWNER', { tenant: stranger }));
  });
  after(() => gateway.close());
  /** By email address. */
  const tokens = new Map<string, { readonly authorization: string }>();
  /** Returns a cached token, or a new one for operations that end sessions. */
  const tokenOf = async ({ operationId }: Route, user: TestUser, role: Role = 'OWNER') => {
    if (ENDS_SESSIONS.includes(operationId)) {
      tokens.clear();
      return gateway.logIn(role, user);
    }
    const token = tokens.get(user.email) ?? (await gateway.logIn(role, user));
    tokens.set(user.email, token);
    return token;
  };
  const personOf = (role: Role): TestUser => people.get(role) as TestUser;
  const makeNamed = {
    chargeId: async () => (await gateway.charge<{ id: string }>()).body.id,
    endpointId: async () => {
      if (owned.endpointId) await gateway.call('DELETE', `/v1/webhooks/endpoints/${owned.endpointId}`);
      const wish = { url: OWN_URL, events: ['charge.failed'] };
      return (await gateway.post<{ id: string }>('/v1/webhooks/endpoints', wish)).body.id;
    },
    keyId: () => makeKey(gateway),
  };
  const NAMES = Object.keys(makeNamed) as (keyof typeof makeNamed)[];
  /** Resources that a request may have changed or removed; the next test that needs them creates new ones. */
  const spent = new Set(NAMES);
  const spend = (path: string): void => {
    for (const name of NAMES) if (path.includes(owned[name].replace(PREFIX.charge, ''))) spent.add(name);
  };
  const renewNamed = async (): Promise<void> => {
    for (const name of spent) owned = { ...owned, [name]: await makeNamed[name]() };
    spent.clear();
  };
  afterEach(() => expect(gateway.faults).to.deep.equal([]));

  it('has an example', () => {
    expect(Object.keys(EXAMPLES).sort()).to.deep.equal(ROUTES.map(({ operationId }) => operationId).sort());
  });

  it('has its own operation id, and its own method and path', () => {
    expect(new Set(ROUTES.map(({ operationId }) => operationId)).size).to.equal(ROUTES.length);
    expect(new Set(ROUTES.map(({ method, path }) => `${method} ${path}`)).size).to.equal(ROUTES.length);
  });

  it('declares the parameters in its path', () => {
    for (const { path, params } of ROUTES)
      expect(Object.keys(params), path).to.deep.equal([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name));
  });

  it('declares 401 and 429 if it needs a key or a token', () => {
    for (const { principal, errors, operationId } of ROUTES)
      if (principal === 'apiKey' || principal === 'testKey' || isOfSession(principal))
        expect(errors, operationId).to.include.members(['unauthorized', 'rate_limited']);
  });

  for (const route of ROUTES) {
    const needsKey = route.principal === 'apiKey' || route.principal === 'testKey';
    const ofSession = isOfSession(route.principal);
    const { fresh } = exampleOf(route);
    const ofOperators = isOfOperators(route.principal);
    /** Returns a token of the role that the route is for. */
    const logIn = () => (ofOperators ? tokenOf(route, personOf('OPERATOR'), 'OPERATOR') : tokenOf(route, owned.user));
    describe(`${route.method} ${route.path}`, () => {
      let isFresh = fresh === undefined;
      /** Creates missing resources for tests that need what the path names. */
      const renew = async (): Promise<void> => {
        await renewNamed();
        if (!isFresh) owned = { ...owned, ...(await fresh?.(gateway)) };
        isFresh = true;
      };
      /** Like `renew`, for tests whose requests may use the resources up. */
      const renewToSpend = async (): Promise<void> => {
        await renew();
        if (route.method === 'GET') return;
        spend(pathOf(route));
        isFresh = fresh === undefined;
      };
      after(() => {
        owned = { ...owned, ...made };
      });

      it('answers its intended caller as declared, with the request id', async () => {
        await renewToSpend();
        const session = ofSession ? await logIn() : {};
        const reply = await call(route, pathOf(route), { headers: { 'x-request-id': 'mine-1', ...session } });
        const declared = Object.keys(route.responses).map(Number);
        // Public routes answer as their example says, which may be a rejection.
        const { refusal } = exampleOf(route);
        if (refusal !== undefined) expect(reply.status, reply.text).to.equal(refusal);
        else if (needsKey || ofSession) expect(declared, reply.text).to.include(reply.status);
        else expect(reply.status, reply.text).to.equal(exampleOf(route).live);
        expect(reply.headers.get('x-request-id')).to.equal('mine-1');
      });

      it('answers a live key as declared', async () => {
        await renew();
        const reply = await call(route, pathOf(route), { key: gateway.tenant.liveKey });
        expect(reply.status).to.equal(exampleOf(route).live);
        if (route.principal === 'testKey') expectError(reply, 403, 'mode_not_allowed');
        const made = reply.body as { id?: string };
        if (reply.status === 201)
          await gateway.call('DELETE', `${route.path}/${made.id}`, { key: gateway.tenant.liveKey });
      });

      if (!needsKey && !ofSession)
        it('needs no key and ignores a wrong one', async () => {
          await renew();
          for (const key of [null, 'nonsense']) {
            const reply = await call(route, pathOf(route), { key });
            expect(reply.status).to.equal(exampleOf(route).live);
          }
        });

      if (needsKey)
        it('returns 401 without a key, with a wrong key, and with one character more or less', async () => {
          const { testKey } = gateway.tenant;
          const wrong = [
            null,
            '',
            'nonsense',
            `ak_test_${'x'.repeat(32)}`,
            `${testKey}x`,
            `${testKey}=`,
            testKey.slice(0, -1),
            testKey.toUpperCase(),
            testKey.replace('ak_test_', 'ak_live_'),
            `Bearer ${testKey}`,
            `${testKey}, ${testKey}`,
          ];
          for (const key of wrong) {
            const reply = await call(route, pathOf(route), { key });
            expectError(reply, 401, 'unauthorized');
          }
          const asBearer = await call(route, pathOf(route), {
            key: null,
            headers: { authorization: `Bearer ${testKey}` },
          });
          expectError(asBearer, 401, 'unauthorized');
        });

      if (ofSession)
        it('returns 401 without a token, with a key instead, and with a malformed token', async () => {
          const { authorization } = await logIn();
          const { testKey, liveKey } = gateway.tenant;
          const wrong = ['', `Bearer ${testKey}`, `Bearer ${liveKey}`, `${authorization}x`, authorization.slice(7)];
          for (const sent of wrong) {
            const reply = await call(route, pathOf(route), { headers: sent === '' ? {} : { authorization: sent } });
            expectError(reply, 401, 'unauthorized');
            expect(reply.headers.get('www-authenticate')).to.equal(isOfBrowser(route.principal) ? null : 'Bearer');
          }
        });

      if (ofSession)
        it('answers each role as declared, and operators only where allowed', async () => {
          await renewToSpend();
          const { roles = ofOperators ? [] : ACCOUNT_ROLES, refusal } = exampleOf(route);
          // A form that can’t be carried out a second time is shown again.
          const isLetIn = (status: number) =>
            refusal === undefined
              ? status < 400 || (status === 422 && (route.body.kind === 'form' || route.body.kind === 'files'))
              : status === refusal;
          for (const role of ACCOUNT_ROLES) {
            if (pathOf(route).includes(owned.keyId)) owned = { ...owned, keyId: await makeKey(gateway) };
            if (route.path.endsWith('/endpoints/{id}/delete'))
              owned = { ...owned, endpointId: await makeNamed.endpointId() };
            const headers = await tokenOf(route, personOf(role), role);
            const reply = await call(route, pathOf(route), { key: null, headers });
            if (roles.includes(role)) expect([role, isLetIn(reply.status)]).to.deep.equal([role, true]);
            else {
              const code = route.errors.includes(KEY_ROLE) ? KEY_ROLE : 'role_required';
              expectError(reply, 403, code);
              // The role is checked before the request’s content.
              const nonsense = await call(route, pathOf(route).replace(owned.keyId, 'none'), {
                key: null,
                headers: { ...headers, 'content-type': 'application/json' },
                ...(route.method !== 'GET' && { raw: '{"label":' }),
              });
              expectError(nonsense, 403, code);
            }
          }
          const headers = await tokenOf(route, personOf('OPERATOR'), 'OPERATOR');
          const reply = await call(route, pathOf(route), { key: null, headers });
          const isOfKeys = route.principal === 'session' && route.errors.includes(KEY_ROLE);
          if (route.principal === 'session' || route.principal === 'member')
            expectError(reply, 403, isOfKeys ? KEY_ROLE : 'role_required');
          else expect(isLetIn(reply.status), reply.text).to.equal(true);
        });
      if (ofOperators && exampleOf(route).absent)
        it('returns 404 for an id that never existed', async () => {
          expectError(
            await call(route, exampleOf(route).absent as string, { key: null, headers: await logIn() }),
            404,
            'not_found',
          );
        });
      if (ofSession && !ofOperators && exampleOf(route).absent)
        it('returns the same 404 for a nonexistent id and for another account’s, which is kept', async () => {
          await renew();
          const headers = { ...strangersToken, 'x-request-id': 'same' };
          const never = await call(route, exampleOf(route).absent as string, { key: null, headers });
          expectError(never, 404, 'not_found');
          const others = await call(route, pathOf(route), { key: null, headers });
          expect([others.status, others.text]).to.deep.equal([404, never.text]);
          const owner = await gateway.logIn('OWNER', owned.user);
          const keys = await gateway.get<{ data: { id: string }[] }>('/v1/api-keys', { key: null, headers: owner });
          expect(keys.body.data.map(({ id }) => id)).to.include(owned.keyId);
        });
      if (needsKey)
        it('returns 401 with a token in place of a key', async () => {
          expectError(await call(route, pathOf(route), { key: null, headers: strangersToken }), 401, 'unauthorized');
          const asKey = await call(route, pathOf(route), { key: strangersToken.authorization.slice('Bearer '.length) });
          expectError(asKey, 401, 'unauthorized');
        });

      it('returns 405 with Allow for other methods', async () => {
        await renew();
        const there = ROUTES.filter(({ path }) => path === route.path).map(({ method }) => method);
        const allow = there.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
        for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].filter(
          (m) => !there.includes(m as 'GET'),
        )) {
          const reply = await gateway.call(method, pathOf(route));
          expectError(reply, 405, 'method_not_allowed');
          expect(reply.headers.get('allow')).to.equal(allow.join(', '));
        }
        const head = await gateway.call('HEAD', pathOf(route));
        const read = ROUTES.find(({ path, method }) => path === route.path && method === 'GET');
        expect(head.status).to.equal(read ? (needsKey ? 200 : exampleOf(read).live) : 405);
        expect(head.text).to.equal('');
      });

      it('returns 404 if the path is spelled with capitals', async () => {
        for (const [at, piece] of route.path.split('/').entries()) {
          if (!/^[\w.-]*[a-z][\w.-]*$/.test(piece)) continue;
          if (isAnothersParameter(route, at)) continue;
          const capital = piece[0]?.toUpperCase() + piece.slice(1);
          for (const [other, key] of [
            [piece.toUpperCase(), null],
            [capital, gateway.tenant.testKey],
          ] as const) {
            const path = pathOf(route).split('/').with(at, other).join('/');
            if (other !== piece) expectError(await gateway.call(route.method, path, { key }), 404, 'not_found');
          }
        }
      });

      const { path, absent } = exampleOf(route);
      if (!needsKey && !ofSession && absent)
        it('returns 404 for an id that never existed', async () => expectAbsent(route, await call(route, absent)));

      if (needsKey && path && absent)
        it('returns the same 404 for a nonexistent id, another account’s and another mode’s', async () => {
          await renewToSpend();
          const id = { 'x-request-id': 'same' };
          const never = await call(route, absent, { headers: id });
          expectError(never, 404, 'not_found');
          const own = pathOf(route);
          const others = [
            await call(route, own, { headers: id, key: stranger.testKey }),
            ...(route.principal === 'testKey'
              ? []
              : [
                  await call(route, own, { headers: id, key: gateway.tenant.liveKey }),
                  await call(route, own, { headers: id, key: stranger.liveKey }),
                ]),
          ];
          for (const reply of others) expect([reply.status, reply.text]).to.deep.equal([404, never.text]);
          // The resource was only hidden: its owner still reaches it.
          expect((await call(route, own)).status).to.be.oneOf(Object.keys(route.responses).map(Number));
        });

      if (absent)
        it('returns 404 for a malformed id', async () => {
          const headers = ofSession ? await logIn() : {};
          const head = absent.slice(0, absent.indexOf(NO_ID)).replace(/(ch|we|rf|key|med|acct|usr)_$/, '');
          const tail = absent.slice(absent.indexOf(NO_ID) + NO_ID.length);
          const rubbish = [
            'x',
            'ch_',
            `ch_${'8'.repeat(26)}`,
            `xx_${NO_ID}`,
            `${NO_ID}0`,
            '%00',
            '%ED%A0%80',
            '..%2f',
            "'--",
            '%F0%9F%92%A9',
          ];
          for (const text of rubbish) {
            const reply = await call(route, `${head}${text}${tail}`, { headers });
            if (text === '%ED%A0%80') expectError(reply, 400, 'invalid_request');
            else expectAbsent(route, reply);
          }
        });
    });
  }

  describe('two tenants', () => {
    it('see nothing of each other in lists', async () => {
      for (const key of [stranger.testKey, stranger.liveKey, gateway.tenant.liveKey]) {
        expect((await gateway.get('/v1/webhooks/endpoints', { key })).body).to.deep.equal({ data: [] });
        expect((await gateway.get('/v1/webhooks/deliveries', { key })).body).to.deep.equal({
          data: [],
          total: 0,
          limit: 25,
          offset: 0,
        });
        expect((await gateway.get('/v1/charges', { key })).body).to.deep.equal({
          object: 'list',
          data: [],
          has_more: false,
          next_cursor: null,
        });
        expect((await gateway.get('/v1/payments', { key })).body).to.deep.equal({
          data: [],
          total: 0,
          page: 1,
          limit: 20,
        });
        expect((await gateway.get('/v1/wallets', { key })).body).to.deep.equal([
          { currency: 'BRL', walletType: 'OPERATIONAL', balance: 0, pendingBalance: 0 },
        ]);
      }
    });
  });

  describe('X-Request-Id', () => {
    const kept = ['a', 'A.b_c-1', '0'.repeat(128), '...', 'req_x'];
    const replaced = ['', '0'.repeat(129), 'a b', 'a/b', 'é', 'a,b', '<x>', "'", 'a:b'];
    for (const id of kept)
      it(`${id.slice(0, 20)} (${id.length}) is echoed`, async () => {
        const reply = await gateway.get(`/v1/charges/x`, { headers: { 'x-request-id': id } });
        expect(reply.headers.get('x-request-id')).to.equal(id);
        expect((reply.body as unknown as ErrorReply).request_id).to.equal(id);
      });
    for (const id of replaced)
      it(`${JSON.stringify(id.slice(0, 20))} (${id.length}) is replaced`, async () => {
        const reply = await gateway.get(`/v1/wallets`, { headers: { 'x-request-id': id } });
        expect(reply.headers.get('x-request-id')).to.match(/^req_[0-9a-hjkmnp-tv-z]{26}$/);
      });
    it('is generated if missing, different each time', async () => {
      const ids = await Promise.all(
        [1, 2, 3].map(async () => (await gateway.get('/nowhere')).headers.get('x-request-id')),
      );
      expect(new Set(ids).size).to.equal(3);
    });
  });

  describe('an unknown path', () => {
    for (const path of [
      '/v1',
      '/v1/',
      '/v1/nothing',
      '/v2/charges',
      '/v1/charges/a/b',
      '/V1%2Fcharges',
      '/v1//charges',
      '/pay',
      '/%2e%2e/etc/passwd',
    ])
      it(`returns 404 with and without a key: ${path}`, async () => {
        for (const key of [null, gateway.tenant.testKey])
          for (const method of ['GET', 'POST', 'PUT'])
            expectError(await gateway.call(method, path, { key }), 404, 'not_found');
      });
    it('returns 400 if it can’t be decoded', async () => {
      expectError(await gateway.get('/v1/charges/%E0%A4%A'), 400, 'invalid_request');
    });
  });
});
