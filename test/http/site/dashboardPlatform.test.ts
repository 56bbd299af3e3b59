// The operators’ dashboard: who may enter, on which listener (rules S7, D4, D5).
import { expect } from 'chai';
import { EN } from '../../../http/site/dashboard/texts/en.ts';
import { PT } from '../../../http/site/dashboard/texts/pt.ts';
import { codeOf } from '../../support/totp.ts';
import { cookieOf, formOf, ownForm } from '../../world/browser.ts';
import type { CallOptions, TestGateway, TestUser } from '../../world/gateway.ts';
import { openReady } from '../../world/http.ts';

const HTML = { accept: 'text/html', 'accept-language': 'en' };
const SIGN_IN = '/dashboard/sign-in';
const PLATFORM = '/dashboard/platform';

const browserOf =
  (gateway: TestGateway) =>
  (method: string, path: string, { headers, ...options }: CallOptions = {}) =>
    gateway.call<unknown>(method, path, { key: null, ...options, headers: { ...HTML, ...headers } });
const fieldsOf = ({ email, password }: TestUser) => ({ email, password });
/** Returns the cookie set by an answer, as a header. */
const cookieIn = ({ headers }: { headers: Headers }) => ({
  cookie: (headers.get('set-cookie') ?? '').split(';')[0] as string,
});

describe('the operators’ dashboard', () => {
  let gateway: TestGateway;
  let browse: ReturnType<typeof browserOf>;
  let operator: TestUser;
  let owner: TestUser;
  before(async () => {
    gateway = await openReady();
    browse = browserOf(gateway);
    operator = await gateway.addUser('OPERATOR');
    owner = await gateway.addUser('OWNER');
  });
  after(() => gateway.close());
  afterEach(() => expect(gateway.faults).to.deep.equal([]));

  const signIn = (user: TestUser, next: string) => browse('POST', SIGN_IN, formOf({ ...fieldsOf(user), next }));
  const ofOperator = async () => cookieOf(await gateway.logIn('OPERATOR', operator));
  const ofOwner = async () => cookieOf(await gateway.logIn('OWNER', owner));

  it('is where operators land after signing in, and nobody else', async () => {
    for (const [user, next, place] of [
      [operator, '', '/dashboard'],
      [operator, `${PLATFORM}/settings`, `${PLATFORM}/settings`],
      [operator, '/dashboard/live/payments', '/dashboard'],
      [owner, '', '/dashboard'],
      [owner, `${PLATFORM}/settings`, '/dashboard'],
      [owner, PLATFORM, '/dashboard'],
      [owner, '/dashboard/live/payments', '/dashboard/live/payments'],
    ] as const)
      expect((await signIn(user, next)).headers.get('location'), `${user.email} ${next}`).to.equal(place);
    for (const [headers, place] of [
      [await ofOperator(), PLATFORM],
      [await ofOwner(), '/dashboard/test'],
    ] as const)
      expect((await browse('GET', '/dashboard', { headers })).headers.get('location')).to.equal(place);
  });
  it('rejects members of accounts, as their pages reject operators, with a link to their own dashboard', async () => {
    const ofPlatform = await browse('GET', PLATFORM, { headers: await ofOwner() });
    expect(ofPlatform.status).to.equal(403);
    expect(ofPlatform.text).to.include('This page is for operators of the platform').and.include('href="/dashboard"');
    const ofAccount = await browse('GET', '/dashboard/test/payments', { headers: await ofOperator() });
    expect(ofAccount.status).to.equal(403);
    expect(ofAccount.text).to.include('This page is for merchants').and.include('href="/dashboard"');
    const page = await browse('GET', PLATFORM, { headers: { ...(await ofOwner()), 'accept-language': 'pt-BR' } });
    expect(page.text).to.include('Esta página é dos operadores da plataforma');
  });
  it('makes a browser sign in and returns to the requested page', async () => {
    const { status, headers } = await browse('GET', `${PLATFORM}?lang=pt`);
    const next = encodeURIComponent(`${PLATFORM}?lang=pt`);
    expect([status, headers.get('location')]).to.deep.equal([303, `${SIGN_IN}?next=${next}`]);
  });
  it('has its own banner and sections, in both languages, so nobody mistakes it for a merchant’s', async () => {
    for (const [language, texts] of [
      ['en', EN],
      ['pt-BR', PT],
    ] as const) {
      const headers = { ...(await ofOperator()), 'accept-language': language };
      const { status, text, headers: sent } = await browse('GET', PLATFORM, { headers });
      expect(status).to.equal(200);
      expect(text).to.include(texts.platform.band).and.include('class="in platform"');
      for (const name of Object.values(texts.platform.sections)) expect(text).to.include(`>${name}</a>`);
      expect(text).to.not.include(texts.mode.live).and.not.include('/dashboard/test');
      expect(text).to.not.match(/ style=| on\w+=/);
      expect(sent.get('content-security-policy')).to.include("default-src 'none'");
    }
  });
  it('rejects forged forms and accepts its own', async () => {
    const bearer = await gateway.logIn('OPERATOR', operator);
    const headers = cookieOf(bearer);
    const path = `${PLATFORM}/settings/second-factor`;
    for (const [form, more] of [
      [formOf({ csrf: '' }), { 'sec-fetch-site': 'same-origin' }],
      [ownForm(bearer), { 'sec-fetch-site': 'cross-site' }],
      [ownForm(await gateway.logIn('OPERATOR', operator)), { 'sec-fetch-site': 'same-origin' }],
    ] as const)
      expect((await browse('POST', path, { ...form, headers: { ...headers, ...more } })).status).to.equal(403);
    expect((await browse('POST', path, { ...ownForm(bearer), headers })).status).to.equal(200);
  });
  it('rejects an operator who was disabled during the session', async () => {
    const leaving = await gateway.addUser('OPERATOR');
    const bearer = await gateway.logIn('OPERATOR', leaving);
    const headers = cookieOf(bearer);
    expect((await browse('GET', PLATFORM, { headers })).status).to.equal(200);
    await gateway.gateway.services.platform.disableUser(leaving.userId, { actor: 'operator:test', requestId: null });
    expect((await browse('GET', PLATFORM, { headers })).status).to.equal(303);
    const form = ownForm(bearer, { current: leaving.password, wanted: 'outra senha de teste' });
    expect((await browse('POST', `${PLATFORM}/settings/password`, { ...form, headers })).status).to.equal(401);
  });
  it('lets operators change their own password', async () => {
    const user = await gateway.addUser('OPERATOR');
    const bearer = await gateway.logIn('OPERATOR', user);
    const send = (current: string, wanted: string) =>
      browse('POST', `${PLATFORM}/settings/password`, {
        ...ownForm(bearer, { current, wanted }),
        headers: cookieOf(bearer),
      });
    const wrong = await send('not this one', 'uma nova senha boa');
    expect([wrong.status, wrong.text.includes(EN.settings.wrongPassword)]).to.deep.equal([422, true]);
    const done = await send(user.password, 'uma nova senha boa');
    expect([done.status, done.headers.get('location')]).to.deep.equal([
      303,
      `${PLATFORM}/settings?done=passwordChanged`,
    ]);
    expect((await browse('GET', `${PLATFORM}/settings`, { headers: cookieOf(bearer) })).status).to.equal(200);
  });
});

