// Second factors of users: TOTP and recovery codes (rule D4).

import { expect } from 'chai';
import { resetSecondFactor } from '../../../../application/accounts/secondFactor.ts';
import { AppendOutcomeUnknown } from '../../../../application/ports/eventStore.ts';
import type { UserId } from '../../../../domain/kernel/ids.ts';
import { USER } from '../../../../domain/user/user.ts';
import { beginEnrolment, codeOf, enrol } from '../../../support/totp.ts';
import { type Reply, startedDatabase, TestGateway, type TestUser } from '../../../world/gateway.ts';
import { eventTypes, expectError, openReady } from '../../../world/http.ts';
import type { TestDatabase } from '../../../world/postgres.ts';

type Headers = { readonly authorization: string };
/** The middle of a 30-second step. */
const NOON = Date.parse('2026-11-21T12:00:15.000Z');
const STEP_MS = 30_000;

describe('a second factor, in two processes', () => {
  let database: TestDatabase;
  let gateway: TestGateway;
  let other: TestGateway;
  let now: number;
  before(async () => {
    database = await startedDatabase();
    now = NOON;
    const shared = { database, publicUrl: 'https://pay.quita.example', isAlone: false, clock: { now: () => now } };
    gateway = await openReady(shared);
    other = await TestGateway.open({ ...shared, roles: { serves: true, projects: false, works: false } });
  });
  after(async () => {
    await other.close();
    await gateway.close();
    await database.drop();
  });
  beforeEach(() => {
    now = NOON;
  });
  afterEach(() => expect([gateway.faults, other.faults]).to.deep.equal([[], []]));

  const logIn = (user: TestUser, code?: string, at: TestGateway = gateway): Promise<Reply<Record<string, unknown>>> =>
    at.post(
      '/v1/auth/login',
      { email: user.email, password: user.password, ...(code !== undefined && { code }) },
      {
        key: null,
      },
    );
  const auth = (path: string, headers: Headers, body?: unknown) =>
    gateway.call('POST', `/v1/auth/totp/${path}`, { key: null, headers, ...(body !== undefined && { body }) });
  const isOpen = async (headers: Headers, at: TestGateway = other) =>
    (await at.get('/v1/request-logs', { key: null, headers })).status === 200;
  const enrolled = async () => {
    const user = await gateway.addUser();
    const headers = await gateway.logIn('OWNER', user);
    return { user, headers, ...(await enrol(gateway, headers, now)) };
  };

  it('is enrolled with a secret and its code; every later login then needs a code', async () => {
    const user = await gateway.addUser();
    const headers = await gateway.logIn('OWNER', user);
    const begun = await auth('enroll', headers);
    expect(begun.status).to.equal(200);
    const { secret, otpauth_url: url } = begun.body as { secret: string; otpauth_url: string };
    expect(Object.keys(begun.body)).to.deep.equal(['secret', 'otpauth_url']);
    expect(secret).to.match(/^[A-Z2-7]{32}$/);
    const { protocol, host, pathname, searchParams } = new URL(url);
    expect([protocol, host, decodeURIComponent(pathname)]).to.deep.equal(['otpauth:', 'totp', `/Quita:${user.email}`]);
    expect(searchParams.get('secret')).to.equal(secret);
    // The secret does not count before it is confirmed.
    expect((await logIn(user)).status).to.equal(200);
    const done = await auth('confirm', headers, { code: codeOf(secret, 0, now) });
    expect(done.status).to.equal(200);
    const { recoveryCodes } = done.body as { recoveryCodes: string[] };
    expect(Object.keys(done.body)).to.deep.equal(['recoveryCodes']);
    expect(new Set(recoveryCodes).size).to.equal(10);
    for (const code of recoveryCodes) expect(code).to.match(/^([0-9a-hjkmnp-tv-z]{4}-){3}[0-9a-hjkmnp-tv-z]{4}$/);
    expectError(await logIn(user), 401, 'second_factor_required');
    expect((await logIn(user, codeOf(secret, 1, now))).status).to.equal(200);
    const types = ['UserAdded', 'UserSecondFactorEnrolled'];
    expect(await eventTypes(gateway, USER.stream(user.userId))).to.deep.equal(types);
  });
  it('gives recovery codes although the answer of the event store is lost', async () => {
    const { store } = gateway.storage;
    const { append } = store;
    const confirm = async (headers: Headers, lost: number, code?: string) => {
      const secret = await beginEnrolment(gateway, headers, code);
      let left = lost;
      store.append = async (...args) => {
        const result = await append.apply(store, args);
        if (left-- > 0) throw new AppendOutcomeUnknown('the answer is lost');
        return result;
      };
      const done = await auth('confirm', headers, { code: codeOf(secret, 0, now) });
      store.append = append;
      return { done, secret };
    };
    const user = await gateway.addUser();
    const headers = await gateway.logIn('OWNER', user);
    const { done } = await confirm(headers, 1);
    expect(done.status, done.text).to.equal(200);
    expect(await isOpen(headers)).to.equal(true);
    const { recoveryCodes } = done.body as { recoveryCodes: string[] };
    expect((await logIn(user, recoveryCodes[0])).status).to.equal(200);
    const types = ['UserAdded', 'UserSecondFactorEnrolled'];
    expect(await eventTypes(gateway, USER.stream(user.userId))).to.deep.equal(types);
    // If the repeated append has no answer either, a login with the factor and another enrollment give new codes.
    const later = await gateway.addUser();
    const second = await confirm(await gateway.logIn('OWNER', later), 2);
    expectError(second.done, 503, 'service_unavailable');
    now += 2 * STEP_MS;
    const login = await logIn(later, codeOf(second.secret, 0, now));
    const again = { authorization: `Bearer ${login.body['token']}` };
    expect((await confirm(again, 0, codeOf(second.secret, 1, now))).done.status).to.equal(200);
    expect(gateway.faults.splice(0)).to.have.length(1);
  });
  it('returns the same error for a wrong password, with or without a code', async () => {
    const { user, secret } = await enrolled();
    const wrong = { ...user, password: 'outra senha de teste' };
    const texts = [await logIn(wrong), await logIn(wrong, codeOf(secret, 1, now)), await logIn(wrong, '000000')];
    for (const reply of texts) expectError(reply, 401, 'unauthorized');
    expect(new Set(texts.map(({ body }) => (body['error'] as { message: string }).message)).size).to.equal(1);
    expect((await logIn(user, codeOf(secret, 1, now))).status).to.equal(200);
  });
  it('accepts codes of the previous, current and next step only', async () => {
    const { user, secret } = await enrolled();
    now += 10 * STEP_MS;
    for (const [steps, status] of [
      [-2, 401],
      [2, 401],
      [1, 200],
      [-1, 200],
      [0, 200],
    ] as const)
      expect((await logIn(user, codeOf(secret, steps, now))).status, `${steps}`).to.equal(status);
  });
  it('accepts each code once across all processes, including the confirming code', async () => {
    const { user, secret } = await enrolled();
    expectError(await logIn(user, codeOf(secret, 0, now)), 401, 'unauthorized');
    const code = codeOf(secret, 1, now);
    const both = await Promise.all([...Array(8)].map((_, i) => logIn(user, code, i % 2 === 0 ? gateway : other)));
    expect(both.map(({ status }) => status).sort()).to.deep.equal([200, ...Array(7).fill(401)]);
    expectError(await logIn(user, code, other), 401, 'unauthorized');
  });
  it('accepts a code with blanks and rejects other text', async () => {
    const { user, secret } = await enrolled();
    for (const code of ['', '0', '12345', '1234567', 'abcdef', '１２３４５６', '1e5', 'x'.repeat(64)])
      expectError(await logIn(user, code), 401, 'unauthorized');
    const [a, b] = [codeOf(secret, 1, now).slice(0, 3), codeOf(secret, 1, now).slice(3)];
    expect((await logIn(user, `${a} ${b}`)).status).to.equal(200);
    expectError(await logIn(user, 'x'.repeat(65)), 400, 'invalid_request', 'code');
  });
  it('accepts each recovery code once, in any letter case, with or without dashes', async () => {
    const { user, recoveryCodes } = await enrolled();
    const [one, two, three] = recoveryCodes as [string, string, string];
    const all = await Promise.all([gateway, other, gateway, other].map((at) => logIn(user, one, at)));
    expect(all.map(({ status }) => status).sort()).to.deep.equal([200, 401, 401, 401]);
    expect((await logIn(user, two.toUpperCase().replaceAll('-', ' '))).status).to.equal(200);
    expect((await logIn(user, three.replaceAll('-', ''))).status).to.equal(200);
    for (const used of [one, two, three]) expectError(await logIn(user, used), 401, 'unauthorized');
  });
  it('rejects codes of another user', async () => {
    const [ana, bia] = [await enrolled(), await enrolled()];
    expectError(await logIn(ana.user, codeOf(bia.secret, 1, now)), 401, 'unauthorized');
    expectError(await logIn(ana.user, bia.recoveryCodes[0]), 401, 'unauthorized');
    expect((await logIn(bia.user, bia.recoveryCodes[0])).status).to.equal(200);
  });
  it('counts wrong codes as failed logins and after 20 of them accepts only recovery codes', async () => {
    const { user, secret, recoveryCodes } = await enrolled();
    const { failures } = gateway.gateway.needs;
    for (let i = 0; i < 19; i++) expectError(await logIn(user, '000000'), 401, 'unauthorized');
    expect(await failures.count(user.email)).to.equal(19);
    expectError(await logIn(user, codeOf(secret, 5, now)), 401, 'unauthorized');
    expectError(await logIn(user, codeOf(secret, 1, now)), 401, 'unauthorized');
    expect((await logIn(user, recoveryCodes[0])).status).to.equal(200);
  });
  it('judges at most 20 wrong codes, also if they arrive at once in both processes', async () => {
    const { headers, secret } = await enrolled();
    let judged = 0;
    const restores = [gateway, other].map((at) => {
      const { secondFactors } = at.gateway.needs;
      const { useCode } = secondFactors;
      secondFactors.useCode = (id, code) => {
        judged += 1;
        return useCode(id, code);
      };
      return () => {
        secondFactors.useCode = useCode;
      };
    });
    const right = [-1, 0, 1].map((steps) => codeOf(secret, steps, now));
    const wrong = Array.from({ length: 80 }, (_, n) => String(n).padStart(6, '0')).filter(
      (one) => !right.includes(one),
    );
    const guess = (code: string, at: TestGateway) => at.post('/v1/auth/totp/enroll', { code }, { key: null, headers });
    try {
      const replies = await Promise.all(wrong.map((code, n) => guess(code, n % 2 === 0 ? gateway : other)));
      expect(new Set(replies.map(({ status }) => status))).to.deep.equal(new Set([400]));
      expect(judged).to.be.at.most(20);
      expectError(await guess(codeOf(secret, 1, now), gateway), 400, 'invalid_request', 'code');
      expect(judged).to.be.at.most(20);
    } finally {
      for (const restore of restores) restore();
    }
  });
  it('does not count right codes among the 20', async () => {
    const { user, secret } = await enrolled();
    for (let n = 0; n < 19; n++) expectError(await logIn(user, '000000'), 401, 'unauthorized');
    for (let times = 0; times < 3; times++) {
      now += STEP_MS;
      expect((await logIn(user, codeOf(secret, 0, now))).status).to.equal(200);
    }
  });
  it('stores neither the secret nor a recovery code in cleartext', async () => {
    const { secret, recoveryCodes } = await enrolled();
    const dump = await gateway.storage.operations.query<{ row: string }>(
      `SELECT f::text AS row FROM operations.second_factors f UNION ALL SELECT c::text FROM operations.recovery_codes c`,
    );
    const text = dump.rows.map(({ row }) => row).join('\n');
    for (const hidden of [
      secret,
      Buffer.from(secret).toString('hex'),
      ...recoveryCodes,
      ...recoveryCodes.map((code) => code.replaceAll('-', '')),
    ])
      expect(text).to.not.contain(hidden);
  });
  it('ends all other sessions when it is enrolled', async () => {
    const user = await gateway.addUser();
    const [mine, stolen] = [await gateway.logIn('OWNER', user), await gateway.logIn('OWNER', user)];
    await enrol(gateway, mine, now);
    expect([await isOpen(mine), await isOpen(stolen)]).to.deep.equal([true, false]);
  });
  it('survives a password change, as does the current session', async () => {
    const { user, headers, secret } = await enrolled();
    const password = 'outra senha de teste';
    const body = { current_password: user.password, new_password: password };
    expect((await gateway.call('POST', '/v1/auth/password', { key: null, headers, body })).status).to.equal(204);
    expect(await isOpen(headers)).to.equal(true);
    expectError(await logIn({ ...user, password }), 401, 'second_factor_required');
    expect((await logIn({ ...user, password }, codeOf(secret, 1, now))).status).to.equal(200);
  });

  describe('is not enrolled', () => {
    it('without a session', async () => {
      for (const path of ['enroll', 'confirm'])
        expectError(
          await gateway.post(`/v1/auth/totp/${path}`, { code: '000000' }, { key: null }),
          401,
          'unauthorized',
        );
    });
    it('by a wrong code, which leaves the right one valid', async () => {
      const headers = await gateway.logIn();
      const secret = await beginEnrolment(gateway, headers);
      expectError(await auth('confirm', headers, { code: codeOf(secret, 7, now) }), 400, 'invalid_request', 'code');
      expectError(await auth('confirm', headers, {}), 400, 'invalid_request', 'code');
      expect((await auth('confirm', headers, { code: codeOf(secret, 0, now) })).status).to.equal(200);
    });
    it('by a code without an enrollment, or twice by one enrollment', async () => {
      const headers = await gateway.logIn();
      expectError(await auth('confirm', headers, { code: '000000' }), 400, 'invalid_request');
      const secret = await beginEnrolment(gateway, headers);
      const both = await Promise.all(
        [0, 1].map((steps) => auth('confirm', headers, { code: codeOf(secret, steps, now) })),
      );
      expect(both.map(({ status }) => status).sort()).to.deep.equal([200, 400]);
      expectError(await auth('confirm', headers, { code: codeOf(secret, -1, now) }), 400, 'invalid_request');
    });
    it('by the secret of an enrollment that was replaced', async () => {
      const headers = await gateway.logIn();
      const [first, second] = [await beginEnrolment(gateway, headers), await beginEnrolment(gateway, headers)];
      expectError(await auth('confirm', headers, { code: codeOf(first, 0, now) }), 400, 'invalid_request', 'code');
      expect((await auth('confirm', headers, { code: codeOf(second, 0, now) })).status).to.equal(200);
    });
  });

  it('is replaced only with one of its codes, and stays valid until the new one is confirmed', async () => {
    const { user, headers, secret, recoveryCodes } = await enrolled();
    expectError(await auth('enroll', headers), 401, 'second_factor_required');
    expectError(await auth('enroll', headers, { code: '000000' }), 400, 'invalid_request', 'code');
    const next = await beginEnrolment(gateway, headers, codeOf(secret, 1, now));
    expectError(await logIn(user, codeOf(next, 1, now)), 401, 'unauthorized');
    expect((await logIn(user, recoveryCodes[0])).status).to.equal(200);
    expect((await auth('confirm', headers, { code: codeOf(next, 0, now) })).status).to.equal(200);
    for (const old of [codeOf(secret, -1, now), recoveryCodes[1]])
      expectError(await logIn(user, old), 401, 'unauthorized');
    expect((await logIn(user, codeOf(next, 1, now))).status).to.equal(200);
    expect(await isOpen(headers)).to.equal(true);
  });
  it('is reset by an operator: sessions end, the password suffices, and it can be enrolled again', async () => {
    const { user, headers, secret, recoveryCodes } = await enrolled();
    const operator = await gateway.logIn('OPERATOR');
    const reset = (userId: string) =>
      gateway.call(`POST`, `/ops/v1/users/usr_${userId}/reset-second-factor`, { key: null, headers: operator });
    for (let times = 0; times < 2; times++) {
      const done = await reset(user.userId);
      expect([done.status, done.body['id']]).to.deep.equal([200, `usr_${user.userId}`]);
    }
    expect(await isOpen(headers)).to.equal(false);
    const session = await gateway.logIn('OWNER', user);
    // Codes are ignored for users without a second factor.
    for (const code of [codeOf(secret, 1, now), recoveryCodes[0]])
      expect((await logIn(user, code)).status).to.equal(200);
    await enrol(gateway, session, now);
    expectError(await logIn(user, recoveryCodes[0]), 401, 'unauthorized');
    const types = ['UserAdded', 'UserSecondFactorEnrolled', 'UserSecondFactorReset', 'UserSecondFactorEnrolled'];
    expect(await eventTypes(gateway, USER.stream(user.userId))).to.deep.equal(types);
    expectError(await reset('0'.repeat(26)), 404, 'not_found');
    expectError(
      await gateway.call('POST', `/ops/v1/users/usr_${user.userId}/reset-second-factor`, {
        key: null,
        headers: await gateway.logIn('OWNER'),
      }),
      403,
      'role_required',
    );
  });
  it('is reset without reviving a session that its enrollment ended, wherever the reset is interrupted', async () => {
    const { needs } = gateway.gateway;
    const by = { actor: 'operator:test', requestId: null };
    for (const last of [0, 1, 2]) {
      const user = await gateway.addUser();
      const [stolen, own] = [await gateway.logIn('OWNER', user), await gateway.logIn('OWNER', user)];
      await enrol(gateway, own, now);
      let calls = 0;
      const endOfUser = async (userId: UserId) => {
        if (calls === last) throw new Error('killed');
        calls += 1;
        await needs.sessions.endOfUser(userId);
      };
      const cutOff = resetSecondFactor({ ...needs, sessions: { ...needs.sessions, endOfUser } })(user.userId, by);
      const outcome = await cutOff.then(
        () => 'done',
        (error: Error) => error.message,
      );
      expect(outcome).to.equal(last < 2 ? 'killed' : 'done');
      expect(await isOpen(stolen), `after ${last}`).to.equal(false);
      await resetSecondFactor(needs)(user.userId, by);
      expect([await isOpen(stolen), await isOpen(own)]).to.deep.equal([false, false]);
      expect((await logIn(user)).status).to.equal(200);
    }
  });
  it('ends the sessions of a user without one when it is reset again', async () => {
    const user = await gateway.addUser();
    const session = await gateway.logIn('OWNER', user);
    await resetSecondFactor(gateway.gateway.needs)(user.userId, { actor: 'operator:test', requestId: null });
    expect(await isOpen(session)).to.equal(false);
  });
  it('is written to the security log without codes when it is enrolled and reset', async () => {
    const before = gateway.securityEvents.length;
    const { user } = await enrolled();
    const operator = await gateway.addUser('OPERATOR');
    await gateway.call('POST', `/ops/v1/users/usr_${user.userId}/reset-second-factor`, {
      key: null,
      headers: { ...(await gateway.logIn('OPERATOR', operator)), 'x-request-id': 'reset' },
    });
    const [own, theirs] = gateway.securityEvents.slice(before).filter(({ security }) => security.startsWith('second_'));
    expect(own).to.include({ security: 'second_factor_enrolled', by: `user:usr_${user.userId}` });
    expect(theirs).to.deep.equal({
      security: 'second_factor_reset',
      by: `user:usr_${operator.userId}`,
      user: `usr_${user.userId}`,
      requestId: 'reset',
    });
  });
});

