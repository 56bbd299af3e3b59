// Whatever ends a session ends it in every process at once. While sessions can’t be read, nobody is let in (rules D1, D2, S6).

import { expect } from 'chai';
import { disableUser, enableUser } from '../../../../application/accounts/users.ts';
import { metadataForChange } from '../../../../application/core/eventMetadata.ts';
import { ACCOUNT, suspendAccount } from '../../../../domain/account/account.ts';
import { isRejection } from '../../../../domain/kernel/rejection.ts';
import { OPERATIONS } from '../../../../http/kernel/health.ts';
import { route } from '../../../../http/kernel/route.ts';
import { startedDatabase, TestGateway, type TestUser } from '../../../world/gateway.ts';
import { expectError, openReady } from '../../../world/http.ts';
import type { TestDatabase } from '../../../world/postgres.ts';

const WHO = route('GET', '/who', {
  operationId: 'who',
  summary: 'Who is logged in',
  tag: OPERATIONS,
  principal: 'anySession',
  responses: { 204: { kind: 'empty', description: 'Somebody.' } },
  errors: [],
  handle: async () => ({ status: 204 }),
});

const BY = { actor: 'operator:test', requestId: null };
const [FIRST, SECOND] = [Buffer.alloc(32, 7), Buffer.alloc(32, 8)];
type Session = { readonly authorization: string };

