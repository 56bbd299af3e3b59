// Logging in and out (rules D1, D2).

import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { expect } from 'chai';
import { ROLES, type Role, USER } from '../../../../domain/user/user.ts';
import { OPERATIONS } from '../../../../http/kernel/health.ts';
import { route } from '../../../../http/kernel/route.ts';
import type { Reply, TestGateway } from '../../../world/gateway.ts';
import { expectError, openReady } from '../../../world/http.ts';

const empty = { 204: { kind: 'empty', description: 'Let in.' } } as const;
const FOR_MEMBERS = route('GET', '/members', {
  operationId: 'forMembers',
  summary: 'For members of an account',
  tag: OPERATIONS,
  principal: 'session',
  responses: empty,
  errors: [],
  handle: async () => ({ status: 204 }),
});
const FOR_OPERATORS = route('GET', '/operators', {
  operationId: 'forOperators',
  summary: 'For operators of the platform',
  tag: OPERATIONS,
  principal: 'operator',
  responses: empty,
  errors: [],
  handle: async () => ({ status: 204 }),
});

const PASSWORD = 'uma senha de teste';

describe('login', () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await openReady({ moreRoutes: [FOR_MEMBERS, FOR_OPERATORS] });
  });
  after(() => gateway.close());
  afterEach(() => expect(gateway.faults).to.deep.equal([]));

  const logIn = (body: unknown): Promise<Reply<Record<string, unknown>>> =>
    gateway.post('/v1/auth/login', body, { key: null });
  const look = (headers: Record<string, string>, path = '/members') => gateway.get(path, { key: null, headers });

  it('returns a token, the user and the account', async () => {
    const { userId, email, password } = await gateway.addUser('ADMIN');
    const { status, body } = await logIn({ email, password });
    expect(status).to.equal(200);
    const { token, ...rest } = body;
    expect(token).to.match(/^[\w-]+\.[\w-]+\.[\w-]+$/);
    expect(rest).to.deep.equal({
      tokenType: 'Bearer',
      expiresIn: 3600,
      user: { id: `usr_${userId}`, name: 'Ana Souza', email, role: 'ADMIN' },
      account: { id: `acct_${gateway.tenant.accountId}`, name: 'Loja de Teste' },
    });
    expect((await look({ authorization: `Bearer ${token}` })).status).to.equal(204);
  });
  it('returns no account for an operator', async () => {
    const { email, password } = await gateway.addUser('OPERATOR');
    const { status, body } = await logIn({ email, password });
    expect([status, body['account'], (body['user'] as { role: Role }).role]).to.deep.equal([200, null, 'OPERATOR']);
  });
  it('accepts the address in any letter case and the password in any Unicode form', async () => {
    const wish = { email: 'Joao.Caixa@Example.com', password: 'açaí com pão de queijo' };
    await gateway.addUser('MEMBER', wish);
    for (const email of [wish.email, wish.email.toLowerCase(), wish.email.toUpperCase()])
      for (const password of [wish.password, wish.password.normalize('NFD')])
        expect((await logIn({ email, password })).status).to.equal(200);
  });
  it('rejects two Authorization headers, even valid ones: a proxy may have checked the other one', async () => {
    const { email, password } = await gateway.addUser('OWNER');
    const token = (await logIn({ email, password })).body['token'] as string;
    const statusOf = async (...values: readonly string[]): Promise<number | undefined> => {
      const { hostname, port } = new URL(gateway.baseUrl);
      const headers = ['host', hostname, ...values.flatMap((value) => ['authorization', value])];
      const sent = request({ hostname, port, path: '/members', headers }).end();
      const [answer] = (await once(sent, 'response')) as [IncomingMessage];
      answer.resume();
      return answer.statusCode;
    };
    const right = `Bearer ${token}`;
    expect(await statusOf(right)).to.equal(204);
    expect(await statusOf(right, right)).to.equal(401);
    expect(await statusOf(right, 'Bearer x')).to.equal(401);
    expect(await statusOf('Bearer x', right)).to.equal(401);
  });
  it('opens a separate session each time; logging out ends only one', async () => {
    const user = await gateway.addUser();
    const [one, two] = [await gateway.logIn('OWNER', user), await gateway.logIn('OWNER', user)];
    expect(one).to.not.deep.equal(two);
    const out = await gateway.call('POST', '/v1/auth/logout', { key: null, headers: one });
    expect([out.status, out.text]).to.deep.equal([204, '']);
    expectError(await look(one), 401, 'unauthorized');
    expect((await look(two)).status).to.equal(204);
    expectError(await gateway.call('POST', '/v1/auth/logout', { key: null, headers: one }), 401, 'unauthorized');
  });

  describe('returns the same 401', () => {
    const cases: readonly (readonly [string, (email: string) => { email: string; password: string }])[] = [
      ['with a wrong password', (email) => ({ email, password: 'outra senha de teste' })],
      ['with an address that nobody has', (email) => ({ email: `x${email}`, password: PASSWORD })],
      ['with what is no address', () => ({ email: 'nobody', password: PASSWORD })],
      ['with an empty password', (email) => ({ email, password: '' })],
      ['with a letter more', (email) => ({ email, password: `${PASSWORD}x` })],
      ['with a letter less', (email) => ({ email, password: PASSWORD.slice(0, -1) })],
      ['with another case of letters', (email) => ({ email, password: PASSWORD.toUpperCase() })],
      ['with a blank before the address', (email) => ({ email: ` ${email}`, password: PASSWORD })],
    ];
    for (const [name, wish] of cases)
      it(name, async () => {
        const { email } = await gateway.addUser();
        const reply = await logIn(wish(email));
        expectError(reply, 401, 'unauthorized');
        expect((reply.body as { error?: { message: string } }).error?.message).to.equal(
          'The email address or the password is wrong.',
        );
      });
    it('when the user has no password yet', async () => {
      const email = 'convidada@example.com';
      await gateway.addUser('MEMBER', { email, password: null });
      expectError(await logIn({ email, password: PASSWORD }), 401, 'unauthorized');
    });
  });
  it('rejects an invalid body with 400', async () => {
    expectError(await logIn({ email: 'a@example.com' }), 400, 'invalid_request', 'password');
    expectError(await logIn({ email: 1, password: PASSWORD }), 400, 'invalid_request', 'email');
    expectError(
      await logIn({ email: 'a@example.com', password: 'x'.repeat(1_025) }),
      400,
      'invalid_request',
      'password',
    );
  });
  it('writes a failure to the security log, without the address', async () => {
    const { email } = await gateway.addUser();
    const before = gateway.securityEvents.length;
    const headers = { 'x-request-id': 'failing' };
    await gateway.post('/v1/auth/login', { email, password: 'x' }, { key: null, headers });
    expect(gateway.securityEvents.slice(before)).to.deep.equal([
      { security: 'login_failed', network: '127.0.0.0/24', requestId: 'failing' },
    ]);
  });

  describe('opens routes', () => {
    for (const role of ROLES)
      it(`to ${role} of ${role === 'OPERATOR' ? 'the platform, and of no account' : 'its account, and not of the platform'}`, async () => {
        const session = await gateway.logIn(role);
        const [own, other] = role === 'OPERATOR' ? ['/operators', '/members'] : ['/members', '/operators'];
        expect((await look(session, own)).status).to.equal(204);
        expectError(await look(session, other), 403, 'role_required');
      });
  });

  describe('changing the password', () => {
    const NEW = 'outra senha de teste';
    const change = (headers: Record<string, string>, current_password: string, new_password: string) =>
      gateway.call('POST', '/v1/auth/password', { key: null, headers, body: { current_password, new_password } });

    it('replaces the old password and ends every other session', async () => {
      const user = await gateway.addUser();
      const [own, other] = [await gateway.logIn('OWNER', user), await gateway.logIn('OWNER', user)];
      expect((await change(own, PASSWORD, NEW)).status).to.equal(204);
      expect((await look(own)).status).to.equal(204);
      expectError(await look(other), 401, 'unauthorized');
      expectError(await logIn({ email: user.email, password: PASSWORD }), 401, 'unauthorized');
      expect((await logIn({ email: user.email, password: NEW })).status).to.equal(200);
      const { rows } = await gateway.storage.operations.query('SELECT 1 FROM operations.passwords WHERE user_id = $1', [
        user.userId,
      ]);
      expect(rows).to.have.length(1);
    });
    it('keeps the newest password’s hash if the end of an earlier change is late, and removes the others in the end', async () => {
      const user = await gateway.addUser();
      const own = await gateway.logIn('OWNER', user);
      const { passwords } = gateway.gateway.needs;
      const { forgetOlder } = passwords;
      const late: (() => Promise<void>)[] = [];
      const hashes = async () => {
        const sql = 'SELECT count(*)::int AS n FROM operations.passwords WHERE user_id = $1';
        return (await gateway.storage.operations.query<{ n: number }>(sql, [user.userId])).rows[0]?.n;
      };
      const works = async (password: string) => (await logIn({ email: user.email, password })).status === 200;
      passwords.forgetOlder = async (...change) => void late.push(() => forgetOlder(...change));
      try {
        expect((await change(own, PASSWORD, NEW)).status).to.equal(204);
        expect((await change(own, NEW, 'a terceira senha')).status).to.equal(204);
      } finally {
        passwords.forgetOlder = forgetOlder;
      }
      expect(await hashes()).to.equal(3);
      await late[0]?.();
      expect([await hashes(), await works('a terceira senha')]).to.deep.equal([2, true]);
      expect((await change(own, 'a terceira senha', 'a quarta senha de teste')).status).to.equal(204);
      expect(await hashes()).to.equal(1);
      for (const end of late) await end();
      expect([await hashes(), await works('a quarta senha de teste')]).to.deep.equal([1, true]);
    });
    it('ends the other sessions even if the password stays the same', async () => {
      const user = await gateway.addUser();
      const [own, other] = [await gateway.logIn('OWNER', user), await gateway.logIn('OWNER', user)];
      expect((await change(own, PASSWORD, PASSWORD)).status).to.equal(204);
      expectError(await look(other), 401, 'unauthorized');
      expect((await look(own)).status).to.equal(204);
    });
    it('needs the current password and a valid new one', async () => {
      const own = await gateway.logIn();
      expectError(await change(own, NEW, NEW), 400, 'invalid_request', 'current_password');
      expectError(await change(own, PASSWORD, 'short'), 400, 'invalid_request', 'new_password');
      expectError(await change(own, PASSWORD, 'x'.repeat(129)), 400, 'invalid_request', 'new_password');
      expect((await look(own)).status).to.equal(204);
    });
    it('writes neither password nor hash to the event log', async () => {
      const user = await gateway.addUser();
      expect((await change(await gateway.logIn('OWNER', user), PASSWORD, NEW)).status).to.equal(204);
      const texts: string[] = [];
      for await (const event of gateway.storage.store.readStream(USER.stream(user.userId)))
        texts.push(JSON.stringify(event));
      expect(texts).to.have.length(2);
      expect(texts.join()).to.not.match(/senha|argon2/);
    });
  });
});
