// What operators do with accounts and provider connections on their pages. Each action succeeds, explains a rejection, handles a repetition
// and is closed to others (rules O1, D4, V1 to V5).
import { expect } from 'chai';
import { PLATFORM_PAGES } from '../../../http/kernel/callers.ts';
import { EN } from '../../../http/site/dashboard/texts/en.ts';
import { openLog } from '../../../infrastructure/log/log.ts';
import type { Simulator } from '../../simulators/pixApi/startSimulator.ts';
import { pngImage } from '../../support/images.ts';
import { enrol } from '../../support/totp.ts';
import { cookieOf, fieldsIn, ownFiles } from '../../world/browser.ts';
import { ConnectionDesk, settingsFor } from '../../world/connectionDesk.ts';
import type { TestGateway } from '../../world/gateway.ts';
import { OperatorsPages } from '../../world/operatorsPages.ts';
import { storeFinding } from '../../world/operatorsScene.ts';
import { makeCallbacks } from '../examples/callbackExamples.ts';
import { makeKey } from '../examples/routeExamples.ts';

const HOSTILE = '"><script>alert(1)</script>';
const NONE = '0'.repeat(26);
const { accounts, users, connections, reconciliation, callbacks } = EN.platform;
/** Secrets that are shown once. */
const SECRETS = /<code class="copy">([^<]+)<\/code>/g;
const secretsIn = (text: string): readonly string[] =>
  [...text.matchAll(SECRETS)].map(([, secret]) => secret as string);

