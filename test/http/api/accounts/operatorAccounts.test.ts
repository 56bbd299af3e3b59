// What platform operators can do with accounts, keys and users over HTTP, as on the command line (rules D2, O1).

import { expect } from 'chai';
import type { EventMetadata } from '../../../../application/ports/loggedEvent.ts';
import { ACCOUNT } from '../../../../domain/account/account.ts';
import type { AccountId, StreamName, UserId } from '../../../../domain/kernel/ids.ts';
import { KEYRING } from '../../../../domain/keyring/keyring.ts';
import { USER } from '../../../../domain/user/user.ts';
import { jpegImage } from '../../../support/images.ts';
import type { Reply, TestGateway, TestTenant, TestUser } from '../../../world/gateway.ts';
import { eventTypes, expectError, openReady, rawIdOf } from '../../../world/http.ts';

type Body = Record<string, unknown>;
interface Created {
  readonly id: string;
  readonly userId: string;
  readonly password: string;
  readonly testApiKey: string;
  readonly liveApiKey: string;
}
/** Metadata as stored in the log. */
type Stored = Pick<EventMetadata, 'actor' | 'account'> & { readonly $causationId?: string };
interface Page {
  readonly data: readonly (Body & { readonly id: string })[];
  readonly hasMore: boolean;
  readonly nextCursor: string | null;
}

