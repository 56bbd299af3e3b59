// A hostile tenant, another site or a lost role must not be able to harm the dashboard.
import { expect } from 'chai';
import { EN } from '../../../http/site/dashboard/texts/en.ts';
import { cookieOf, formOf, ownForm } from '../../world/browser.ts';
import type { TestGateway } from '../../world/gateway.ts';
import { type HostileTenant, hostileText, openHostileTenant } from '../../world/hostileTenant.ts';
import { openReady } from '../../world/http.ts';

const HTML = { accept: 'text/html', 'accept-language': 'en' };
const TEST = '/dashboard/test';

describe('the dashboard of a hostile tenant', () => {
  let gateway: TestGateway;
  let hostile: HostileTenant;
  let bearer: { readonly authorization: string };
  before(async () => {
    gateway = await openReady();
    hostile = await openHostileTenant(gateway);
    bearer = await gateway.logIn('OWNER', hostile.owner);
  });
  after(async () => {
    await hostile.close();
    await gateway.close();
  });
  afterEach(() => expect(gateway.faults).to.deep.equal([]));

  const show = (path: string, headers: Readonly<Record<string, string>> = cookieOf(bearer)) =>
    gateway.call<unknown>('GET', path, { key: null, headers: { ...HTML, ...headers } });
  /** Fails if the page contains executable markup or tags from hostile texts. */
  const expectHarmless = (text: string, path: string): void => {
    expect(text, path).to.not.match(/<script(?! type="module" src="\/[\w./?=-]+"><\/script>)/);
    expect(text, path).to.not.match(/<img src=x|<b>key/);
    for (const [tag] of text.matchAll(/<[a-z][^>]*>/g))
      expect(tag.replaceAll(/"[^"]*"/g, '""'), path).to.not.match(/ (?:on\w+|style)=/);
  };

  it('shows all texts as plain text on every page, below 60 kB', async () => {
    let escaped = 0;
    for (const path of hostile.pages) {
      const { status, text } = await show(TEST + path);
      expect(status, path).to.equal(200);
      expectHarmless(text, path);
      expect(Buffer.byteLength(text), path).to.be.below(60_000);
      if (text.includes('&lt;script&gt;alert') || text.includes('&lt;img src=x')) escaped += 1;
    }
    expect(escaped).to.be.above(10);
  });
  it('shows typed texts and searches as plain text', async () => {
    const typed = hostileText(300);
    const query = encodeURIComponent(typed);
    for (const path of [
      `/payments?q=${query}`,
      `/payments?status=${query}`,
      `/payments?from=${query}`,
      `/developers/requests?status=${query}`,
      `/developers/requests?request=${query}`,
      `/webhooks?status=${query}`,
      `/disputes?status=${query}`,
      `/settings/team?after=${query}`,
    ]) {
      const { status, text } = await show(TEST + path);
      expect(status, path).to.be.oneOf([200, 422]);
      expectHarmless(text, path);
    }
    const forms: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
      ['/payments/new', { amount: typed, name: typed, description: typed, document: typed }],
      ['/payouts/new', { amount: typed, destination: typed, description: typed }],
      ['/webhooks/endpoints/new', { url: typed, events: typed }],
      ['/settings', { color: typed, chargeWindow: typed }],
      ['/settings/team', { email: typed, name: typed, role: typed }],
      ['/sandbox/clock', { count: typed, unit: typed }],
      ['/settings/second-factor/confirm', { code: typed }],
    ];
    for (const [path, fields] of forms) {
      const headers = { ...HTML, ...cookieOf(bearer) };
      const reply = await gateway.call('POST', TEST + path, { key: null, ...ownForm(bearer, fields), headers });
      expect(reply.status, path).to.equal(422);
      expectHarmless(reply.text, path);
    }
    const signIn = await gateway.call('POST', '/dashboard/sign-in', {
      key: null,
      ...formOf({ email: typed, password: typed, next: typed }),
      headers: HTML,
    });
    expectHarmless(signIn.text, 'sign-in');
  });
  it('forbids framing, sniffing, storing and sending referrers, on every page', async () => {
    for (const path of [...hostile.pages.map((page) => TEST + page), '/dashboard/sign-in', '/account/password']) {
      const { headers } = await show(path);
      const policy = headers.get('content-security-policy') ?? '';
      expect(policy, path).to.include("frame-ancestors 'none'").and.include("default-src 'none'");
      expect(policy, path).to.not.match(/unsafe|\*/);
      expect(headers.get('x-frame-options'), path).to.be.oneOf(['SAMEORIGIN', 'DENY']);
      expect(headers.get('x-content-type-options'), path).to.equal('nosniff');
      expect(headers.get('cache-control'), path).to.equal('no-store');
      expect(headers.get('referrer-policy'), path).to.be.oneOf(['same-origin', 'no-referrer']);
    }
  });
  it('says when a form belongs to another session, when the role was lost and when the session has ended', async () => {
    const user = await gateway.addUser('ADMIN', { tenant: hostile.tenant });
    const [first, second] = [await gateway.logIn('ADMIN', user), await gateway.logIn('OWNER', hostile.owner)];
    const stale = await gateway.call('POST', `${TEST}/settings`, {
      key: null,
      ...ownForm(first, { color: '#000000' }),
      headers: { ...HTML, ...cookieOf(second) },
    });
    expect([stale.status, stale.text.includes('This page belongs to another session')]).to.deep.equal([403, true]);
    await gateway.call('POST', `/v1/users/usr_${user.userId}/role`, {
      key: null,
      headers: second,
      body: { role: 'VIEWER' },
    });
    const lost = await gateway.call('POST', `${TEST}/settings`, {
      key: null,
      ...ownForm(first, { color: '#000000' }),
      headers: { ...HTML, 'accept-language': 'pt-BR', ...cookieOf(first) },
    });
    expect([lost.status, lost.text.includes('O seu papel na conta não permite isso.')]).to.deep.equal([403, true]);
    expect((await show(`${TEST}/settings`, cookieOf(first))).text).to.include(EN.payment.mayNot);
    await gateway.call('POST', `/v1/users/usr_${user.userId}/disable`, { key: null, headers: second });
    const ended = await gateway.call('POST', `${TEST}/settings/password`, {
      key: null,
      ...ownForm(first),
      headers: { ...HTML, ...cookieOf(first) },
    });
    expect([ended.status, ended.text.includes('The session has ended')]).to.deep.equal([401, true]);
  });
});
