// The dashboard in a browser without scripts: sessions, forged forms, roles, hostile texts and forms.
import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { centavosOf } from '../../../domain/presentation/amount.ts';
import { EN } from '../../../http/site/dashboard/texts/en.ts';
import { PT } from '../../../http/site/dashboard/texts/pt.ts';
import { cookieOf, formOf, ownForm } from '../../world/browser.ts';
import type { CallOptions, TestGateway, TestUser } from '../../world/gateway.ts';
import { openReady } from '../../world/http.ts';

const HTML = { accept: 'text/html', 'accept-language': 'en' };
const SIGN_IN = '/dashboard/sign-in';
/** Texts that are the same in both languages. */
const SHARED = [
  'pages.webhooks',
  'pages.sandbox',
  'none',
  'payment.txid',
  'wallet.total',
  'webhooks.endpoints',
  'operations.system.good',
  'operations.parked.stream',
  'operations.deadLetters.endpoint',
  'operations.audit.auditor',
  'team.roles.OWNER',
  'team.roles.ADMIN',
  'team.roles.MEMBER',
  'team.roles.VIEWER',
  'methods.PIX',
  'methods.MBWAY',
  'methods.MULTIBANCO',
  'methods.BOLETO',
  'actor.quita',
];

describe('the dashboard', () => {
  let gateway: TestGateway;
  let user: TestUser;
  before(async () => {
    gateway = await openReady();
    user = await gateway.addUser('OWNER');
  });
  after(() => gateway.close());
  afterEach(() => expect(gateway.faults).to.deep.equal([]));

  const browse = (method: string, path: string, { headers, ...options }: CallOptions = {}) =>
    gateway.call<unknown>(method, path, { key: null, ...options, headers: { ...HTML, ...headers } });
  const signIn = (fields: Readonly<Record<string, string>>, headers = {}) =>
    browse('POST', SIGN_IN, { ...formOf(fields), headers });
  const session = () => gateway.logIn('OWNER', user);
  const newCharge = async (): Promise<string> => (await gateway.charge<{ id: string }>()).body.id.slice(3);
  const statusOf = async (raw: string) => (await gateway.get<{ status: string }>(`/v1/charges/ch_${raw}`)).body.status;

  describe('signing in', () => {
    it('sets an HttpOnly, SameSite cookie and redirects to the requested page', async () => {
      const reply = await signIn({ email: user.email, password: user.password, next: '/dashboard/live/payments' });
      expect([reply.status, reply.headers.get('location')]).to.deep.equal([303, '/dashboard/live/payments']);
      const cookie = reply.headers.get('set-cookie') ?? '';
      expect(cookie).to.match(/^quita_session=[\w.-]+; Path=\/; Max-Age=3600; HttpOnly; SameSite=Lax$/);
      const page = await browse('GET', '/dashboard/live', { headers: { cookie: cookie.split(';')[0] as string } });
      expect(page.status).to.equal(200);
    });
    it('redirects to dashboard pages only', async () => {
      for (const next of ['https://evil.example', '//evil.example', '/dashboardx', '/dashboard/\\evil', '/pay/x', '']) {
        const reply = await signIn({ email: user.email, password: user.password, next });
        expect(reply.headers.get('location'), next).to.equal('/dashboard');
      }
    });
    it('gives the same answer to a wrong password and an unknown address', async () => {
      const [wrong, unknown] = [
        await signIn({ email: user.email, password: 'not this one' }),
        await signIn({ email: 'nobody@example.com', password: 'not this one' }),
      ];
      expect([wrong.status, unknown.status]).to.deep.equal([401, 401]);
      expect(wrong.text.replaceAll(user.email, 'X')).to.equal(unknown.text.replaceAll('nobody@example.com', 'X'));
      expect(wrong.text).to.include(EN.signIn.wrong).and.not.include('not this one');
      expect(wrong.headers.get('set-cookie')).to.equal(null);
    });
    it('in a second tab ends the first tab’s session, whose forms then change nothing', async () => {
      const first = await session();
      const reply = await signIn(user as unknown as Record<string, string>, cookieOf(first));
      expect(reply.status).to.equal(303);
      expect((await browse('GET', '/dashboard/test', { headers: cookieOf(first) })).status).to.equal(303);
      const raw = await newCharge();
      const cookie = (reply.headers.get('set-cookie') ?? '').split(';')[0] as string;
      const stale = await browse('POST', `/dashboard/test/payments/${raw}/cancel`, {
        ...ownForm(first),
        headers: { cookie },
      });
      expect(stale.status).to.equal(403);
      expect(await statusOf(raw)).to.equal('pending');
    });
    it('is required of browsers and returns to the requested page; a form must be sent again', async () => {
      const asked = await browse('GET', '/dashboard/test/payments?status=paid');
      expect([asked.status, asked.headers.get('location')]).to.deep.equal([
        303,
        `${SIGN_IN}?next=${encodeURIComponent('/dashboard/test/payments?status=paid')}`,
      ]);
      const form = await browse('POST', '/dashboard/sign-out', formOf({}));
      expect([form.status, form.text.slice(0, 15)]).to.deep.equal([401, '<!doctype html>']);
    });
    it('ends when the user signs out', async () => {
      const bearer = await session();
      const out = await browse('POST', '/dashboard/sign-out', { ...ownForm(bearer), headers: cookieOf(bearer) });
      expect([out.status, out.headers.get('location')]).to.deep.equal([303, `${SIGN_IN}?out=1`]);
      expect(out.headers.get('set-cookie')).to.match(/^quita_session=; .*Max-Age=0;/);
      expect((await browse('GET', '/dashboard/test', { headers: cookieOf(bearer) })).status).to.equal(303);
    });
    it('answers a password reset the same, whether or not the address exists', async () => {
      const replies = await Promise.all(
        [user.email, 'nobody@example.com', `${randomBytes(4_000).toString('hex')}@example.com`].map((email) =>
          browse('POST', '/dashboard/password-reset', formOf({ email })),
        ),
      );
      expect(replies.map(({ status, headers }) => [status, headers.get('location')])).to.deep.equal(
        Array(3).fill([303, `${SIGN_IN}?reset=1`]),
      );
    });
  });

  describe('forged forms', () => {
    const forged: readonly (readonly [string, Readonly<Record<string, string>>, boolean])[] = [
      ['from another site', { 'sec-fetch-site': 'cross-site' }, true],
      ['from a sister site', { 'sec-fetch-site': 'same-site' }, true],
      ['with another origin', { origin: 'https://evil.example' }, true],
      ['with an opaque origin', { origin: 'null' }, true],
      ['without the token', { 'sec-fetch-site': 'same-origin' }, false],
    ];
    for (const [what, headers, hasToken] of forged)
      it(`change nothing: ${what}`, async () => {
        const [bearer, raw] = [await session(), await newCharge()];
        const reply = await browse('POST', `/dashboard/test/payments/${raw}/cancel`, {
          ...(hasToken ? ownForm(bearer) : formOf({ csrf: '' })),
          headers: { ...cookieOf(bearer), ...headers },
        });
        expect(reply.status).to.equal(403);
        expect(await statusOf(raw)).to.equal('pending');
      });
    it('can’t sign in', async () => {
      const reply = await signIn({ ...user } as never, { 'sec-fetch-site': 'cross-site' });
      expect([reply.status, reply.headers.get('set-cookie')]).to.deep.equal([403, null]);
    });
    it('differ from the page’s own form, which is accepted', async () => {
      const [bearer, raw] = [await session(), await newCharge()];
      const reply = await browse('POST', `/dashboard/test/payments/${raw}/cancel`, {
        ...ownForm(bearer),
        headers: { ...cookieOf(bearer), origin: gateway.baseUrl, 'sec-fetch-site': 'same-origin' },
      });
      expect([reply.status, reply.headers.get('location')]).to.deep.equal([
        303,
        `/dashboard/test/payments/${raw}?done=cancelled`,
      ]);
    });
  });

  it('lets a viewer neither see nor use the form to cancel', async () => {
    const viewer = await gateway.addUser('VIEWER');
    const bearer = await gateway.logIn('VIEWER', viewer);
    const raw = await newCharge();
    const page = await browse('GET', `/dashboard/test/payments/${raw}`, { headers: cookieOf(bearer) });
    expect(page.text).to.include(EN.payment.mayNot).and.not.include('/cancel');
    const reply = await browse('POST', `/dashboard/test/payments/${raw}/cancel`, {
      ...ownForm(bearer),
      headers: cookieOf(bearer),
    });
    expect(reply.status).to.equal(403);
    expect(await statusOf(raw)).to.equal('pending');
  });

  describe('pages', () => {
    const HOSTILE = `"><script>alert(1)</script>\u202e${'w'.repeat(160)}`;
    const show = async (path: string) => browse('GET', path, { headers: cookieOf(await session()) });

    it('show hostile texts as plain text, under a policy without inline code or framing', async () => {
      const body = {
        amount: 500,
        payment_method: 'pix',
        customer: { name: HOSTILE },
        metadata: { [HOSTILE]: HOSTILE },
      };
      const made = await gateway.charge<{ id: string }>(body);
      expect(made.status, made.text).to.equal(201);
      const { id } = made.body;
      for (const path of ['/dashboard/test', '/dashboard/test/payments', `/dashboard/test/payments/${id}`]) {
        const { status, text, headers } = await show(path);
        expect(status, path).to.equal(200);
        expect(text, path).to.not.include('<script>alert');
        expect(text, path).to.include('&lt;script&gt;alert');
        const policy = headers.get('content-security-policy') ?? '';
        expect(policy).to.include("frame-ancestors 'none'").and.include("default-src 'none'").and.not.include('unsafe');
        expect(headers.get('referrer-policy')).to.equal('same-origin');
        expect(headers.get('cache-control')).to.equal('no-store');
        expect(text.length, path).to.be.below(60_000);
        expect(text).to.not.match(/ style=| on\w+=/);
      }
    });
    it('never show data of the other mode or another account', async () => {
      const raw = await newCharge();
      expect((await show(`/dashboard/live/payments/${raw}`)).status).to.equal(404);
      const stranger = await gateway.newTenant();
      const other = await gateway.logIn('OWNER', await gateway.addUser('OWNER', { tenant: stranger }));
      const reply = await browse('GET', `/dashboard/test/payments/${raw}`, { headers: cookieOf(other) });
      expect(reply.status).to.equal(404);
      const list = await browse('GET', '/dashboard/test/payments', { headers: cookieOf(other) });
      expect(list.text).to.include(EN.payments.empty);
    });
    it('use the language the reader chose, else the browser’s', async () => {
      const bearer = await session();
      const page = async (path: string, headers: Record<string, string>) =>
        (await browse('GET', path, { headers: { ...cookieOf(bearer), ...headers } })).text;
      expect(await page('/dashboard/test', { 'accept-language': 'pt-BR' })).to.include(PT.pages.overview);
      const chosen = await browse('GET', '/dashboard/test?lang=pt', { headers: cookieOf(bearer) });
      expect(chosen.text).to.include(PT.pages.overview);
      const cookie = `${cookieOf(bearer).cookie}; ${(chosen.headers.get('set-cookie') ?? '').split(';')[0]}`;
      expect(await page('/dashboard/test', { cookie })).to.include(PT.pages.overview);
    });
    it('find a payment by its id, and payments by status, customer and day', async () => {
      const raw = await newCharge();
      const found = await show(`/dashboard/test/payments?q=ch_${raw}`);
      expect([found.status, found.headers.get('location')]).to.deep.equal([303, `/dashboard/test/payments/${raw}`]);
      expect((await show('/dashboard/test/payments?status=pending')).text).to.include(raw);
      expect((await show('/dashboard/test/payments?status=refunded')).text).to.include(EN.payments.emptyFiltered);
      const hostile = await show('/dashboard/test/payments?q=%3Cb%3E');
      expect([hostile.status, hostile.text.includes(EN.payments.emptyFiltered)]).to.deep.equal([200, true]);
      expect(hostile.text).to.include('value="&lt;b&gt;"');
      expect((await show('/dashboard/test/payments?from=yesterday')).text).to.include(EN.payments.badDay);
    });
    it('list all payments across pages', async () => {
      const tenant = await gateway.newTenant();
      const owner = cookieOf(await gateway.logIn('OWNER', await gateway.addUser('OWNER', { tenant })));
      const made = await Promise.all(
        Array.from({ length: 30 }, async () =>
          (await gateway.charge<{ id: string }>({}, { key: tenant.testKey })).body.id.slice(3),
        ),
      );
      const seen: string[] = [];
      let path: string | undefined = '/dashboard/test/payments';
      while (path !== undefined) {
        const { text }: { text: string } = await browse('GET', path, { headers: owner });
        seen.push(...[...text.matchAll(/payments\/([0-9a-z]{26})"/g)].map(([, id]) => id as string));
        path = /href="([^"]+)" rel="next"/.exec(text)?.[1]?.replaceAll('&amp;', '&');
      }
      expect(seen.toSorted()).to.deep.equal(made.toSorted());
    });
  });

  describe('forms', () => {
    const send = async (path: string, fields: Readonly<Record<string, string>>) => {
      const bearer = await session();
      return browse('POST', path, { ...ownForm(bearer, fields), headers: cookieOf(bearer) });
    };
    const placeOf = (reply: { headers: Headers }): string => reply.headers.get('location') ?? '';
    const idIn = (place: string): string => /payments\/([0-9a-z]{26})/.exec(place)?.[1] ?? '';

    it('create one charge, however often the same form is sent', async () => {
      const fields = { amount: '1.234,56', description: 'Livro', name: 'Ana', key: '0123456789abcdef' };
      const places = [
        await send('/dashboard/test/payments/new', fields),
        await send('/dashboard/test/payments/new', fields),
      ];
      expect(places.map(({ status }) => status)).to.deep.equal([303, 303]);
      const [first, second] = places.map(placeOf);
      expect(first)
        .to.equal(second)
        .and.match(/\?done=created$/);
      const charge = await gateway.get<{ amount: number; metadata: object }>(`/v1/charges/ch_${idIn(first as string)}`);
      expect([charge.body.amount, charge.body.metadata]).to.deep.equal([123_456, { description: 'Livro' }]);
    });
    it('are shown again with the input and the problem', async () => {
      const reply = await send('/dashboard/test/payments/new', { amount: 'much', description: 'Livro <b>' });
      expect(reply.status).to.equal(422);
      expect(reply.text).to.include(EN.create.badAmount).and.include('value="Livro &lt;b&gt;"');
      const cpf = await send('/dashboard/test/payments/new', { amount: '10', document: '123' });
      expect([cpf.status, cpf.text.includes(EN.create.badDocument)]).to.deep.equal([422, true]);
    });
    it('pay in test mode, refund half, and explain why a cancellation is no longer possible', async () => {
      const raw = await newCharge();
      const at = `/dashboard/test/payments/${raw}`;
      expect(placeOf(await send(`${at}/pay`, { as: 'exact' }))).to.equal(`${at}?done=paid`);
      expect(await statusOf(raw)).to.equal('paid');
      const { amount } = (await gateway.get<{ amount: number }>(`/v1/charges/ch_${raw}`)).body;
      const half = ((amount / 2 - ((amount / 2) % 1)) / 100).toFixed(2).replace('.', ',');
      const previewed = await send(`${at}/refund`, { amount: half, step: 'preview' });
      expect(previewed.status).to.equal(200);
      expect(previewed.text).to.include(EN.payment.stillRefundable).and.include(EN.payment.refundConfirm);
      expect((await gateway.get<{ data: unknown[] }>(`/v1/payments/${raw}/refunds`)).body.data).to.deep.equal([]);
      const fields = { amount: half, key: 'the-same-form-twice', step: 'confirm' };
      expect(placeOf(await send(`${at}/refund`, fields))).to.equal(`${at}?done=refunded`);
      expect((await send(`${at}/refund`, fields)).status).to.equal(303);
      const { data } = (await gateway.get<{ data: { amount: number }[] }>(`/v1/payments/${raw}/refunds`)).body;
      expect(data.map((refund) => refund.amount)).to.deep.equal([Math.floor(amount / 2)]);
      const late = await send(`${at}/cancel`, {});
      expect([late.status, late.text.includes('This payment is settled. Refund it instead.')]).to.deep.equal([
        422,
        true,
      ]);
      expect((await send(`${at}/pay`, { as: 'exact' })).status).to.be.oneOf([303, 422]);
    });
    it('with a wrong type, too large a body or U+0000 get an error page', async () => {
      const bearer = await session();
      const post = (options: CallOptions) =>
        browse('POST', '/dashboard/test/payments/new', {
          ...options,
          headers: { ...cookieOf(bearer), ...options.headers },
        });
      expect((await post({ raw: '{}', headers: { 'content-type': 'application/json' } })).status).to.equal(415);
      expect((await post(formOf({ amount: '1'.repeat(70_000) }))).status).to.equal(413);
      expect((await post(ownForm(bearer, { amount: '1', name: 'a\0b' }))).status).to.equal(400);
    });
  });

  it('reads amounts in Brazilian and English notation', () => {
    const read: Readonly<Record<string, number | null>> = {
      ...{ '149,90': 14_990, '149.90': 14_990, '1.234,56': 123_456, '1,234.56': 123_456, '12': 1_200, '0,01': 1 },
      ...{ 'R$ 5,5': 550, '1.234': 123_400, '1234567,89': 123_456_789 },
      ...{ '': null, '0': null, '-1': null, '1,234,5678': null, '1e3': null, '1,2,3': null, ['9'.repeat(20)]: null },
    };
    for (const [text, amount] of Object.entries(read)) expect(centavosOf(text), text).to.equal(amount);
  });
  it('reads no amount with a leading zero group, mixed marks of groups, or one mark for groups and decimals', () => {
    for (const text of ['0,500', '0.001', '00.500', '1.234,567', '1,234.567', '1.234.56', '1,234,56', '1234.567'])
      expect(centavosOf(text), text).to.equal(null);
    const read = {
      '0,50': 50,
      '0.05': 5,
      '12.345,6': 1_234_560,
      '1,234,567': 123_456_700,
      '1.234.567,89': 123_456_789,
    };
    for (const [text, amount] of Object.entries(read)) expect(centavosOf(text), text).to.equal(amount);
  });

  it('has every text in both languages', () => {
    const texts = (of: object, path = ''): [string, unknown][] =>
      Object.entries(of).flatMap(([name, value]) =>
        typeof value === 'object' ? texts(value, `${path}${name}.`) : [[path + name, value] as [string, unknown]],
      );
    const [pt, en] = [texts(PT), texts(EN)];
    expect(pt.map(([path]) => path)).to.deep.equal(en.map(([path]) => path));
    for (const [path, text] of [...pt, ...en]) if (typeof text === 'string') expect(text.trim(), path).to.not.equal('');
    const same = pt.filter(([, text], n) => typeof text === 'string' && text === en[n]?.[1]).map(([path]) => path);
    expect(same).to.deep.equal(SHARED);
  });
});