describe('the operators’ dashboard in production', () => {
  it('opens after the operator enrolled a second factor, whose code is then required', async () => {
    const gateway = await openReady({ operatorsNeedSecondFactor: true });
    try {
      const browse = browserOf(gateway);
      const user = await gateway.addUser('OPERATOR');
      const signedIn = await browse('POST', SIGN_IN, formOf(fieldsOf(user)));
      const headers = cookieIn(signedIn);
      const bearer = { authorization: `Bearer ${headers.cookie.split('=')[1]}` };
      const closed = await browse('GET', PLATFORM, { headers });
      expect([closed.status, closed.headers.get('location')]).to.deep.equal([303, `${PLATFORM}/settings`]);
      const settings = await browse('GET', `${PLATFORM}/settings`, { headers });
      expect(settings.text).to.include(EN.platform.settings.enrolFirst);
      const begun = await browse('POST', `${PLATFORM}/settings/second-factor`, { ...ownForm(bearer), headers });
      const secret = /data-copy="([A-Z2-7]+)"/.exec(begun.text)?.[1] as string;
      const confirm = (code: string) =>
        browse('POST', `${PLATFORM}/settings/second-factor/confirm`, { ...ownForm(bearer, { code }), headers });
      const wrong = await confirm('000000x');
      expect([wrong.status, wrong.text.includes(EN.settings.wrongCode)]).to.deep.equal([422, true]);
      const done = await confirm(codeOf(secret));
      expect([done.status, (done.text.match(/<li><code>/g) ?? []).length]).to.deep.equal([200, 10]);
      expect((await browse('GET', PLATFORM, { headers })).status).to.equal(200);
      const asked = await browse('POST', SIGN_IN, formOf(fieldsOf(user)));
      expect([asked.status, asked.text.includes(EN.signIn.needsCode)]).to.deep.equal([401, true]);
      expect(gateway.faults).to.deep.equal([]);
    } finally {
      await gateway.close();
    }
  });
});