describe('operators of the platform', () => {
  let gateway: TestGateway;
  let olga: TestUser;
  let headers: { readonly authorization: string };
  let tenant: TestTenant;
  let account: string;
  before(async () => {
    gateway = await openReady({ perMinute: 1_000 });
    olga = await gateway.addUser('OPERATOR', { email: 'olga@example.com' });
    headers = await gateway.logIn('OPERATOR', olga);
  });
  after(() => gateway.close());
  beforeEach(async () => {
    tenant = await gateway.newTenant();
    account = `/ops/v1/accounts/acct_${tenant.accountId}`;
  });
  afterEach(() => expect(gateway.faults).to.deep.equal([]));

  const ask = <T = Body>(method: string, path: string, body?: unknown): Promise<Reply<T>> =>
    gateway.call<T>(method, path, { key: null, headers, ...(body !== undefined && { body }) });
  const good = async <T = Body>(asked: Promise<Reply<T>>, status = 200): Promise<T> => {
    const reply = await asked;
    expect(reply.status, reply.text).to.equal(status);
    return reply.body;
  };
  const create = (email: string, more: Body = {}) =>
    ask<Created>('POST', '/ops/v1/accounts', { name: 'Loja Nova', email, ...more });
  const wallets = async (key: string) => (await gateway.get('/v1/wallets', { key })).status;
  const logIn = (email: string, password: string) =>
    gateway.post<Body & { token: string; user: Body }>('/v1/auth/login', { email, password }, { key: null });
  const metadataOf = async (stream: StreamName): Promise<readonly Stored[]> => {
    const all: Stored[] = [];
    for await (const { metadata } of gateway.storage.store.readStream(stream)) all.push(JSON.parse(metadata));
    return all;
  };

  it('open an account whose owner can log in and whose keys work at once', async () => {
    const made = await good(create('bia@example.com'), 201);
    expect(made).to.include({ name: 'Loja Nova', email: 'bia@example.com' });
    expect(made.password).to.match(/^[\w-]{24}$/);
    expect([await wallets(made.testApiKey), await wallets(made.liveApiKey)]).to.deep.equal([200, 200]);
    const { user, account: of } = await good<Body>(logIn('bia@example.com', made.password));
    expect([user, of]).to.deep.equal([
      { id: made.userId, name: 'Loja Nova', email: 'bia@example.com', role: 'OWNER' },
      { id: made.id, name: 'Loja Nova' },
    ]);
    // The log names the operator.
    const by = { actor: `user:usr_${olga.userId}` };
    for (const stream of [
      ACCOUNT.stream(rawIdOf(made.id) as AccountId),
      KEYRING.stream(rawIdOf(made.id) as AccountId),
      USER.stream(rawIdOf(made.userId) as UserId),
    ])
      for (const metadata of await metadataOf(stream)) expect(metadata).to.include(by);
  });
  it('open no account from invalid input, or twice for one address', async () => {
    expectError(await create('not an address'), 400, 'invalid_request', 'email');
    expectError(await create('carla@example.com', { name: '' }), 400, 'invalid_request', 'name');
    expectError(await create('carla@example.com', { name: 'two\nlines' }), 400, 'invalid_request', 'name');
    expectError(await create('carla@example.com', { password: 'short' }), 400, 'invalid_request', 'password');
    const twice = await Promise.all([create('carla@example.com'), create('CARLA@example.com')]);
    expect(twice.map(({ status }) => status).sort()).to.deep.equal([201, 400]);
    expectError(await create('carla@example.com', { name: 'Outra' }), 400, 'invalid_request', 'email');
    await gateway.untilProjected('accounts');
    const { rows } = await gateway.storage.reads.query(
      "SELECT 1 FROM rm_accounts.accounts WHERE email ILIKE 'carla@%'",
    );
    expect(rows).to.have.length(1);
  });
  it('list accounts by page, in order of opening', async () => {
    const all = await good<Page>(ask('GET', '/ops/v1/accounts?limit=100'));
    expect(all.data.at(-1)).to.include({ id: `acct_${tenant.accountId}`, name: 'Loja de Teste' });
    const seen: string[] = [];
    for (let cursor = ''; ; ) {
      const page = await good<Page>(ask('GET', `/ops/v1/accounts?limit=2${cursor}`));
      seen.push(...page.data.map(({ id }) => id));
      expect(page.hasMore).to.equal(page.nextCursor !== null);
      if (page.nextCursor === null) break;
      expect(page.nextCursor).to.equal(seen.at(-1));
      cursor = `&startingAfter=${page.nextCursor}`;
    }
    expect(seen).to.deep.equal(all.data.map(({ id }) => id));
    const nobody = `acct_${'0'.repeat(26)}`;
    expectError(await ask('GET', `/ops/v1/accounts?startingAfter=${nobody}`), 400, 'invalid_cursor', 'startingAfter');
    expectError(await ask('GET', '/ops/v1/accounts?page=2'), 400, 'invalid_filter', 'page');
  });
  it('suspend and reopen an account, idempotently', async () => {
    const member = await gateway.addUser('MEMBER', { tenant });
    const session = await gateway.logIn('MEMBER', member);
    const isIn = async () => (await gateway.get('/v1/account', { key: null, headers: session })).status;
    const { suspendedAt } = await good(ask('POST', `${account}/suspend`));
    expect(suspendedAt).to.match(/^\d{4}-/);
    expect([await wallets(tenant.testKey), await isIn()]).to.deep.equal([401, 401]);
    const suspended = { id: `acct_${tenant.accountId}`, suspendedAt };
    expect(await good(ask('POST', `${account}/suspend`))).to.deep.equal(suspended);
    expect(await good(ask('GET', account))).to.include(suspended);
    const listed = async () =>
      (await good<Page>(ask('GET', '/ops/v1/accounts?limit=100'))).data.find(({ id }) => id === suspended.id);
    expect(await listed()).to.include(suspended);
    for (let n = 0; n < 2; n++)
      expect(await good(ask('POST', `${account}/reopen`))).to.deep.equal({ ...suspended, suspendedAt: null });
    expect(await listed()).to.include({ ...suspended, suspendedAt: null });
    expect([await wallets(tenant.testKey), await isIn()]).to.deep.equal([200, 401]);
    const types = await eventTypes(gateway, ACCOUNT.stream(tenant.accountId));
    expect(types).to.deep.equal(['AccountOpened', 'AccountSuspended', 'AccountReopened']);
  });
  it('change every setting separately and keep omitted ones', async () => {
    const before = (await good<{ settings: Body }>(ask('GET', account))).settings;
    const changes: readonly (readonly [Body, Body?])[] = [
      [{ fees: { PIX: { platform: { percentBps: 80, fixed: 1 } } } }],
      [{ holdDays: { BOLETO: 9 } }],
      [{ chargeWindowSeconds: 600 }],
      [{ merchantName: 'Livraria' }],
      [{ taxId: '11.222.333/0001-81' }, { taxId: '11222333000181' }],
      [{ taxId: null }],
      [{ receiverName: 'LIVRARIA' }],
      [{ receiverCity: 'RECIFE' }],
      [{ color: '#123456' }],
      [{ velocity: { customerPerHour: 3 } }],
      [{ velocity: { accountPerHour: 4 } }],
      [{ refundVelocity: { countPerHour: 5 } }],
      [{ refundVelocity: { sumPerHour: 6 } }],
      [{ refundVelocity: { sumPerHour: null } }],
      [{ payoutCount: 7 }],
      [{ payoutSum: 8 }],
      [{ payoutApprovalAbove: 9 }],
      [{ payoutApprovalAbove: null }],
      [{ disputeNotifications: false }],
      [{ rateLimitPerMinute: 77 }],
      [{ cashoutDestinations: ['99991111140', '99991111140'] }, { cashoutDestinations: ['99991111140'] }],
    ];
    const merged = (a: unknown, b: unknown): unknown =>
      typeof a !== 'object' || typeof b !== 'object' || a === null || b === null || Array.isArray(b)
        ? b
        : { ...a, ...Object.fromEntries(Object.entries(b).map(([k, v]) => [k, merged(a[k as keyof typeof a], v)])) };
    let expected: unknown = before;
    for (const [sent, kept = sent] of changes) {
      expected = merged(expected, kept);
      expect(await good(ask('PATCH', `${account}/settings`, sent)), JSON.stringify(sent)).to.deep.equal(expected);
    }
    expect(Object.keys(before).filter((name) => !changes.some(([sent]) => name in sent))).to.deep.equal(['logo']);
    const types = () => eventTypes(gateway, ACCOUNT.stream(tenant.accountId));
    const count = (await types()).length;
    expect(await good(ask('PATCH', `${account}/settings`, {}))).to.deep.equal(expected);
    expect(await good(ask('PATCH', `${account}/settings`, { holdDays: { BOLETO: 9 } }))).to.deep.equal(expected);
    expect(await types()).to.have.length(count);
    const limit = (await gateway.get('/v1/wallets', { key: tenant.testKey })).headers.get('x-ratelimit-limit-minute');
    expect(limit).to.equal('77');
  });
  it('get 400 for settings out of bounds and for unknown settings', async () => {
    const refused: readonly (readonly [string, Body])[] = [
      ['fees.PIX.platform.percentBps', { fees: { PIX: { platform: { percentBps: 10_001, fixed: 0 } } } }],
      ['fees.PIX.platform.fixed', { fees: { PIX: { platform: { percentBps: 1 } } } }],
      ['fees.PAPER', { fees: { PAPER: {} } }],
      ['holdDays.PIX', { holdDays: { PIX: -1 } }],
      ['holdDays.PIX', { holdDays: { PIX: null } }],
      ['taxId', { taxId: '123' }],
      ['taxId', { taxId: '' }],
      ['receiverCity', { receiverCity: 'A city whose name is far too long' }],
      ['color', { color: 'red' }],
      ['rateLimitPerMinute', { rateLimitPerMinute: 1.5 }],
      ['cashoutDestinations', { cashoutDestinations: ['x'] }],
      ['rateLimit', { rateLimit: 5 }],
      ['logo', { logo: null }],
    ];
    for (const [param, body] of refused)
      expectError(await ask('PATCH', `${account}/settings`, body), 400, 'invalid_request', param);
    expect(await eventTypes(gateway, ACCOUNT.stream(tenant.accountId))).to.deep.equal(['AccountOpened']);
  });
  it('set and remove an account’s logo', async () => {
    const image = (path: string, raw: Buffer, type = 'image/jpeg') =>
      gateway.call<Body>('PUT', path, { key: null, headers: { ...headers, 'content-type': type }, raw });
    const jpeg = jpegImage(40, 40);
    const { logo } = await good(image(`${account}/logo`, jpeg));
    const { logoUrl } = await good<{ logoUrl: string }>(ask('GET', account));
    expect(logoUrl).to.equal(`${gateway.baseUrl}/pay/logos/${logo}`);
    expect(Buffer.from(await (await fetch(logoUrl)).arrayBuffer()).equals(jpeg)).to.equal(true);
    expectError(await image(`${account}/logo`, Buffer.from('no image')), 400, 'invalid_request', 'logo');
    expectError(await image(`/ops/v1/accounts/acct_${'0'.repeat(26)}/logo`, jpeg), 404, 'not_found');
    expect((await good(ask('DELETE', `${account}/logo`)))['logo']).to.equal(null);
  });
  it('issue, list, rotate and revoke keys of any account', async () => {
    const keys = async () => (await good<{ data: Body[] }>(ask('GET', `${account}/api-keys`))).data;
    const [, unused] = await keys();
    const usedAt = '2026-11-21T12:00:00.000Z';
    await gateway.storage.operations.query(
      'INSERT INTO operations.api_key_uses (key_id, last_used_at) VALUES ($1, $2)',
      [rawIdOf(String(unused?.['id'])), usedAt],
    );
    const before = await keys();
    expect(before.map(({ mode, lastUsedAt }) => [mode, lastUsedAt])).to.deep.equal([
      ['test', null],
      ['live', usedAt],
    ]);
    const issued = await good<Body & { apiKey: string; id: string }>(
      ask('POST', `${account}/api-keys`, { test: true, label: 'till' }),
      201,
    );
    expect(await wallets(issued.apiKey)).to.equal(200);
    const { apiKey, ...shown } = issued;
    expect((await keys()).at(-1)).to.deep.include(shown);
    expect(JSON.stringify(await keys())).to.not.contain(apiKey);
    const rotate = () =>
      ask<Body & { apiKey: string; id: string }>('POST', `${account}/api-keys/${issued.id}/rotate`, {});
    const next = await good(rotate(), 201);
    expect(next).to.include({ label: 'till', mode: 'test' });
    expect([await wallets(apiKey), await wallets(next.apiKey)]).to.deep.equal([401, 200]);
    expectError(await rotate(), 404, 'not_found');
    const revoke = () => ask('DELETE', `${account}/api-keys/${next.id}`);
    expect(await good(revoke())).to.deep.equal({ revoked: true });
    expectError(await revoke(), 404, 'not_found');
    expect([await wallets(next.apiKey), await keys()]).to.deep.equal([401, before]);
    // A key of another account is not found in this one.
    const other = await gateway.newTenant();
    const [{ id } = { id: '' }] = (
      await good<{ data: { id: string }[] }>(ask('GET', `/ops/v1/accounts/acct_${other.accountId}/api-keys`))
    ).data;
    expectError(await ask('DELETE', `${account}/api-keys/${id}`), 404, 'not_found');
    expect(await wallets(other.testKey)).to.equal(200);
    const actors = (await metadataOf(KEYRING.stream(tenant.accountId))).map(({ actor }) => actor);
    expect(actors.slice(-3)).to.deep.equal(Array(3).fill(`user:usr_${olga.userId}`));
  });
  it('add, disable and enable users', async () => {
    const wish = { accountId: `acct_${tenant.accountId}`, email: 'caio@example.com', role: 'MEMBER' };
    const added = await good<Body & { id: string; password: string }>(ask('POST', '/ops/v1/users', wish), 201);
    const { password, ...caio } = added;
    expect(caio).to.include({ ...wish, name: 'caio@example.com', status: 'active' });
    const { token } = await good<{ token: string }>(logIn('caio@example.com', password));
    const isIn = async () =>
      (await gateway.get('/v1/account', { key: null, headers: { authorization: `Bearer ${token}` } })).status;
    expect(await isIn()).to.equal(200);
    for (let n = 0; n < 2; n++)
      expect(await good(ask('POST', `/ops/v1/users/${caio.id}/disable`))).to.deep.equal({
        ...caio,
        status: 'disabled',
      });
    expect([await isIn(), (await logIn('caio@example.com', password)).status]).to.deep.equal([401, 401]);
    for (let n = 0; n < 2; n++) expect(await good(ask('POST', `/ops/v1/users/${caio.id}/enable`))).to.deep.equal(caio);
    expect([await isIn(), (await logIn('caio@example.com', password)).status]).to.deep.equal([401, 200]);
    expect(await good(ask('GET', `/ops/v1/users/${caio.id}`))).to.deep.equal(caio);
    const list = `/ops/v1/users?accountId=acct_${tenant.accountId}`;
    expect(await good(ask('GET', list))).to.deep.equal({ data: [caio], hasMore: false, nextCursor: null });
    expect((await good<Page>(ask('GET', '/ops/v1/users?limit=1'))).hasMore).to.equal(true);
    expectError(
      await ask('GET', `/ops/v1/users?startingAfter=usr_${'0'.repeat(26)}`),
      400,
      'invalid_cursor',
      'startingAfter',
    );
  });
  it('list users by page, each once', async () => {
    const added: string[] = [];
    for (let n = 0; n < 3; n++) added.push(`usr_${(await gateway.addUser('MEMBER', { tenant })).userId}`);
    const page = async (query: string) => {
      const { data, nextCursor } = await good<Page>(
        ask('GET', `/ops/v1/users?accountId=acct_${tenant.accountId}${query}`),
      );
      return { ids: data.map(({ id }) => id), nextCursor };
    };
    // Users created in the same millisecond are ordered by ID.
    const { ids } = await page('');
    expect(ids.toSorted()).to.deep.equal(added.toSorted());
    expect(await page('&limit=2')).to.deep.equal({ ids: ids.slice(0, 2), nextCursor: ids[1] });
    expect(await page(`&limit=2&startingAfter=${ids[1]}`)).to.deep.equal({ ids: ids.slice(2), nextCursor: null });
  });
  it('get 400 or 404 for invalid users', async () => {
    const wish = { accountId: `acct_${tenant.accountId}`, email: 'eva@example.com', role: 'ADMIN' };
    const add = (more: Body) => ask('POST', '/ops/v1/users', { ...wish, ...more });
    expectError(await add({ role: 'OPERATOR' }), 400, 'invalid_request', 'role');
    expectError(await add({ accountId: null }), 400, 'invalid_request', 'role');
    expectError(await add({ accountId: 'x' }), 400, 'invalid_request', 'accountId');
    expectError(await add({ accountId: `acct_${'0'.repeat(26)}` }), 404, 'not_found');
    expectError(await add({ email: 'OLGA@example.com' }), 400, 'invalid_request', 'email');
    expectError(await add({ email: 'eva' }), 400, 'invalid_request', 'email');
    expectError(await add({ name: ' ' }), 400, 'invalid_request', 'name');
    expectError(await add({ role: 'KING' }), 400, 'invalid_request', 'role');
    expect((await good<Page>(ask('GET', `/ops/v1/users?accountId=${wish.accountId}`))).data).to.deep.equal([]);
  });
  it('invite users, repeatedly while they have no password', async () => {
    const wish = { accountId: `acct_${tenant.accountId}`, email: 'dora@example.com', role: 'VIEWER', name: 'Dora' };
    const invited = await good(ask('POST', '/ops/v1/users/invite', wish), 202);
    expect(invited).to.include({ ...wish, status: 'active' });
    expect(await good(ask('POST', '/ops/v1/users/invite', wish), 202)).to.deep.equal(invited);
    const other = { ...wish, role: 'ADMIN' };
    expectError(await ask('POST', '/ops/v1/users/invite', other), 400, 'invalid_request', 'email');
  });
  it('change a role, effective in open sessions, but not of the last OWNER', async () => {
    const owner = await gateway.addUser('OWNER', { tenant });
    const session = await gateway.logIn('OWNER', owner);
    const role = (wanted: string) => ask('POST', `/ops/v1/users/usr_${owner.userId}/role`, { role: wanted });
    const canManage = async () =>
      (await gateway.get<{ access: Body }>('/v1/api-keys', { key: null, headers: session })).body.access['canManage'];
    expectError(await role('VIEWER'), 400, 'invalid_request', 'role');
    const second = `/ops/v1/users/usr_${(await gateway.addUser('OWNER', { tenant })).userId}`;
    // A disabled owner does not count, since nobody could restore the role.
    await good(ask('POST', `${second}/disable`));
    expectError(await role('VIEWER'), 400, 'invalid_request', 'role');
    await good(ask('POST', `${second}/enable`));
    for (let n = 0; n < 2; n++) expect(await good(role('VIEWER'))).to.include({ role: 'VIEWER' });
    const written = USER.stream(owner.userId);
    expect(await eventTypes(gateway, written)).to.deep.equal(['UserAdded', 'UserRoleChanged']);
    expect((await metadataOf(written)).at(-1)).to.include({
      account: tenant.accountId,
      actor: `user:usr_${olga.userId}`,
    });
    expect(await canManage()).to.equal(false);
    expectError(await role('OPERATOR'), 400, 'invalid_request', 'role');
    expect(await good(role('OWNER'))).to.include({ role: 'OWNER' });
    expect(await canManage()).to.equal(true);
  });
  it('are recorded in every event, with the request ID', async () => {
    let asked = 0;
    const act = async <T = Body & { id: string }>(method: string, path: string, body?: object): Promise<T> => {
      const id = { 'x-request-id': `who-${++asked}` };
      const reply = await gateway.call<T>(method, path, {
        key: null,
        headers: { ...headers, ...id },
        ...(body && { body }),
      });
      expect(reply.status, reply.text).to.be.within(200, 201);
      return reply.body;
    };
    const made = await act<Created>('POST', '/ops/v1/accounts', { name: 'Loja Nova', email: 'who@example.com' });
    const of = `/ops/v1/accounts/${made.id}`;
    for (const verb of ['suspend', 'reopen']) await act('POST', `${of}/${verb}`);
    await act('PATCH', `${of}/settings`, { chargeWindowSeconds: 600 });
    const key = await act('POST', `${of}/api-keys`, { test: true });
    const next = await act('POST', `${of}/api-keys/${key.id}/rotate`, {});
    await act('DELETE', `${of}/api-keys/${next.id}`);
    const wish = { accountId: made.id, email: 'who-too@example.com', role: 'MEMBER' };
    const user = await act('POST', '/ops/v1/users', wish);
    for (const verb of ['disable', 'enable']) await act('POST', `/ops/v1/users/${user.id}/${verb}`);
    await act('POST', `/ops/v1/users/${user.id}/role`, { role: 'ADMIN' });

    const accountId = rawIdOf(made.id) as AccountId;
    for (const [stream, requests] of [
      [ACCOUNT.stream(accountId), [1, 2, 3, 4]],
      [KEYRING.stream(accountId), [1, 1, 5, 6, 7]],
      [USER.stream(rawIdOf(made.userId) as UserId), [1]],
      [USER.stream(rawIdOf(user.id) as UserId), [8, 9, 10, 11]],
    ] as const)
      expect(
        (await metadataOf(stream)).map(({ account, actor, $causationId }) => [account, actor, $causationId]),
        stream,
      ).to.deep.equal(requests.map((n) => [accountId, `user:usr_${olga.userId}`, `who-${n}`]));
  });
  it('appear in the request log as users and are rate limited like a key', async () => {
    const reply = await gateway.get('/ops/v1/accounts', {
      key: null,
      headers: { ...headers, 'x-request-id': 'ops-1' },
    });
    expect(reply.headers.get('x-ratelimit-limit-minute')).to.equal('1000');
    await gateway.writeRequests();
    const { rows } = await gateway.storage.reads.query(
      "SELECT account_id, user_id, path, status FROM operations.request_log WHERE request_id = 'ops-1'",
    );
    expect(rows).to.deep.equal([{ account_id: '', user_id: olga.userId, path: '/ops/v1/accounts', status: 200 }]);
  });
});