describe('operators’ pages for accounts and connections', () => {
  let desk: ConnectionDesk;
  let gateway: TestGateway;
  let pages: OperatorsPages;
  let bank: Simulator;
  const logged: string[] = [];
  before(async () => {
    desk = await ConnectionDesk.open({ log: openLog('info', { write: (line) => void logged.push(line) }) });
    gateway = desk.gateway;
    pages = await OperatorsPages.open(gateway);
    bank = await desk.simulator();
  });
  after(() => desk.close());
  afterEach(() => expect(gateway.faults).to.deep.equal([]));

  const spare = async () => {
    const tenant = await gateway.newTenant();
    const user = await gateway.addUser('MEMBER', { tenant });
    await gateway.untilProjected('users', 'accounts');
    return { tenant, user, path: `/accounts/acct_${tenant.accountId}`, userPath: `/users/usr_${user.userId}` };
  };
  const canCall = async (key: string) => (await gateway.get('/v1/wallets', { key })).status === 200;
  const canLogIn = async ({ email, password }: { email: string; password: string }) =>
    (await gateway.post('/v1/auth/login', { email, password }, { key: null })).status === 200;

  describe('accounts', () => {
    it('are opened with working secrets that no later page shows', async () => {
      await pages.refused('/accounts/new', { name: HOSTILE, email: 'nobody' }, accounts.badEmail);
      await pages.refused('/accounts/new', { name: '', email: 'loja@example.com' }, 'name must be');
      await pages.refusesOthers('/accounts/new', { name: 'Loja', email: 'loja@example.com' });
      const { status, text } = await pages.send('/accounts/new', { name: 'Loja', email: 'loja@example.com' });
      expect(status, text).to.equal(200);
      const [email = '', password = '', testKey = '', liveKey = ''] = secretsIn(text);
      expect(await canLogIn({ email, password })).to.equal(true);
      for (const key of [testKey, liveKey]) expect(await canCall(key)).to.equal(true);
      const place = /accounts\/acct_[0-9a-z]{26}/.exec(text)?.[0] as string;
      const page = await pages.text(`/${place}`);
      for (const secret of [password, testKey, liveKey]) expect(page).to.not.include(secret);
      await pages.refused('/accounts/new', { name: 'Loja', email: 'loja@example.com' }, 'already exists');
    });
    it('are listed by pages, and found by id and by a user’s email address', async () => {
      const { path, user, userPath, tenant } = await spare();
      const seen: string[] = [];
      let next: string | undefined = '/accounts';
      while (next !== undefined) {
        const text: string = await pages.text(next);
        seen.push(...[...text.matchAll(/accounts\/(acct_[0-9a-z]{26})"/g)].map(([, id]) => id as string));
        next = /href="\/dashboard\/platform([^"]+)" rel="next"/.exec(text)?.[1];
      }
      expect(seen).to.include(`acct_${tenant.accountId}`);
      for (const [q, place] of [
        [`acct_${tenant.accountId}`, path],
        [user.email.toUpperCase(), userPath],
      ] as const)
        expect((await pages.show(`/accounts?q=${encodeURIComponent(q)}`)).headers.get('location')).to.equal(
          `/dashboard/platform${place}`,
        );
      for (const q of [HOSTILE, `acct_${NONE}`, 'nobody@example.com']) {
        const { status, text } = await pages.show(`/accounts?q=${encodeURIComponent(q)}`);
        expect([status, text.includes(accounts.unknown), text.includes('<script>alert')]).to.deep.equal([
          422,
          true,
          false,
        ]);
      }
    });
    it('are suspended and reopened, and the security log says by whom', async () => {
      const { path, tenant, user } = await spare();
      for (const again of [1, 2]) {
        await pages.act(`${path}/suspend`, {}, path, 'accountSuspended');
        expect([again, await canCall(tenant.testKey), await canLogIn(user)]).to.deep.equal([again, false, false]);
        expect(await pages.text(path))
          .to.include(accounts.suspendedAt)
          .and.include(accounts.reopenLead);
      }
      for (const _ of [1, 2]) await pages.act(`${path}/reopen`, {}, path, 'accountReopened');
      expect([await canCall(tenant.testKey), await canLogIn(user)]).to.deep.equal([true, true]);
      const id = `acct_${tenant.accountId}`;
      const by = `user:usr_${pages.operator.userId}`;
      const done = logged.map((line) => JSON.parse(line)).filter((one) => one.id === id && one.status === 303);
      const expected = ['suspend', 'suspend', 'reopen', 'reopen'].map(
        (verb) => `operator_request ${verb}AccountFromPage ${by}`,
      );
      expect(done.map((one) => `${one.security} ${one.operation} ${one.by}`)).to.deep.equal(expected);
      for (const verb of ['suspend', 'reopen', 'settings', 'users'])
        expect(
          (await pages.send(`/accounts/acct_${NONE}/${verb}`, { option: 'name', value: 'x', email: 'a@example.com' }))
            .status,
          verb,
        ).to.equal(404);
    });
    it('have settings that are changed by text, with a message for invalid ones', async () => {
      const { path, tenant } = await spare();
      const settingsOf = async () => (await gateway.gateway.services.platform.findAccount(tenant.accountId))?.settings;
      await pages.act(`${path}/settings`, { option: 'fees', value: 'PIX=/50+7' }, path, 'settingsChanged');
      expect((await settingsOf())?.fees.PIX.platform).to.deep.equal({ percentBps: 50, fixed: 7 });
      await pages.act(`${path}/settings`, { option: 'velocity-customer', value: '5' }, path, 'settingsChanged');
      expect((await settingsOf())?.velocity).to.deep.equal({ customerPerHour: 5, accountPerHour: 1_000 });
      const again = await pages.refused(`${path}/settings`, { option: 'hold-days', value: HOSTILE }, 'must be like');
      expect(again)
        .to.include('<details open>')
        .and.include('value="&quot;&gt;&lt;script')
        .and.not.include('<script>alert');
      await pages.refused(`${path}/settings`, { option: 'color', value: 'red' }, 'color must');
      await pages.refused(`${path}/settings`, { option: 'nothing', value: '1' }, 'The value is invalid');
    });
    it('show their keys and revoke one, once', async () => {
      const { path, tenant } = await spare();
      const keyId = await makeKey(gateway, 'till', tenant);
      expect(await pages.text(path))
        .to.include('till')
        .and.include(`${path}/keys/${keyId}/revoke`);
      await pages.act(`${path}/keys/${keyId}/revoke`, {}, path, 'keyRevoked');
      expect(await pages.text(path)).to.not.include(keyId);
      expect((await pages.send(`${path}/keys/${keyId}/revoke`)).status).to.equal(404);
      const other = await makeKey(gateway);
      expect((await pages.send(`${path}/keys/${other}/revoke`)).status).to.equal(404);
    });
    it('get keys of either mode, which are shown once and rotated', async () => {
      const { path } = await spare();
      const shownKey = async (at: string, fields: Readonly<Record<string, string>>): Promise<string> => {
        await pages.refusesOthers(at, fields);
        const { status, text } = await pages.send(at, fields);
        expect(status, text).to.equal(200);
        return secretsIn(text)[0] as string;
      };
      const live = await shownKey(`${path}/keys`, { mode: 'live', label: HOSTILE });
      const test = await shownKey(`${path}/keys`, { mode: 'test', label: '' });
      expect([live.slice(0, 8), test.slice(0, 8)]).to.deep.equal(['ak_live_', 'ak_test_']);
      expect([await canCall(live), await canCall(test)]).to.deep.equal([true, true]);
      const again = await pages.refused(`${path}/keys`, { mode: 'test', label: 'x'.repeat(65) }, 'label');
      expect(again).to.include(`value="${'x'.repeat(65)}"`);
      const page = await pages.text(path);
      expect(page).to.include('&lt;script&gt;').and.not.include(live).and.not.include(test);
      const at = /\/accounts\/acct_\w+\/keys\/key_\w+\/rotate/.exec(page)?.[0] as string;
      const rotated = await shownKey(at, {});
      expect([await canCall(rotated), await canCall(test), await canCall(live)]).to.deep.equal([true, false, true]);
      expect((await pages.send(at)).status).to.equal(404);
      await pages.refused(at, fieldsIn(page, PLATFORM_PAGES + at), 'A secret is shown only once');
      expect((await pages.send(`/accounts/acct_${NONE}/keys`, { mode: 'test' })).status).to.equal(404);
    });
    it('get one key per form, even if it is sent again', async () => {
      const { path } = await spare();
      const form = { ...fieldsIn(await pages.text(path), `${PLATFORM_PAGES}${path}/keys`), label: 'once' };
      const sent = await Promise.all([1, 2].map(() => pages.send(`${path}/keys`, form)));
      expect(sent.map(({ status }) => status).toSorted()).to.deep.equal([200, 422]);
      const again = await pages.refused(`${path}/keys`, form, 'A secret is shown only once');
      expect(again.match(/>once</g)).to.have.length(1);
      expect((await pages.send(`${path}/keys`, fieldsIn(again, `${PLATFORM_PAGES}${path}/keys`))).status).to.equal(200);
    });
    it('show all of their keys and users, by pages', async () => {
      const { path, tenant } = await spare();
      const wanted = new Set<string>();
      for (let n = 0; n < 45; n++) wanted.add(await makeKey(gateway, `key ${n}`, tenant));
      for (let n = 0; n < 45; n++)
        wanted.add(`usr_${(await gateway.addUser('VIEWER', { tenant, password: null })).userId}`);
      await gateway.untilProjected('users');
      const follow = async (param: string, of: RegExp): Promise<readonly string[]> => {
        const listed: string[] = [];
        for (let at: string | undefined = path; at !== undefined; ) {
          const page = await pages.text(at);
          listed.push(...new Set([...page.matchAll(of)].map(([, id]) => id as string)));
          at = new RegExp(`${path}\\?${param}=\\w+`).exec(page)?.[0];
        }
        return listed;
      };
      const keys = await follow('keysAfter', /\/keys\/(key_\w+)\/revoke/g);
      const users = await follow('usersAfter', /\/users\/(usr_\w+)"/g);
      expect([new Set(keys).size, new Set(users).size]).to.deep.equal([keys.length, users.length]);
      expect(new Set([...keys, ...users])).to.include.keys(...wanted);
    });
    it('get and lose a logo, and reject a file that is not an image', async () => {
      const { path, tenant } = await spare();
      const send = (bytes: Uint8Array, headers: Readonly<Record<string, string>> = cookieOf(pages.bearer)) => {
        const form = ownFiles(pages.bearer, [{ field: 'logo', name: 'logo.png', type: 'image/png', bytes }]);
        return gateway.call<unknown>('POST', `/dashboard/platform${path}/logo`, {
          key: null,
          raw: form.raw,
          headers: { accept: 'text/html', 'accept-language': 'en', ...headers, ...form.headers },
        });
      };
      const logoOf = async () => (await gateway.gateway.services.platform.findAccount(tenant.accountId))?.settings.logo;
      const sent = await send(pngImage());
      expect(sent.headers.get('location'), sent.text).to.equal(`/dashboard/platform${path}?done=logoChanged`);
      const logo = await logoOf();
      expect(await pages.text(path))
        .to.include(`${logo}`)
        .and.include('class="logo-image"');
      const refused = await send(Buffer.from('<svg onload=alert(1)>'));
      expect([refused.status, refused.text.includes('role="alert"')], refused.text).to.deep.equal([422, true]);
      expect(await logoOf()).to.equal(logo);
      const owner = await gateway.logIn('OWNER', await gateway.addUser('OWNER', { tenant }));
      expect((await send(pngImage(), cookieOf(owner))).status).to.equal(403);
      await pages.act(`${path}/logo/remove`, {}, path, 'logoRemoved');
      expect(await logoOf()).to.equal(null);
    });
  });

  describe('users', () => {
    it('are added with a password that is shown once, or invited', async () => {
      const { path } = await spare();
      const fields = { email: 'caixa@example.com', name: HOSTILE, role: 'VIEWER', how: 'password' };
      await pages.refusesOthers(`${path}/users`, fields);
      const { status, text } = await pages.send(`${path}/users`, fields);
      expect(status, text).to.equal(200);
      const [email = '', password = ''] = secretsIn(text);
      expect(await canLogIn({ email, password })).to.equal(true);
      const page = await pages.text(path);
      expect(page).to.include('&lt;script&gt;').and.include(users.roles.VIEWER).and.not.include(password);
      await pages.refused(`${path}/users`, fields, 'already exists');
      await pages.refused(`${path}/users`, { ...fields, email: 'x' }, accounts.badEmail);
      const invited = { email: 'novo@example.com', name: '', role: 'ADMIN', how: 'invite' };
      await pages.act(`${path}/users`, invited, path, 'userInvited');
      expect(await pages.text(path)).to.include('novo@example.com');
    });
    it('are shown as invited until they have a password, and can be invited again', async () => {
      const { path, tenant } = await spare();
      const invited = { email: 'convidada@example.com', name: '', role: 'MEMBER', how: 'invite' };
      await pages.act(`${path}/users`, invited, path, 'userInvited');
      expect(await pages.text(path))
        .to.include(EN.userStatuses.invited)
        .and.include(users.inviteAgain);
      // Sends the form of the user’s row.
      await pages.act(`${path}/users`, { email: invited.email, role: invited.role }, path, 'userInvited');
      await gateway.addUser('VIEWER', { tenant, password: null, email: 'outra@example.com' });
      await gateway.untilProjected('users');
      const text = await pages.text(path);
      expect(text.split(EN.userStatuses.invited)).to.have.length(3);
      const userPath = /\/users\/usr_\w+(?=">convidada)/.exec(text)?.[0] as string;
      expect(await pages.text(userPath)).to.include(EN.userStatuses.invited);
      await pages.act(`${userPath}/disable`, {}, userPath, 'userDisabled');
      expect((await pages.text(path)).split(EN.userStatuses.invited)).to.have.length(2);
    });
    it('of the platform are added as operators, disabled and enabled', async () => {
      const at = '/operators';
      const fields = { email: 'plantao@example.com', name: HOSTILE, how: 'password' };
      await pages.refusesOthers(at, fields);
      await pages.refused(at, { ...fields, email: 'x' }, accounts.badEmail);
      const { status, text } = await pages.send(at, fields);
      expect(status, text).to.equal(200);
      const [email = '', password = ''] = secretsIn(text);
      expect(await canLogIn({ email, password })).to.equal(true);
      await pages.refused(at, fields, 'already exists');
      await pages.act(at, { email: 'novata@example.com', how: 'invite' }, at, 'userInvited');
      const { user } = await spare();
      const page = await pages.text(at);
      expect(page).to.include('&lt;script&gt;').and.include(EN.userStatuses.invited);
      expect(page).to.not.include(password).and.not.include(user.email);
      const userPath = /\/users\/usr_\w+(?=">&quot;)/.exec(page)?.[0] as string;
      await pages.act(`${userPath}/disable`, {}, userPath, 'userDisabled');
      expect(await canLogIn({ email, password })).to.equal(false);
      await pages.act(`${userPath}/enable`, {}, userPath, 'userEnabled');
      expect(await canLogIn({ email, password })).to.equal(true);
      expect(await pages.text(userPath)).to.include(`href="/dashboard/platform${at}"`);
    });
    it('of the platform are listed by pages', async () => {
      for (let n = 0; n < 51; n++)
        await gateway.addUser('OPERATOR', { password: null, email: `operator-${n}@example.com` });
      await gateway.untilProjected('users');
      const first = await pages.text('/operators');
      const next = /href="\/dashboard\/platform([^"]+)" rel="next"/.exec(first)?.[1] as string;
      const second = await pages.text(next);
      const listed = [first, second].flatMap((page) => page.match(/operator-\d+@example\.com(?=<)/g) ?? []);
      expect(new Set(listed).size).to.equal(51);
      expect(listed).to.have.length(51);
      expect(second).to.include(accounts.first).and.not.include('rel="next"');
    });
    it('are disabled and enabled, change roles, and get a password link', async () => {
      const { userPath, user } = await spare();
      await pages.act(`${userPath}/disable`, {}, userPath, 'userDisabled');
      expect(await canLogIn(user)).to.equal(false);
      expect(await pages.text(userPath))
        .to.include(users.enableLead)
        .and.include(EN.userStatuses.disabled);
      await pages.act(`${userPath}/enable`, {}, userPath, 'userEnabled');
      expect(await canLogIn(user)).to.equal(true);
      await pages.act(`${userPath}/role`, { role: 'ADMIN' }, userPath, 'roleChanged');
      expect(await pages.text(userPath)).to.include('value="ADMIN" selected');
      await pages.act(`${userPath}/password-link`, {}, userPath, 'passwordLinkSent');
      for (const verb of ['disable', 'enable', 'role', 'password-link', 'reset-second-factor'])
        expect((await pages.send(`/users/usr_${NONE}/${verb}`, { role: 'ADMIN' })).status, verb).to.equal(404);
    });
    it('keep the role OWNER if they are the last one', async () => {
      const tenant = await gateway.newTenant();
      const owner = await gateway.addUser('OWNER', { tenant });
      await gateway.untilProjected('users');
      await pages.refused(`/users/usr_${owner.userId}/role`, { role: 'VIEWER' }, 'OWNER');
      const operator = await gateway.addUser('OPERATOR');
      await pages.refused(`/users/usr_${operator.userId}/role`, { role: 'OWNER' }, 'OPERATOR');
    });
    it('lose their second factor and their sessions with it', async () => {
      const { userPath, user } = await spare();
      const { authorization } = await gateway.logIn('MEMBER', user);
      await enrol(gateway, { authorization });
      expect(await canLogIn(user)).to.equal(false);
      await pages.act(`${userPath}/reset-second-factor`, {}, userPath, 'factorReset');
      expect(await canLogIn(user)).to.equal(true);
      expect((await gateway.get('/v1/account', { key: null, headers: { authorization } })).status).to.equal(401);
      expect(gateway.securityEvents.filter(({ security }) => security === 'second_factor_reset')).to.not.deep.equal([]);
      expect(await pages.text(userPath)).to.include(users.noFactor);
    });
  });

  describe('connections', () => {
    const fieldsFor = (of: Simulator) => {
      const { allowPrivate: _, ...fields } = settingsFor(of);
      return { ...fields, order: '3', allowPrivate: 'on', name: `Banco ${HOSTILE}` };
    };
    /** Adds a connection. Returns its id and the page shown. */
    const shownNew = async () => {
      const { status, text } = await pages.send('/connections/new', fieldsFor(bank));
      expect(status, text).to.equal(200);
      return { id: /connections\/(pc_[0-9a-z]{26})/.exec(text)?.[1] as string, text };
    };
    const added = async (): Promise<string> => (await shownNew()).id;
    /** Returns the secret of the callback URL that the page shows. */
    const callbackSecretIn = (text: string, id: string): string => {
      const [url = ''] = secretsIn(text);
      expect(url).to.match(new RegExp(`^${gateway.baseUrl}/providers/${id}/[0-9a-f]{32}$`));
      return url.slice(-32);
    };

    it('are added with a callback URL that no later page shows', async () => {
      const fields = fieldsFor(bank);
      await pages.refusesOthers('/connections/new', fields);
      const again = await pages.refused('/connections/new', { ...fields, preset: 'none' }, 'preset must be one of');
      expect(again).to.include('value="none"').and.not.include(fields.clientSecret).and.not.include('<script>alert');
      await pages.refused('/connections/new', { ...fields, accountId: 'acct_x' }, connections.fields.accountId);
      await pages.refused('/connections/new', { ...fields, order: '-1' }, connections.fields.order);
      const { id, text } = await shownNew();
      const secret = callbackSecretIn(text, id);
      const page = await pages.text(`/connections/${id}`);
      expect(page)
        .to.include(connections.circuits.closed)
        .and.include(connections.statuses.enabled)
        .and.not.include('<script>alert')
        .and.not.include(secret);
      expect(await pages.text('/connections'))
        .to.include(id)
        .and.not.include(secret);
    });
    it('are changed, drained, disabled, enabled and removed', async () => {
      const id = await added();
      const path = `/connections/${id}`;
      const view = () => desk.show(id);
      const fields = { ...fieldsFor(bank), clientSecret: '', name: 'Outro banco', order: '9' };
      await pages.act(path, fields, path, 'connectionChanged');
      expect(await view()).to.include({ name: 'Outro banco', order: 9, allowPrivate: true, preset: 'generic' });
      const again = await pages.refused(path, { ...fields, baseUrl: HOSTILE }, 'baseUrl');
      expect(again).to.include('value="&quot;&gt;&lt;script').and.not.include('<script>alert');
      await pages.refused(path, { ...fields, order: 'x' }, connections.fields.order);
      for (const [verb, status] of [
        ['drain', 'draining'],
        ['disable', 'disabled'],
        ['enable', 'enabled'],
        ['enable', 'enabled'],
      ] as const) {
        await pages.act(`${path}/${verb}`, {}, path, 'connectionChanged');
        expect((await view()).status).to.equal(status);
      }
      await pages.refused(`${path}/client-secret`, { clientSecret: '' }, 'clientSecret');
      await pages.act(`${path}/client-secret`, { clientSecret: 'a new secret' }, path, 'connectionChanged');
      await pages.act(`${path}/remove`, {}, '/connections', 'connectionRemoved');
      expect(await pages.text('/connections')).to.not.include(id);
      for (const verb of ['', '/enable', '/client-secret', '/callback-url', '/check', '/webhook', '/compare'])
        expect(
          (await pages.send(`/connections/pc_${NONE}${verb}`, { ...fields, clientSecret: 'x' })).status,
          verb,
        ).to.equal(404);
    });
    it('are added once, even if the form is sent again', async () => {
      const shown = fieldsIn(await pages.text('/connections/new'), `${PLATFORM_PAGES}/connections/new`);
      const form = { ...shown, ...fieldsFor(bank), name: 'Banco uma vez' };
      const sent = await Promise.all([1, 2, 3].map(() => pages.send('/connections/new', form)));
      expect(sent.map(({ status }) => status).toSorted()).to.deep.equal([200, 422, 422]);
      await pages.refused('/connections/new', form, 'This form was already sent');
      expect((await pages.text('/connections')).match(/>Banco uma vez</g)).to.have.length(1);
      const [url = ''] = secretsIn(sent.find(({ status }) => status === 200)?.text ?? '');
      const headers = { 'content-type': 'application/json' };
      expect((await fetch(url, { method: 'POST', body: '{"pix":[]}', headers })).status).to.equal(200);
    });
    it('keep what another operator changed while the form was open', async () => {
      const id = await added();
      const path = `/connections/${id}`;
      const form = fieldsIn(await pages.text(path), PLATFORM_PAGES + path);
      const key = 'nova-chave@example.com';
      expect((await desk.ask('PATCH', `/${id}`, { pixKey: key, order: 5 })).status).to.equal(200);
      await pages.act(path, { ...form, name: 'Outro banco' }, path, 'connectionChanged');
      expect(await desk.show(id)).to.include({ name: 'Outro banco', pixKey: key, order: 5, allowPrivate: true });
      const words = EN.settings.contested(connections.fields.order);
      const refused = await pages.refused(path, { ...form, clientId: 'cliente-b', order: '7' }, words);
      const again = fieldsIn(refused, PLATFORM_PAGES + path);
      expect(again).to.include({ name: 'Outro banco', clientId: 'cliente-b', pixKey: key, order: '5' });
      expect(await desk.show(id)).to.include({ clientId: form['clientId'], order: 5 });
      await pages.act(path, { ...again, order: '7' }, path, 'connectionChanged');
      expect(await desk.show(id)).to.include({ name: 'Outro banco', clientId: 'cliente-b', pixKey: key, order: 7 });
    });
    it('are checked, and register their callback URL, which can be replaced', async () => {
      const id = await added();
      const path = `/connections/${id}`;
      const show = async () => (await pages.send(`${path}/webhook`, { as: 'show' })).text;
      const before = await show();
      expect(before).to.satisfy(
        (text: string) => text.includes(connections.noWebhook) || text.includes(connections.webhookOther),
      );
      await pages.refusesOthers(`${path}/check`);
      const checked = await pages.send(`${path}/check`);
      expect([checked.status, checked.text.includes(connections.checkGood)], checked.text).to.deep.equal([200, true]);
      expect(await show()).to.include(connections.webhookCurrent);
      const rotated = await pages.send(`${path}/callback-url`);
      const secret = callbackSecretIn(rotated.text, id);
      expect(await pages.text(path))
        .to.include(connections.previousCallback)
        .and.not.include(secret);
      expect(await show()).to.include(connections.webhookOther);
      await desk.untilVersion(id, 2);
      const registered = await pages.send(`${path}/webhook`, { as: 'register' });
      expect(registered.text).to.include(connections.webhookCurrent);
    });
    it('replace their callback URL once, even if the form is sent again', async () => {
      const { id, callbackUrl } = await desk.add(bank);
      const path = `/connections/${id}`;
      const form = fieldsIn(await pages.text(path), `${PLATFORM_PAGES}${path}/callback-url`);
      const rotated = await pages.send(`${path}/callback-url`, form);
      expect(rotated.status, rotated.text).to.equal(200);
      await pages.refused(`${path}/callback-url`, form, 'This form was already sent');
      await desk.untilVersion(id, 2);
      const [newUrl = ''] = secretsIn(rotated.text);
      for (const url of [callbackUrl, newUrl]) {
        const headers = { 'content-type': 'application/json' };
        expect((await fetch(url, { method: 'POST', body: '{"pix":[]}', headers })).status).to.equal(200);
      }
      const twice = await Promise.all(
        [1, 2].map(async () => pages.send(`${path}/callback-url`, { seen: (await desk.show(id)).changedAt })),
      );
      expect(twice.map(({ status }) => status).toSorted()).to.deep.equal([200, 422]);
    });
    it('say why an institution can’t be reached', async () => {
      const id = await added();
      await pages.send(`/connections/${id}`, {
        ...fieldsFor(bank),
        baseUrl: 'http://127.0.0.1:1',
        tokenUrl: 'http://127.0.0.1:1/token',
      });
      const checked = await pages.send(`/connections/${id}/check`);
      expect([checked.status, checked.text.includes(connections.checkBad)]).to.deep.equal([200, true]);
      await pages.send(`/connections/${id}/disable`);
      await pages.refused(`/connections/${id}/compare`, {}, 'No enabled or draining provider connection has this id.');
    });
    it('show unresolved callbacks and resolve them with a reason, once', async () => {
      const { callbackConnectionId: id, callbackId } = await makeCallbacks(gateway);
      const path = `/connections/${id}`;
      expect(await pages.text(path))
        .to.include(callbacks.outcomes.unmatched)
        .and.include(`${path}/callbacks/${callbackId}/resolve`);
      const resolve = `${path}/callbacks/${callbackId}/resolve`;
      for (const reason of [' ', 'x'.repeat(501)]) await pages.refused(resolve, { reason }, EN.platform.badReason);
      await pages.act(resolve, { reason: 'A customer paid to the key.' }, path, 'callbackResolved');
      expect(await pages.text(path)).to.include(callbacks.empty);
      expect((await pages.send(`${path}/callbacks/999999/resolve`, { reason: 'x' })).status).to.equal(404);
    });
    it('are compared, report a day, and list findings to resolve with a reason, once', async () => {
      const id = await added();
      const path = `/connections/${id}`;
      await pages.refusesOthers(`${path}/compare`);
      const compared = await pages.send(`${path}/compare`);
      expect(compared.headers.get('location')).to.match(new RegExp(`${path}\\?done=compar(ed|ing)$`));
      expect(await pages.text(`${path}/report?day=2026-11-21`))
        .to.include(reconciliation.sums)
        .and.include(reconciliation.noFindings);
      for (const day of ['', 'x', '2026-02-30'])
        expect((await pages.show(`${path}/report?day=${day}`)).text).to.include(EN.payments.badDay);
      // Findings are stored on a connection that is never compared, because a comparison resolves findings that the institution doesn’t
      // list.
      const { callbackConnectionId: other } = await makeCallbacks(gateway);
      const finding = await storeFinding(gateway, other);
      expect(await pages.text('/connections/findings'))
        .to.include(reconciliation.kinds.missing_here)
        .and.include('R$')
        .and.include('12.34');
      const resolve = `/connections/findings/${finding}/resolve`;
      await pages.refused(resolve, { reason: '' }, EN.platform.badReason);
      await pages.act(resolve, { reason: 'Returned from the bank’s app.' }, '/connections/findings', 'findingResolved');
      expect(await pages.text('/connections/findings')).to.include(reconciliation.noFindings);
      expect(await pages.text('/connections/findings?all=1')).to.include('Returned from the bank’s app.');
      expect((await pages.send(resolve, { reason: 'again' })).status).to.equal(404);
    });
  });

  it('cut a long list, say so and stay below 60 kB', async () => {
    const { callbackConnectionId } = await makeCallbacks(gateway);
    for (let n = 100; n < 150; n++) await storeFinding(gateway, callbackConnectionId, n);
    expect(await pages.text('/connections/findings')).to.include(EN.platform.cut(40, 50));
    await gateway.storage.operations.query(`DELETE FROM operations.reconciliation_findings`);
  });

  it('list operators’ requests in the security log, newest first, and no merchants’', async () => {
    const { path } = await spare();
    await gateway.get('/v1/wallets');
    for (let n = 0; n < 50; n++) await pages.send(`${path}/reopen`);
    await pages.show(path);
    await gateway.writeRequests();
    const log = await pages.text('/security?all=1');
    const first = log.indexOf(`GET /dashboard/platform${path}`);
    expect(first).to.be.greaterThan(0);
    expect(log).to.include('POST /dashboard/platform').and.not.include('/v1/wallets');
    expect(log).to.include('rel="next"');
    const next = /href="\/dashboard\/platform([^"]+)" rel="next"/.exec(log)?.[1]?.replaceAll('&amp;', '&') as string;
    expect(await pages.text(next)).to.not.include(`GET /dashboard/platform${path}<`);
    const changes = await pages.text('/security');
    expect(changes).to.include(`POST /dashboard/platform${path}/reopen`).and.not.include('<code>GET');
    expect(changes).to.include(`>Ana Souza</a>`);
    const { events, eventsTitle } = EN.platform.security;
    expect(changes)
      .to.include(eventsTitle)
      .and.include(events['operator_request'])
      .and.include('reopenAccountFromPage');
    expect(await pages.text(next)).to.not.include(eventsTitle);
  });
});