describe('in two processes', () => {
  let database: TestDatabase;
  let one: TestGateway;
  let two: TestGateway;
  before(async () => {
    database = await startedDatabase();
    const roles = { serves: true, projects: false, works: false };
    // One deployment has one public URL. The second process already knows the next secrets key.
    const shared = { database, publicUrl: 'https://pay.quita.example', moreRoutes: [WHO], isAlone: false };
    one = await openReady({ ...shared, secretsKeys: [FIRST] });
    two = await TestGateway.open({ ...shared, secretsKeys: [FIRST, SECOND], roles });
  });
  after(async () => {
    await two.close();
    await one.close();
    await database.drop();
  });
  afterEach(() => expect([one.faults, two.faults]).to.deep.equal([[], []]));

  const look = async (gateway: TestGateway, headers: Session) =>
    (await gateway.get('/who', { key: null, headers })).status;
  const everywhere = async (headers: Session) => [await look(one, headers), await look(two, headers)];

  describe('a session', () => {
    it('is valid in both', async () => expect(await everywhere(await one.logIn())).to.deep.equal([204, 204]));

    const ends: { readonly [name: string]: (headers: Session, user: TestUser) => Promise<unknown> } = {
      'a logout': (headers) => two.call('POST', '/v1/auth/logout', { key: null, headers }),
      'a user that is disabled': (_, { userId }) => disableUser(two.gateway.needs)(userId, BY),
      'a user that is disabled and enabled again': async (_, { userId }) => {
        await disableUser(two.gateway.needs)(userId, BY);
        await enableUser(two.gateway.needs)(userId, BY);
      },
      'a password that is changed in another session': async (_, user) => {
        const headers = await two.logIn('OWNER', user);
        const body = { current_password: user.password, new_password: 'outra senha de teste' };
        expect((await two.call('POST', '/v1/auth/password', { key: null, headers, body })).status).to.equal(204);
        expect(await everywhere(headers)).to.deep.equal([204, 204]);
      },
    };
    for (const [name, end] of Object.entries(ends))
      it(`ends for good in both: ${name}`, async () => {
        const user = await one.addUser();
        const session = await one.logIn('OWNER', user);
        expect(await everywhere(session)).to.deep.equal([204, 204]);
        await end(session, user);
        expect(await everywhere(session)).to.deep.equal([401, 401]);
      });
    it('of an operator ends in every process after 30 idle minutes; each use restarts the period', async () => {
      const headers = await one.logIn('OPERATOR');
      const rest = (minutes: number) =>
        one.storage.operations.query(
          `UPDATE operations.sessions SET used_at = used_at - $1 * interval '1 minute' WHERE account_id IS NULL`,
          [minutes],
        );
      for (let times = 0; times < 3; times++) {
        await rest(29);
        expect(await look(times % 2 === 0 ? one : two, headers)).to.equal(204);
      }
      // An open stream checks the session, but does not keep it alive.
      const sessionId = await one.gateway.needs.tokens.read(headers.authorization.slice('Bearer '.length));
      const isActive = async () => sessionId !== null && (await one.gateway.services.isSessionActive(sessionId));
      await rest(29);
      expect(await isActive()).to.equal(true);
      await rest(1);
      expect(await isActive()).to.equal(false);
      expect(await everywhere(headers)).to.deep.equal([401, 401]);
      await one.gateway.needs.sessions.forgetOld();
      const { rows } = await one.storage.operations.query(
        'SELECT id FROM operations.sessions WHERE account_id IS NULL',
      );
      expect(rows).to.deep.equal([]);
    });
    it('of a member survives 59 idle minutes', async () => {
      const headers = await one.logIn('VIEWER');
      await one.storage.operations.query(`UPDATE operations.sessions SET used_at = used_at - interval '59 minutes'`);
      expect(await everywhere(headers)).to.deep.equal([204, 204]);
    });
    it('of a suspended account is rejected, as are its logins and keys', async () => {
      const tenant = await one.newTenant();
      const user = await one.addUser('OWNER', { tenant });
      const session = await one.logIn('OWNER', user);
      const { suspendAccount, reopenAccount } = two.gateway.services.platform;
      const key = tenant.testKey;
      expect((await one.get('/v1/wallets', { key })).status).to.equal(200);
      await suspendAccount(tenant.accountId, BY);
      expect((await one.get('/v1/wallets', { key })).status).to.equal(401);
      expect(await everywhere(session)).to.deep.equal([401, 401]);
      const { email, password } = user;
      expectError(await one.post('/v1/auth/login', { email, password }, { key: null }), 401, 'unauthorized');
      await reopenAccount(tenant.accountId, BY);
      // Reopening the account does not bring back a session that may have been stolen.
      expect(await everywhere(session)).to.deep.equal([401, 401]);
      expect(await everywhere(await one.logIn('OWNER', user))).to.deep.equal([204, 204]);
      expect((await one.get('/v1/wallets', { key })).status).to.equal(200);
    });
    it('stays ended after reopening, even if the suspension was cut off after its event', async () => {
      const tenant = await one.newTenant();
      const user = await one.addUser('OWNER', { tenant });
      const session = await one.logIn('OWNER', user);
      const { commands, accounts } = two.gateway;
      const stream = ACCOUNT.stream(tenant.accountId);
      const metadata = metadataForChange(BY, tenant.accountId, tenant.accountId);
      // Simulates a process that was killed right after the append.
      await commands.execute(ACCOUNT, stream, suspendAccount(accounts.realNow()), metadata);
      await two.gateway.services.platform.reopenAccount(tenant.accountId, BY);
      expect(await everywhere(session)).to.deep.equal([401, 401]);
    });
    it('has the user’s current role in every process', async () => {
      const user = await one.addUser('MEMBER');
      const headers = await one.logIn('MEMBER', user);
      const issue = (gateway: TestGateway) =>
        gateway.call('POST', '/v1/api-keys', { key: null, headers, body: { test: true } });
      for (const [role, status] of [
        ['ADMIN', 201],
        ['VIEWER', 403],
        ['OWNER', 201],
      ] as const) {
        await two.gateway.services.platform.changeRole(user.userId, role, BY);
        expect([(await issue(one)).status, (await issue(two)).status]).to.deep.equal([status, status]);
      }
    });
    it('is rejected and deleted after it expires', async () => {
      const [session, other] = [await one.logIn(), await one.logIn()];
      const [, claims = ''] = session.authorization.split('.');
      const { jti } = JSON.parse(Buffer.from(claims, 'base64url').toString()) as { jti: string };
      await one.storage.operations.query(
        "UPDATE operations.sessions SET expires_at = now() - interval '1 s' WHERE id = $1",
        [jti],
      );
      expect(await everywhere(session)).to.deep.equal([401, 401]);
      await one.gateway.needs.sessions.forgetOld();
      const { rows } = await one.storage.operations.query('SELECT 1 FROM operations.sessions WHERE id = $1', [jti]);
      expect([rows, await everywhere(other)]).to.deep.equal([[], [204, 204]]);
    });
    it('survives replacing SECRETS_KEY in one process after another', async () => {
      const before = await one.logIn();
      const kidOf = ({ authorization }: Session) =>
        (
          JSON.parse(Buffer.from(authorization.split('.')[0]?.slice(7) ?? '', 'base64url').toString()) as {
            kid: string;
          }
        ).kid;
      const database2 = { database, publicUrl: 'https://pay.quita.example', moreRoutes: [WHO], isAlone: false };
      const roles = { serves: true, projects: false, works: false };
      // This process signs with the next key; the second process knows both.
      const next = await TestGateway.open({ ...database2, secretsKeys: [SECOND, FIRST], roles });
      expect(await look(next, before)).to.equal(204);
      const after = await next.logIn();
      expect(kidOf(after)).to.not.equal(kidOf(before));
      expect([await look(two, after), await look(next, after)]).to.deep.equal([204, 204]);
      // A process without the next key rejects it. This is why the how-to distributes the new key in step 2.
      expect(await look(one, after)).to.equal(401);
      await next.close();
    });
  });

  describe('the owners of an account', () => {
    it('stay at least one when two are demoted concurrently', async () => {
      const tenant = await one.newTenant();
      const owners = [await one.addUser('OWNER', { tenant }), await one.addUser('OWNER', { tenant })];
      expect(await one.gateway.projected.caughtUp(10_000, ['users'])).to.equal(true);
      const demoted = await Promise.all(
        owners.map(({ userId }, i) => [one, two][i]?.gateway.services.platform.changeRole(userId, 'ADMIN', BY)),
      );
      expect(
        demoted.map((done) => (done !== undefined && isRejection(done) ? done.param : 'demoted')).sort(),
      ).to.deep.equal(['demoted', 'role']);
    });
  });
});

describe('a session, when the database is unavailable', () => {
  it('gets 503 and is valid again afterwards', async () => {
    const gateway = await openReady({ moreRoutes: [WHO] });
    const headers = await gateway.logIn();
    await gateway.storage.operations.query('ALTER TABLE operations.sessions RENAME TO sessions_away');
    expectError(await gateway.get('/who', { key: null, headers }), 503, 'service_unavailable');
    expect(gateway.faults).to.have.length(1);
    await gateway.storage.operations.query('ALTER TABLE operations.sessions_away RENAME TO sessions');
    expect((await gateway.get('/who', { key: null, headers })).status).to.equal(204);
    await gateway.close();
  });
});