describe('an operator in production', () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await openReady({ operatorsNeedSecondFactor: true });
  });
  after(() => gateway.close());
  const accounts = (headers: Headers) => gateway.get('/ops/v1/accounts', { key: null, headers });

  it('can operate only with a second factor', async () => {
    const operator = await gateway.addUser('OPERATOR');
    const headers = await gateway.logIn('OPERATOR', operator);
    const early = await gateway.logIn('OPERATOR', operator);
    expectError(await accounts(headers), 403, 'second_factor_enrolment_required');
    await enrol(gateway, headers);
    expect((await accounts(headers)).status).to.equal(200);
    expectError(await accounts(early), 401, 'unauthorized');
  });
  it('can change the password and log out without a second factor; members don’t need one', async () => {
    const operator = await gateway.addUser('OPERATOR');
    const headers = await gateway.logIn('OPERATOR', operator);
    const body = { current_password: operator.password, new_password: 'outra senha de teste' };
    expect((await gateway.call('POST', '/v1/auth/password', { key: null, headers, body })).status).to.equal(204);
    expect((await gateway.call('POST', '/v1/auth/logout', { key: null, headers })).status).to.equal(204);
    const member = await gateway.logIn('VIEWER');
    expect((await gateway.get('/v1/request-logs', { key: null, headers: member })).status).to.equal(200);
    expectError(await accounts(member), 403, 'role_required');
  });
});
