// Password links by mail, for invitations and forgotten passwords. A link works once, within an hour.

import { expect } from 'chai';
import { inviteUser, sendLink, sendPasswordLink } from '../../../../application/accounts/passwordLink.ts';
import type { RecordedEvent } from '../../../../application/ports/eventStore.ts';
import { AddressRefused, type Mail, type MailSender } from '../../../../application/ports/mail.ts';
import { isRejection } from '../../../../domain/kernel/rejection.ts';
import { USER } from '../../../../domain/user/user.ts';
import { runWords } from '../../../support/cli.ts';
import { startedDatabase, type TestGateway, type TestUser } from '../../../world/gateway.ts';
import { expectError, openReady } from '../../../world/http.ts';
import type { TestDatabase } from '../../../world/postgres.ts';

const NEW = 'uma senha bem nova';
const BY = { actor: 'operator:test', requestId: null };

/** Collects mails and lets a test wait for the next one. With `fails` set, sending throws. */
class Mailbox implements MailSender {
  readonly mails: Mail[] = [];
  fails = false;
  #heard: (() => void)[] = [];

  async send(mail: Mail): Promise<void> {
    if (this.fails) throw new Error('no mail server');
    this.mails.push(mail);
    for (const tell of this.#heard.splice(0)) tell();
  }
  async forget(): Promise<void> {}
  close(): void {}

  /** Waits for the next mail to the address, and removes and returns it. */
  async take(to: string): Promise<Mail> {
    for (;;) {
      const at = this.mails.findIndex((mail) => mail.to === to);
      if (at >= 0) return this.mails.splice(at, 1)[0] as Mail;
      await new Promise<void>((resolve) => this.#heard.push(resolve));
    }
  }
}

const tokenIn = ({ text }: Mail): string => /account\/password#([\w-]+)$/m.exec(text)?.[1] ?? '';

describe('password links by mail', () => {
  let database: TestDatabase;
  let gateway: TestGateway;
  const mailbox = new Mailbox();
  before(async () => {
    database = await startedDatabase();
    gateway = await openReady({ database, mail: mailbox });
  });
  after(async () => {
    await gateway.close();
    await database.drop();
  });
  afterEach(() => expect(gateway.faults).to.deep.equal([]));

  const reset = async (email: string) => {
    const { status, text } = await gateway.post('/v1/auth/password-reset', { email }, { key: null });
    return [status, text];
  };
  const set = (token: string, password = NEW, headers: Record<string, string> = {}) =>
    gateway.post('/account/password', { token, password }, { key: null, headers });
  /** Returns the IDs of all passwords stored for the user, oldest first. */
  const hashesOf = async (userId: string) =>
    (
      await gateway.storage.operations.query<{ id: string }>(
        'SELECT id FROM operations.passwords WHERE user_id = $1 ORDER BY created_at',
        [userId],
      )
    ).rows.map(({ id }) => id);
  const logIn = async ({ email, password }: Pick<TestUser, 'email' | 'password'>): Promise<number> =>
    (await gateway.post('/v1/auth/login', { email, password }, { key: null })).status;
  const requestsOf = async (email: string) =>
    (
      await gateway.storage.operations.query('SELECT 1 FROM operations.password_link_requests WHERE email = $1', [
        email.toLowerCase(),
      ])
    ).rows.length;
  const idle = async () => {
    while ((await gateway.gateway.jobs.open(sendLink.name)) > 0) await new Promise((resolve) => setImmediate(resolve));
  };
  const expectDead = async (token: string, password = NEW) =>
    expectError(await set(token, password), 400, 'invalid_request', 'token');

  it('set a new password once and end every session', async () => {
    const user = await gateway.addUser();
    const session = await gateway.logIn('OWNER', user);
    expect(await reset(user.email.toUpperCase())).to.deep.equal([202, '']);
    const mail = await mailbox.take(user.email);
    expect(mail.subject).to.equal('Redefinição da sua senha na Quita');
    const token = tokenIn(mail);
    expect(mail.text).to.include(`${gateway.baseUrl}/account/password#${token}`);
    expect(mail.html).to.include(`href="${gateway.baseUrl}/account/password#${token}"`);
    expect(await logIn(user)).to.equal(200);
    const done = await set(token, NEW, { 'x-request-id': 'req_set' });
    expect([done.status, done.text]).to.deep.equal([204, '']);
    let last: RecordedEvent | null = null;
    for await (const event of gateway.storage.store.readStream(USER.stream(user.userId))) last = event;
    const { account, actor, $causationId: cause } = JSON.parse(last?.metadata ?? '{}') as Record<string, string>;
    expect([last?.type, account, actor, cause]).to.deep.equal([
      ...['UserPasswordChanged', gateway.tenant.accountId, `user:usr_${user.userId}`, 'req_set'],
    ]);
    // The old hash was deleted.
    const { passwordId } = JSON.parse(last?.data ?? '{}') as { passwordId?: string };
    expect(await hashesOf(user.userId)).to.deep.equal([passwordId]);
    expect([await logIn(user), await logIn({ ...user, password: NEW })]).to.deep.equal([401, 200]);
    const out = await gateway.call('POST', '/v1/auth/logout', { key: null, headers: session });
    expectError(out, 401, 'unauthorized');
    await expectDead(token);
    await expectDead(token, 'outra senha ainda');
    expect(await logIn({ ...user, password: NEW })).to.equal(200);
  });
  it('return the same response for an unknown address and send no mail', async () => {
    for (const email of ['nobody@example.com', 'no address', '']) {
      expect(await reset(email)).to.deep.equal([202, '']);
      await idle();
      expect(await requestsOf(email)).to.equal(0);
    }
    expect(mailbox.mails).to.deep.equal([]);
  });
  it('stop working once another link of the user is used', async () => {
    const user = await gateway.addUser();
    const tokens: string[] = [];
    for (let i = 0; i < 2; i++) {
      await reset(user.email);
      tokens.push(tokenIn(await mailbox.take(user.email)));
      await idle();
    }
    expect(tokens[0]).to.not.equal(tokens[1]);
    expect((await set(tokens[1] as string)).status).to.equal(204);
    await expectDead(tokens[0] as string);
  });
  it('stop working once the user changes the password in a session', async () => {
    const user = await gateway.addUser();
    await reset(user.email);
    const token = tokenIn(await mailbox.take(user.email));
    const headers = await gateway.logIn('OWNER', user);
    const body = { current_password: user.password, new_password: 'trocada na sessão' };
    expect((await gateway.call('POST', '/v1/auth/password', { key: null, headers, body })).status).to.equal(204);
    await expectDead(token);
    expect(await logIn({ ...user, password: body.new_password })).to.equal(200);
  });
  it('set one password when used twice at the same time', async () => {
    const user = await gateway.addUser();
    await reset(user.email);
    const token = tokenIn(await mailbox.take(user.email));
    const wishes = ['a primeira senha', 'a segunda senha'];
    const replies = await Promise.all(wishes.map((password) => set(token, password)));
    expect(replies.map(({ status }) => status).sort()).to.deep.equal([204, 400]);
    const won = replies.findIndex(({ status }) => status === 204);
    for (const [i, password] of wishes.entries())
      expect(await logIn({ email: user.email, password })).to.equal(i === won ? 200 : 401);
  });
  it('expire after an hour; a rejected password does not use them up', async () => {
    const user = await gateway.addUser();
    await reset(user.email);
    const token = tokenIn(await mailbox.take(user.email));
    expectError(await set(token, 'short'), 400, 'invalid_request', 'password');
    const age = (by: string) =>
      gateway.storage.operations.query(
        `UPDATE operations.password_links SET expires_at = expires_at - interval '${by}' WHERE user_id = $1`,
        [user.userId],
      );
    await age('59 minutes');
    expectError(await set(token, 'short'), 400, 'invalid_request', 'password');
    await age('1 minute');
    await expectDead(token);
    await expectDead('');
    await expectDead('x'.repeat(43));
    expect(await logIn(user)).to.equal(200);
  });
  it('are not sent to disabled users', async () => {
    const user = await gateway.addUser();
    await reset(user.email);
    const token = tokenIn(await mailbox.take(user.email));
    await idle();
    const { json } = await runWords(database.connectionString, 'user', 'disable', `usr_${user.userId}`, '--json');
    expect(json['status']).to.equal('disabled');
    await expectDead(token);
    await reset(user.email);
    await idle();
    expect(mailbox.mails).to.deep.equal([]);
  });
  it('are sent at most three times in 15 minutes', async () => {
    const user = await gateway.addUser();
    for (let i = 0; i < 3; i++) {
      await reset(user.email);
      await mailbox.take(user.email);
      await idle();
    }
    expect(await reset(user.email)).to.deep.equal([202, '']);
    await idle();
    expect(mailbox.mails).to.deep.equal([]);
  });
  it('are sent again after the mail server failed, with the same mail if the job died after sending', async () => {
    const user = await gateway.addUser();
    const { needs } = gateway.gateway;
    const email = user.email.toUpperCase();
    const request = { requestId: '00000000000000000000000009', purpose: 'reset', email } as const;
    const own = new Mailbox();
    let isOpen = true;
    const links = {
      ...needs.links,
      findRequest: async () => (isOpen ? request : null),
      endRequest: async () => {
        isOpen = false;
      },
    };
    const run = () => sendPasswordLink({ ...needs, mail: own, links })(request);
    own.fails = true;
    expect(await run().catch((error: Error) => error.message)).to.equal('no mail server');
    own.fails = false;
    await run();
    await run();
    isOpen = true;
    // The mail repeats a link already sent, even if other links were opened since.
    for (const token of ['one', 'two']) await needs.links.open(token, { userId: user.userId, replaces: null });
    await run();
    expect(own.mails).to.have.length(2);
    const [first, second] = own.mails as [Mail, Mail];
    expect(second).to.deep.equal(first);
    // The mail goes to the user’s stored address, not to the spelling in the request.
    expect(first.to).to.equal(user.email);
    expect((await set(tokenIn(first))).status).to.equal(204);
  });
  it('are abandoned if the mail server rejects the address', async () => {
    const user = await gateway.addUser();
    const { needs } = gateway.gateway;
    const request = { requestId: '00000000000000000000000008', purpose: 'reset', email: user.email } as const;
    const own = new Mailbox();
    own.send = async () => {
      throw new AddressRefused('no such mailbox');
    };
    const ended: string[] = [];
    const links = {
      ...needs.links,
      findRequest: async (id: string) => (ended.includes(id) ? null : request),
      endRequest: async (id: string) => void ended.push(id),
    };
    const run = () => sendPasswordLink({ ...needs, mail: own, links })(request).catch((error: Error) => error.name);
    expect([await run(), await run(), ended]).to.deep.equal(['AddressRefused', undefined, [request.requestId]]);
  });
  it('are stored with their owner but without their token', async () => {
    const user = await gateway.addUser();
    await reset(user.email);
    const token = tokenIn(await mailbox.take(user.email));
    await idle();
    const { rows } = await gateway.storage.operations.query<{ all: string }>(
      `SELECT (SELECT coalesce(jsonb_agg(l), '[]') FROM operations.password_links l)::text
        || (SELECT coalesce(jsonb_agg(j.data), '[]') FROM jobs.job j)::text AS all`,
    );
    expect(rows[0]?.all).to.include(user.userId).and.not.include(token);
  });

  describe('for an invitation', () => {
    const invite = (email: string, ...more: string[]) =>
      runWords(
        database.connectionString,
        ...['user', 'invite', '--account', `acct_${gateway.tenant.accountId}`, '--email', email, '--role', 'MEMBER'],
        ...more,
      );

    it('set the first password; another invitation replaces the link', async () => {
      const email = 'convidada@example.com';
      const { code, out } = await invite(email);
      expect([code, out]).to.deep.equal([0, `${email} gets a link, unless 3 links were sent in the last 15 minutes\n`]);
      const mail = await mailbox.take(email);
      expect(mail.subject).to.equal('Seu acesso à Quita');
      await idle();
      expect((await invite(email)).code).to.equal(0);
      const again = tokenIn(await mailbox.take(email));
      expect((await set(again)).status).to.equal(204);
      await expectDead(tokenIn(mail));
      expect(await logIn({ email, password: NEW })).to.equal(200);
      const third = await invite(email);
      expect(third.code).to.equal(2);
      expect(third.err).to.match(/quita: A user with this email address already exists\.\n$/);
    });
    it('are not sent to users who already have a password', async () => {
      const user = await gateway.addUser();
      await gateway.gateway.services.requestPasswordLink('invitation', user.email);
      await idle();
      expect([await requestsOf(user.email), mailbox.mails]).to.deep.equal([0, []]);
    });
    it('are not sent for another role or account than in the first invitation', async () => {
      const needs = gateway.gateway.needs;
      const invited = { email: 'outra@example.com', name: 'Bia', role: 'MEMBER' } as const;
      const { accountId } = gateway.tenant;
      await inviteUser(needs)({ ...invited, accountId }, BY);
      await mailbox.take(invited.email);
      for (const other of [
        { ...invited, accountId, role: 'OWNER' as const },
        { ...invited, accountId: (await gateway.newTenant()).accountId },
      ])
        expect(isRejection(await inviteUser(needs)(other, BY))).to.equal(true);
      await idle();
      expect(mailbox.mails).to.deep.equal([]);
    });
  });

  describe('open a page', () => {
    it('that is served under a strict content security policy', async () => {
      const asked = { key: null, headers: { 'accept-language': 'pt-BR' } };
      const { status, headers, text } = await gateway.get('/account/password', asked);
      expect([status, headers.get('content-type'), headers.get('cache-control')]).to.deep.equal([
        ...[200, 'text/html; charset=utf-8', 'no-store'],
      ]);
      expect(headers.get('content-security-policy'))
        .to.match(/default-src 'none'.*form-action 'none'.*frame-ancestors 'none'/)
        .and.not.match(/unsafe/);
      expect(headers.get('referrer-policy')).to.equal('no-referrer');
      expect(text)
        .to.include('<html lang="pt-BR">')
        .and.include('Defina a sua senha')
        .and.not.match(/ (style|on\w+)=/);
      for (const [, url = ''] of text.matchAll(/(?:src|href)="([^"]+assets[^"]+)"/g)) {
        const asset = await gateway.get(url, { key: null });
        expect([asset.status, asset.headers.get('cache-control')], url).to.deep.equal([
          ...[200, 'public, max-age=31536000, immutable'],
        ]);
      }
    });
  });
});
