// What managers of an account do in the dashboard, in a browser without scripts: endpoints, keys, requests, settings, the test clock, and
// their own password and second factor.
import { createHmac } from 'node:crypto';
import { expect } from 'chai';
import { changeOf, fieldsOf } from '../../../http/site/dashboard/settings/fields.ts';
import { EN } from '../../../http/site/dashboard/texts/en.ts';
import { codeOf } from '../../support/totp.ts';
import { cookieOf, fieldsIn, ownForm } from '../../world/browser.ts';
import { ALL_RETRIES_SECONDS, answering } from '../../world/deliveryFacts.ts';
import { deliveryScene } from '../../world/deliveryScene.ts';
import type { TestGateway, TestUser } from '../../world/gateway.ts';
import type { Merchant } from '../../world/merchant.ts';

const TEST = '/dashboard/test';
const LIVE = '/dashboard/live';
const MARKUP = '"><script>alert(1)</script>';
/** Secrets of endpoints. */
const SECRET = /<code class="copy">([0-9a-f]{64})<\/code>/;
const KEY = /<code class="copy">(ak_(?:test|live)_[\w-]+)<\/code>/;

describe('the dashboard for managers', () => {
  let gateway: TestGateway;
  let merchant: Awaited<ReturnType<typeof Merchant.open>>;
  let owner: TestUser;
  let bearer: { readonly authorization: string };
  const receivers = deliveryScene((opened, own) => {
    gateway = opened;
    merchant = own;
  });
  beforeEach(async () => {
    owner = await gateway.addUser('OWNER', { tenant: merchant.tenant });
    bearer = await gateway.logIn('OWNER', owner);
  });

  const HTML = { accept: 'text/html', 'accept-language': 'en' };
  const show = (path: string, as = bearer) =>
    gateway.call<unknown>('GET', path, { key: null, headers: { ...HTML, ...cookieOf(as) } });
  const send = (path: string, fields: Readonly<Record<string, string>> = {}, as = bearer) =>
    gateway.call<unknown>('POST', path, { key: null, ...ownForm(as, fields), headers: { ...HTML, ...cookieOf(as) } });
  const placeOf = ({ headers, text }: { headers: Headers; text: string }): string => headers.get('location') ?? text;
  const endpoints = async () =>
    (
      await merchant.get<{ data: { id: string; url: string; events: string[]; status: string }[] }>(
        '/v1/webhooks/endpoints',
      )
    ).body.data;
  const asRole = async (role: 'ADMIN' | 'MEMBER' | 'VIEWER') =>
    gateway.logIn(role, await gateway.addUser(role, { tenant: merchant.tenant }));

  describe('endpoints', () => {
    const created = async (url: string, events = 'charge.created') => {
      const { status, text } = await send(`${TEST}/webhooks/endpoints/new`, { url, events });
      expect(status, text).to.equal(200);
      const { id } = (await endpoints()).at(-1) as { id: string };
      return { id, at: `${TEST}/webhooks/endpoints/${id}`, secret: SECRET.exec(text)?.[1] as string };
    };

    it('are created with a signing secret that no later page shows', async () => {
      const receiver = await receivers.open();
      const { at, secret } = await created(receiver.url);
      await merchant.charge();
      const { headers, rawBody } = await receiver.until(() => true);
      const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${rawBody}`;
      const signature = createHmac('sha256', secret).update(signed).digest();
      expect(
        [signature.toString('base64'), signature.toString('hex')].some((one) => JSON.stringify(headers).includes(one)),
      ).to.equal(true);
      expect((await show(at)).text).to.not.match(/[0-9a-f]{64}<\/code>/);
    });
    it('are created once, even if the form is sent again', async () => {
      const path = `${TEST}/webhooks/endpoints/new`;
      const shown = fieldsIn((await show(path)).text, path);
      const form = { ...shown, url: 'https://example.com/hook' };
      const wrong = await send(path, { ...form, url: 'ftp://example.com/' });
      expect([wrong.status, fieldsIn(wrong.text, path)['key']]).to.deep.equal([422, shown['key']]);
      expect((await send(path, form)).status).to.equal(200);
      const { status, text } = await send(path, form);
      expect([status, text.includes('This form was already sent')], text).to.deep.equal([422, true]);
      expect((await endpoints()).map(({ url }) => url)).to.deep.equal(['https://example.com/hook']);
      expect((await send(path, fieldsIn(text, path))).status, 'sent on purpose').to.equal(200);
    });
    it('are shown again with the input and the problem', async () => {
      const wrong = await send(`${TEST}/webhooks/endpoints/new`, { url: `ftp://${MARKUP}`, events: 'charge.paid' });
      expect(wrong.status).to.equal(422);
      expect(wrong.text).to.include('value="charge.paid" checked').and.not.include('<script>alert');
      const none = await send(`${TEST}/webhooks/endpoints/new`, { url: 'https://example.com/' });
      expect([none.status, none.text.includes(EN.webhooks.noEvents)]).to.deep.equal([422, true]);
      expect(await endpoints()).to.deep.equal([]);
    });
    it('are changed, paused, resumed and deleted', async () => {
      const receiver = await receivers.open();
      const { id, at } = await created(receiver.url);
      const now = async () => (await endpoints()).map(({ events, status }) => [...events, status]);
      expect(placeOf(await send(at, { url: receiver.url, events: '*' }))).to.equal(`${at}?done=endpointChanged`);
      expect(await now()).to.deep.equal([['*', 'ACTIVE']]);
      expect(placeOf(await send(`${at}/status`, { status: 'INACTIVE' }))).to.equal(`${at}?done=endpointPaused`);
      expect(await now()).to.deep.equal([['*', 'INACTIVE']]);
      expect((await show(at)).text)
        .to.include(EN.webhooks.resume)
        .and.include(EN.webhooks.inactive);
      expect(placeOf(await send(`${at}/status`, { status: 'ACTIVE' }))).to.equal(`${at}?done=endpointResumed`);
      expect(placeOf(await send(`${at}/delete`))).to.equal(`${TEST}/webhooks?done=endpointDeleted`);
      expect(await now()).to.deep.equal([]);
      expect((await show(at)).status).to.equal(404);
      expect((await send(`${LIVE}/webhooks/endpoints/${id}/delete`)).status).to.equal(404);
    });
    it('keep what somebody else changed while the form was open', async () => {
      const { id, at } = await created('https://example.com/hook');
      const form = fieldsIn((await show(at)).text, at);
      expect(placeOf(await send(at, { ...form, url: 'https://example.com/new' }))).to.equal(
        `${at}?done=endpointChanged`,
      );
      expect(placeOf(await send(at, { ...form, events: 'charge.paid' }))).to.equal(`${at}?done=endpointChanged`);
      const now = { id, url: 'https://example.com/new', events: ['charge.paid'] };
      expect((await endpoints())[0]).to.deep.include(now);
      const { status, text } = await send(at, { ...form, url: 'https://example.com/mine' });
      expect([status, text.includes(EN.settings.contested(EN.webhooks.url))], text).to.deep.equal([422, true]);
      expect(fieldsIn(text, at)).to.include({ url: now.url, events: 'charge.paid' });
      expect((await endpoints())[0]).to.deep.include(now);
    });
    it('are pinged, with the result shown in either case', async () => {
      const receiver = await receivers.open(answering((_hit, n) => (n === 1 ? 204 : 500)));
      const { at } = await created(receiver.url);
      expect((await send(`${at}/ping`)).text).to.match(/The endpoint answered 204 within \d+ ms/);
      expect((await send(`${at}/ping`)).text).to.match(/The ping failed after \d+ ms: .*500/);
    });
    it('get a new secret, shown once', async () => {
      const { at, secret } = await created('https://example.com/hook');
      const { status, text } = await send(`${at}/rotate-secret`);
      expect([status, SECRET.exec(text)?.[1] === secret]).to.deep.equal([200, false]);
      expect(SECRET.test(text)).to.equal(true);
    });
    it('get a new secret once, even if the form is sent again', async () => {
      const { at } = await created('https://example.com/hook');
      const path = `${at}/rotate-secret`;
      const form = fieldsIn((await show(at)).text, path);
      const sent = await Promise.all([1, 2].map(() => send(path, form)));
      expect(sent.map(({ status }) => status).toSorted()).to.deep.equal([200, 422]);
      const { status, text } = await send(path, form);
      expect([status, text.includes('A secret is shown only once')], text).to.deep.equal([422, true]);
      const onPurpose = await send(path, fieldsIn(text, path));
      expect(onPurpose.status).to.equal(200);
      expect((await send(path, fieldsIn(onPurpose.text, path))).status, 'from the page with the secret').to.equal(200);
    });
    it('get their failed deliveries again after the user confirmed the count', async () => {
      let isWell = false;
      const receiver = await receivers.open(answering(() => (isWell ? 200 : 500)));
      const { id, at } = await created(receiver.url);
      await merchant.charge();
      await merchant.flushed();
      await merchant.advance(ALL_RETRIES_SECONDS);
      await merchant.untilDeliveries((all) => all.every(({ status }) => status === 'FAILED'));
      expect((await show(at)).text).to.include(EN.deliveryStatuses.FAILED);
      const tried = receiver.got.length;
      const page = await show(`${TEST}/webhooks/redrive?endpoint=${id}`);
      expect(page.text).to.include(EN.webhooks.failed(1));
      expect(receiver.got.length).to.equal(tried);
      isWell = true;
      const done = await send(`${TEST}/webhooks/redrive`, { endpoint: id });
      expect(placeOf(done)).to.equal(`${TEST}/webhooks?done=redriven`);
      await merchant.untilDeliveries((all) => all.every(({ status }) => status === 'DELIVERED'));
      expect((await show(`${TEST}/webhooks/redrive`)).text).to.include(EN.webhooks.failed(0));
      expect(placeOf(await send(`${TEST}/webhooks/redrive`))).to.equal(`${TEST}/webhooks?done=nothingRedriven`);
    });
  });

  describe('keys', () => {
    const works = async (key: string) => (await gateway.get('/v1/charges', { key })).status === 200;
    const issued = async (mode = TEST) => {
      const { status, text } = await send(`${mode}/developers/keys`, { label: `Shop ${MARKUP}` });
      expect([status, text.includes('<script>alert')], text).to.deep.equal([200, false]);
      return KEY.exec(text)?.[1] as string;
    };
    /** Returns the path of the page of the shop’s key. */
    const pageOf = async (mode = TEST) => {
      const { text } = await show(`${mode}/developers`);
      return /href="([^"]+\/keys\/key_\w+)"><code>ak_[\w-]+…<\/code><\/a><\/th>\s*<td class="wide">Shop/.exec(
        text,
      )?.[1] as string;
    };

    it('are issued for the page’s mode and shown once', async () => {
      const [test, live] = [await issued(), await issued(LIVE)];
      expect([test.slice(0, 8), live.slice(0, 8)]).to.deep.equal(['ak_test_', 'ak_live_']);
      expect([await works(test), await works(live)]).to.deep.equal([true, true]);
      expect((await show(`${TEST}/developers`)).text).to.not.include(test);
      expect((await show((await pageOf(LIVE)).replace('/live/', '/test/'))).status).to.equal(404);
    });
    it('are issued once, even if the form is sent again', async () => {
      const path = `${TEST}/developers/keys`;
      const count = async () => (await show(`${TEST}/developers`)).text.match(/keys\/key_/g)?.length ?? 0;
      const before = await count();
      const shown = fieldsIn((await show(`${TEST}/developers`)).text, path);
      const form = { ...shown, label: 'once' };
      const wrong = await send(path, { ...form, label: 'x'.repeat(65) });
      expect([wrong.status, fieldsIn(wrong.text, path)['key']]).to.deep.equal([422, shown['key']]);
      const sent = await Promise.all([1, 2].map(() => send(path, form)));
      expect(sent.map(({ status }) => status).toSorted()).to.deep.equal([200, 422]);
      const { status, text } = await send(path, form);
      expect([status, text.includes('A secret is shown only once')], text).to.deep.equal([422, true]);
      expect(await count()).to.equal(before + 1);
      const key = KEY.exec(sent.find((one) => one.status === 200)?.text ?? '')?.[1] as string;
      expect(await works(key)).to.equal(true);
      expect((await send(path, { ...fieldsIn(text, path), label: 'twice' })).status, 'sent on purpose').to.equal(200);
    });
    it('are replaced once, and a repeated form says what to do if the answer got lost', async () => {
      await issued();
      const page = await pageOf();
      const form = fieldsIn((await show(page)).text, `${page}/rotate`);
      expect((await send(`${page}/rotate`, form)).status).to.equal(200);
      const { status, text } = await send(`${page}/rotate`, form);
      expect([status, text.includes('A secret is shown only once')], text).to.deep.equal([422, true]);
    });
    it('stop working when replaced or revoked', async () => {
      const first = await issued();
      const { text } = await send(`${await pageOf()}/rotate`, { label: 'Shop' });
      const second = KEY.exec(text)?.[1] as string;
      expect([await works(first), await works(second)]).to.deep.equal([false, true]);
      expect(placeOf(await send(`${await pageOf()}/revoke`))).to.equal(`${TEST}/developers?done=keyRevoked`);
      expect(await works(second)).to.equal(false);
    });
    it('are not issued with too long a label', async () => {
      const before = (await show(`${TEST}/developers`)).text.match(/keys\/key_/g)?.length;
      const { status, text } = await send(`${TEST}/developers/keys`, { label: 'x'.repeat(65) });
      expect([status, text.includes('x'.repeat(65))]).to.deep.equal([422, true]);
      expect((await show(`${TEST}/developers`)).text.match(/keys\/key_/g)?.length).to.equal(before);
    });
  });

  it('lists requests by status and key, across pages', async () => {
    const missing = Array.from({ length: 60 }, (_, n) => `/v1/charges/ch_${String(n).padStart(26, '0')}`);
    for (const path of missing) await merchant.get(path);
    const paths = async (): Promise<readonly string[]> => {
      const seen: string[] = [];
      let at: string | undefined = `${TEST}/developers/requests?status=404`;
      while (at !== undefined) {
        const { text }: { text: string } = await show(at);
        seen.push(...[...text.matchAll(/GET (\/v1\/charges\/\w+)/g)].map(([, path]) => path as string));
        at = /href="([^"]+)" rel="next"/.exec(text)?.[1]?.replaceAll('&amp;', '&');
      }
      return seen.toSorted();
    };
    await gateway.writeRequests();
    expect(await paths()).to.deep.equal(missing);
    expect((await show(`${TEST}/developers/requests?key=${'0'.repeat(16)}`)).text).to.include(EN.developers.noRequests);
    const wrong = await show(`${TEST}/developers/requests?status=%3Cb%3E`);
    expect([wrong.status, wrong.text.includes(EN.developers.badStatus)]).to.deep.equal([422, true]);
  });

  it('hides page views in the request log unless requested, but shows actions', async () => {
    const path = `${TEST}/developers/requests`;
    for (let n = 0; n < 50; n++) await show(`${TEST}/wallet`);
    await send(`${TEST}/developers/keys`, { label: 'of the log' });
    await gateway.writeRequests();
    const { text } = await show(path);
    expect(text).to.include(`POST ${TEST}/developers/keys`).and.not.include(`GET ${TEST}`);
    const all = await show(`${path}?views=1`);
    expect(all.text).to.include(`GET ${TEST}/wallet`).and.include(`POST ${TEST}/developers/keys`);
    expect(all.text).to.include('name="views" value="1" checked');
    const next = /href="([^"]+)" rel="next"/.exec(all.text)?.[1]?.replaceAll('&amp;', '&') as string;
    expect((await show(next)).text).to.include(`GET ${TEST}`);
  });

  it('moves the test clock forward, in test mode only', async () => {
    const before = Date.parse((await merchant.clock()).now);
    const { id } = await merchant.charge();
    expect(placeOf(await send(`${TEST}/sandbox/clock`, { count: '2', unit: 'days' }))).to.match(
      /sandbox\?done=clockMov/,
    );
    expect(Date.parse((await merchant.clock()).now) - before).to.be.within(172_800_000, 172_860_000);
    expect(await merchant.statusOf(id)).to.equal('expired');
    for (const count of ['0', '-1', '1.5', '366', 'x']) {
      const reply = await send(`${TEST}/sandbox/clock`, { count, unit: 'days' });
      expect([reply.status, reply.text.includes(EN.sandbox.badTime)], count).to.deep.equal([422, true]);
    }
    for (const reply of [await show(`${LIVE}/sandbox`), await send(`${LIVE}/sandbox/clock`, { count: '1' })])
      expect(reply.status).to.equal(404);
    expect((await show(LIVE)).text).to.not.include(`${LIVE}/sandbox`);
  });

  it('moves the test clock once, even if the form is sent again', async () => {
    const path = `${TEST}/sandbox/clock`;
    const form = { ...fieldsIn((await show(`${TEST}/sandbox`)).text, path), count: '5', unit: 'hours' };
    const before = Date.parse((await merchant.clock()).now);
    expect(placeOf(await send(path, form))).to.match(/sandbox\?done=clockMov/);
    const { status, text } = await send(path, form);
    expect([status, text.includes('This form was already sent')], text).to.deep.equal([422, true]);
    expect(Date.parse((await merchant.clock()).now) - before).to.be.within(18_000_000, 18_060_000);
    expect(placeOf(await send(path, { ...fieldsIn(text, path), count: '1', unit: 'hours' }))).to.match(/done=clockMov/);
    expect(Date.parse((await merchant.clock()).now) - before).to.be.within(21_600_000, 21_660_000);
  });

  describe('settings', () => {
    const settings = async () => {
      const { body } = await gateway.get<{ settings: Record<string, unknown> }>('/v1/account', {
        key: null,
        headers: bearer,
      });
      return body.settings;
    };
    const GUARDS = {
      payoutApprovalAbove: '1.500,50',
      payoutCount: '10',
      payoutSum: '',
      refundCount: '0',
      refundSum: '0,00',
    };

    it('are changed by one form without affecting those of the other', async () => {
      expect(placeOf(await send(`${TEST}/settings`, { color: '#1A7F5C', chargeWindow: '1,5' }))).to.equal(
        `${TEST}/settings?done=settingsChanged`,
      );
      const destinations = 'loja@example.com\r\n\r\n+5511999998888';
      expect((await send(`${TEST}/settings`, { ...GUARDS, destinations })).status).to.equal(303);
      expect(await settings())
        .to.include({
          color: '#1a7f5c',
          chargeWindowSeconds: 90,
          payoutApprovalAbove: 150_050,
          payoutCount: 10,
          payoutSum: null,
        })
        .and.deep.include({
          refundVelocity: { countPerHour: 0, sumPerHour: 0 },
          cashoutDestinations: ['loja@example.com', '+5511999998888'],
        });
      expect((await show(`${TEST}/settings`)).text).to.include('value="1,500.50"');
      await send(`${TEST}/settings`, { color: '', destinations: 'loja@example.com', anyDestination: 'on' });
      expect(await settings()).to.include({ color: null, cashoutDestinations: null, payoutCount: 10 });
    });
    it('keep what another OWNER changed while the form was open', async () => {
      const path = `${LIVE}/settings`;
      const other = await gateway.logIn('OWNER', await gateway.addUser('OWNER', { tenant: merchant.tenant }));
      /** The second form, of the guards. */
      const guardsIn = (text: string) => fieldsIn(text.slice(text.indexOf(EN.settings.guards)), path);
      const form = guardsIn((await show(path)).text);
      const guards = {
        payoutApprovalAbove: '100.00',
        payoutSum: '500.00',
        destinations: 'a@example.com',
        anyDestination: '',
      };
      expect((await send(path, { ...form, ...guards }, other)).status).to.equal(303);
      expect((await send(path, { ...form, refundCount: '7' })).status).to.equal(303);
      const kept = { payoutApprovalAbove: 10_000, payoutSum: 50_000, cashoutDestinations: ['a@example.com'] };
      const refundVelocity = { countPerHour: 7, sumPerHour: null };
      expect(await settings()).to.deep.include({ ...kept, refundVelocity });
      const mine = { payoutCount: '3', payoutSum: '9,00', destinations: 'b@example.com', anyDestination: '' };
      const { status, text } = await send(path, { ...form, ...mine });
      const { payoutSum, destinations } = EN.settings.fields;
      expect([status, text.includes(EN.settings.contested(`${payoutSum}, ${destinations}`))], text).to.deep.equal([
        422,
        true,
      ]);
      const again = guardsIn(text);
      expect(again).to.include({ payoutCount: '3', payoutSum: '500.00', destinations: 'a@example.com' });
      expect(await settings()).to.deep.include({ ...kept, refundVelocity, payoutCount: null });
      expect((await send(path, { ...again, payoutSum: '9,00' })).status).to.equal(303);
      expect(await settings()).to.deep.include({ ...kept, refundVelocity, payoutCount: 3, payoutSum: 900 });
    });
    it('are shown again as typed if invalid', async () => {
      const before = await settings();
      for (const [name, typed] of Object.entries({
        color: 'red <b>',
        chargeWindow: 'long',
        payoutSum: '1e3',
        payoutCount: '-1',
      })) {
        const reply = await send(`${TEST}/settings`, { [name]: typed });
        expect([name, reply.status]).to.deep.equal([name, 422]);
        expect(reply.text).to.include(`value="${typed.replace('<', '&lt;').replace('>', '&gt;')}"`);
      }
      expect(await settings()).to.deep.equal(before);
    });
    it('have the same roles as in the API: guards for an OWNER only, nothing for a MEMBER', async () => {
      const [admin, member] = [await asRole('ADMIN'), await asRole('MEMBER')];
      expect((await send(`${TEST}/settings`, { color: '#000000' }, admin)).status).to.equal(303);
      expect((await send(`${TEST}/settings`, { color: '#000000', ...GUARDS }, admin)).status).to.equal(403);
      expect((await send(`${TEST}/settings`, { color: '#ffffff' }, member)).status).to.equal(403);
      expect(await settings()).to.include({ color: '#000000', payoutCount: null });
      const page = await show(`${TEST}/settings`, member);
      expect(page.text)
        .to.include(EN.payment.mayNot)
        .and.include(EN.settings.ownersOnly)
        .and.include(EN.settings.agreedLead);
    });
    it('survive a round trip through the form unchanged', async () => {
      const reader = { language: 'pt' } as Parameters<typeof fieldsOf>[1];
      const stored = {
        color: null,
        chargeWindowSeconds: 100,
        payoutApprovalAbove: 123_456_789,
        payoutSum: 0,
        payoutCount: 7,
        refundVelocity: { countPerHour: null, sumPerHour: 5 },
        cashoutDestinations: null,
      };
      const change = changeOf(fieldsOf(stored as never, reader));
      expect({ ...stored, ...change }).to.deep.equal(stored);
      expect(Object.keys(change).toSorted()).to.deep.equal(Object.keys(stored).toSorted());
    });
  });

  describe('a user of any role', () => {
    it('changes the password only with the current one', async () => {
      const viewer = await gateway.addUser('VIEWER', { tenant: merchant.tenant });
      const own = await gateway.logIn('VIEWER', viewer);
      const wanted = ' uma senha nova e longa ';
      const at = `${TEST}/settings/password`;
      const wrong = await send(at, { current: 'not the one', wanted }, own);
      expect([
        wrong.status,
        wrong.text.includes(EN.settings.wrongPassword),
        wrong.text.includes('not the one'),
      ]).to.deep.equal([422, true, false]);
      expect((await send(at, { current: viewer.password, wanted: 'short' }, own)).status).to.equal(422);
      expect(placeOf(await send(at, { current: viewer.password, wanted }, own))).to.equal(
        `${TEST}/settings?done=passwordChanged`,
      );
      expect((await show(TEST, own)).status).to.equal(200);
      await gateway.logIn('VIEWER', { ...viewer, password: wanted });
    });
    it('sets up a second factor by QR code and gets recovery codes once', async () => {
      const at = `${TEST}/settings/second-factor`;
      expect((await send(`${at}/confirm`, { code: '123456' })).text).to.include(EN.settings.nothingPending);
      const begun = await send(at);
      expect(begun.text).to.include('<svg class="qr"').and.include(EN.settings.qrCode);
      const secret = /<code class="copy">([A-Z2-7]{32})<\/code>/.exec(begun.text)?.[1] as string;
      const wrong = await send(`${at}/confirm`, { code: codeOf(secret, 100) });
      expect([wrong.status, wrong.text.includes(EN.settings.wrongCode)]).to.deep.equal([422, true]);
      const done = await send(`${at}/confirm`, { code: codeOf(secret) });
      expect([done.status, done.text.match(/<li><code>[0-9a-z-]{19}<\/code>/g)?.length], done.text).to.deep.equal([
        200, 10,
      ]);
      expect((await send(at)).text).to.include(EN.settings.needsCode);
      const code = /<li><code>([0-9a-z-]{19})<\/code>/.exec(done.text)?.[1] as string;
      expect((await send(at, { code })).status).to.equal(200);
    });
  });
});