describe('the operators’ dashboard with its own listener (S7)', () => {
  let gateway: TestGateway;
  let operator: TestUser;
  let owner: TestUser;
  before(async () => {
    gateway = await openReady({ hasOpsListener: true });
    operator = await gateway.addUser('OPERATOR');
    owner = await gateway.addUser('OWNER');
  });
  after(() => gateway.close());
  afterEach(() => expect(gateway.faults).to.deep.equal([]));

  /** Sends a request without the test gateway’s check, because the OpenAPI document declares no 404 for unknown routes. */
  const ask = async (at: string, method: string, path: string, headers: object = {}, fields?: object) => {
    const response = await fetch(at + path, {
      method,
      redirect: 'manual',
      headers: {
        ...HTML,
        ...headers,
        ...(fields !== undefined && { 'content-type': 'application/x-www-form-urlencoded' }),
      },
      ...(fields !== undefined && { body: new URLSearchParams(fields as Record<string, string>).toString() }),
    });
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
  const signIn = (at: string, user: TestUser) => ask(at, 'POST', SIGN_IN, {}, fieldsOf(user));

  it('is served there with the sign-in page and its assets, and no merchant pages are', async () => {
    const { opsUrl: at } = gateway;
    const signInPage = await ask(at, 'GET', SIGN_IN);
    expect(signInPage.status).to.equal(200);
    expect(signInPage.text).to.include(EN.signIn.operatorsLead);
    const assets = [...signInPage.text.matchAll(/(?:href|src)="(\/dashboard\/assets\/[^"]+)"/g)];
    expect(assets).to.have.length(4);
    for (const [, path] of assets) expect((await ask(at, 'GET', path as string)).status, path).to.equal(200);
    const headers = cookieIn(await signIn(at, operator));
    expect((await ask(at, 'GET', '/dashboard', headers)).headers.get('location')).to.equal(PLATFORM);
    expect((await ask(at, 'GET', PLATFORM, headers)).status).to.equal(200);
    for (const path of ['/dashboard/test', '/dashboard/live/payments', '/docs', '/']) {
      const { status, text } = await ask(at, 'GET', path, headers);
      expect([path, status, text.includes('Page not found')]).to.deep.equal([path, 404, true]);
    }
  });
  it('returns 404 on the main listener, signed in or not, for any method', async () => {
    const { baseUrl: at } = gateway;
    const headers = cookieIn(await signIn(gateway.opsUrl, operator));
    const ofOwner = cookieIn(await signIn(at, owner));
    for (const path of [PLATFORM, `${PLATFORM}/settings`, `${PLATFORM}/settings/password`])
      for (const sent of [{}, headers, ofOwner])
        for (const method of ['GET', 'POST', 'OPTIONS'])
          expect([path, (await ask(at, method, path, sent)).status]).to.deep.equal([path, 404]);
    expect((await ask(at, 'GET', '/dashboard', headers)).headers.get('location')).to.equal(SIGN_IN);
  });
  it('is closed to operators on the main listener, which gives the reason only for the right password', async () => {
    const refused = await signIn(gateway.baseUrl, operator);
    expect([refused.status, refused.text.includes(EN.signIn.elsewhere)]).to.deep.equal([401, true]);
    expect(refused.headers.get('set-cookie')).to.equal(null);
    const wrong = await signIn(gateway.baseUrl, { ...operator, password: 'not this one' });
    expect([wrong.status, wrong.text.includes(EN.signIn.wrong)]).to.deep.equal([401, true]);
  });
  it('rejects members of accounts and links to their sign-in', async () => {
    const refused = await signIn(gateway.opsUrl, owner);
    expect([refused.status, refused.headers.get('set-cookie')]).to.deep.equal([401, null]);
    expect(refused.text).to.include(EN.signIn.membersElsewhere).and.include(`href="${gateway.baseUrl}/dashboard"`);
    const wrong = await signIn(gateway.opsUrl, { ...owner, password: 'not this one' });
    expect(wrong.text).to.include(EN.signIn.wrong).and.not.include(EN.signIn.membersElsewhere);
  });
  it('signs operators out', async () => {
    const headers = cookieIn(await signIn(gateway.opsUrl, operator));
    const csrf = /name="csrf" value="([^"]+)"/.exec((await ask(gateway.opsUrl, 'GET', PLATFORM, headers)).text)?.[1];
    const out = await ask(gateway.opsUrl, 'POST', '/dashboard/sign-out', headers, { csrf });
    expect([out.status, out.headers.get('location')]).to.deep.equal([303, `${SIGN_IN}?out=1`]);
    expect((await ask(gateway.opsUrl, 'GET', PLATFORM, headers)).status).to.equal(303);
  });
});
