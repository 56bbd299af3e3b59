// The dashboard’s search, filters, sort orders, file export and live streams, in a browser without scripts.
import { expect } from 'chai';
import { EN } from '../../../http/site/dashboard/texts/en.ts';
import { cookieOf } from '../../world/browser.ts';
import { type CallOptions, newKey, type TestGateway, type TestTenant } from '../../world/gateway.ts';
import { openReady } from '../../world/http.ts';
import { pollUntil } from '../../world/pollUntil.ts';

const HTML = { accept: 'text/html', 'accept-language': 'en' };
const LIST = '/dashboard/test/payments';
const CPF = '529.982.247-25';

interface Charge {
  readonly id: string;
  readonly pix: { readonly txid: string };
  readonly settlement: { readonly end_to_end_id: string };
}

describe('the dashboard’s search', () => {
  let gateway: TestGateway;
  let tenant: TestTenant;
  let cookie: { readonly cookie: string };
  let other: { readonly cookie: string };
  let paid: Charge;
  let plain: Charge;
  let refundId: string;
  before(async () => {
    gateway = await openReady();
    tenant = await gateway.newTenant();
    cookie = cookieOf(await gateway.logIn('OWNER', await gateway.addUser('OWNER', { tenant })));
    const stranger = await gateway.newTenant();
    other = cookieOf(await gateway.logIn('OWNER', await gateway.addUser('OWNER', { tenant: stranger })));
    const key = tenant.testKey;
    const make = async (body: Record<string, unknown>): Promise<Charge> =>
      (await gateway.charge<Charge>(body, { key })).body;
    const customer = { name: '=HYPERLINK("evil";1)', document: CPF, email: 'Ana@Example.com' };
    const { id } = await make({ amount: 1_990, payment_method: 'pix', customer, description: 'Pão; "doce"' });
    plain = await make({ amount: 500_000, payment_method: 'pix' });
    await make({ amount: 1_990, payment_method: 'pix' });
    await gateway.post(`/v1/sandbox/charges/${id}/pay`, {}, { key });
    paid = (await gateway.get<Charge>(`/v1/charges/${id}`, { key })).body;
    const refund = { amount: 100, idempotencyKey: newKey() };
    await gateway.post(`/v1/payments/${id.slice(3)}/refund`, refund, { key });
    refundId = (await pollUntil(gateway.gateway.projected, 10_000, async () => {
      const { rows } = await gateway.storage.derived.query<{ rest: string }>(
        'SELECT rest FROM rm_payments.payments_apart WHERE id = $1',
        [id.slice(3)],
      );
      return /"endToEndId":"(\w+)"/.exec(rows[0]?.rest ?? '')?.[1] ?? null;
    })) as string;
  });
  after(() => gateway.close());
  afterEach(() => expect(gateway.faults).to.deep.equal([]));

  const browse = (path: string, { headers, ...options }: CallOptions = {}) =>
    gateway.call<unknown>('GET', path, { key: null, ...options, headers: { ...HTML, ...cookie, ...headers } });
  const listed = (text: string): string[] =>
    [...text.matchAll(/payments\/([0-9a-z]{26})"/g)].map(([, id]) => `ch_${id}`);
  const search = (q: string, more = '', as = cookie) =>
    browse(`${LIST}?q=${encodeURIComponent(q)}${more}`, { headers: as });

  it('redirects to the payment that an id names, in any notation', async () => {
    const raw = paid.id.slice(3);
    for (const q of [
      paid.id,
      raw,
      `tx_${raw}`,
      ` ${paid.id} `,
      paid.pix.txid,
      paid.settlement.end_to_end_id,
      refundId,
    ]) {
      const reply = await search(q);
      expect([reply.status, reply.headers.get('location')], q).to.deep.equal([303, `${LIST}/${raw}`]);
    }
  });
  it('lists payments by document, email address or amount', async () => {
    for (const q of [CPF, '52998224725', 'ana@example.com', 'ANA@EXAMPLE.COM'])
      expect(listed((await search(q)).text), q).to.deep.equal([paid.id]);
    for (const q of ['R$ 19,90', '19.90', '1990']) expect(listed((await search(q)).text), q).to.have.length(2);
    expect(listed((await search('5000')).text)).to.deep.equal([plain.id]);
    expect(listed((await search('19.90', '&status=paid')).text)).to.deep.equal([paid.id]);
  });
  it('finds nothing of another account or mode', async () => {
    for (const q of [paid.id, paid.pix.txid, paid.settlement.end_to_end_id, CPF, 'ana@example.com', '19.90']) {
      const foreign = await search(q, '', other);
      expect([foreign.status, foreign.text.includes(EN.payments.emptyFiltered)], q).to.deep.equal([200, true]);
      const live = await browse(`/dashboard/live/payments?q=${encodeURIComponent(q)}`);
      expect([live.status, live.text.includes(EN.payments.emptyFiltered)], q).to.deep.equal([200, true]);
    }
  });
  it('is at the top of each page', async () => {
    for (const path of ['', '/wallet', '/disputes', '/settings'])
      expect((await browse(`/dashboard/test${path}`)).text, path).to.include(`<form action="${LIST}" class="find"`);
  });
  it('is available in the API too', async () => {
    const find = async (query: string) =>
      (await gateway.get<{ data: { id: string }[] }>(`/v1/charges?${query}`, { key: tenant.testKey })).body.data.map(
        ({ id }) => id,
      );
    for (const q of [paid.settlement.end_to_end_id, refundId, CPF, 'ana@example.com'])
      expect(await find(`q=${encodeURIComponent(q)}`), q).to.deep.equal([paid.id]);
    expect(await find('amount_min=2000&amount_max=500000')).to.deep.equal([plain.id]);
    expect(await find('q=1990&status=pending')).to.have.length(1);
    const wrong = await gateway.get<{ error: { param: string } }>('/v1/charges?amount_min=1.5', {
      key: tenant.testKey,
    });
    expect([wrong.status, wrong.body.error.param]).to.deep.equal([400, 'amount_min']);
  });

  describe('with filters', () => {
    it('combines filters and sort orders', async () => {
      const ids = async (query: string) => listed((await browse(`${LIST}?${query}`)).text);
      expect(await ids('sort=highest')).to.have.ordered.members([plain.id, ...(await ids('sort=highest&max=20'))]);
      expect(await ids('sort=lowest')).to.deep.equal((await ids('sort=highest')).toReversed());
      expect(await ids('sort=oldest')).to.deep.equal((await ids('')).toReversed());
      expect(await ids('min=19.90&max=19%2C90&status=paid&method=PIX')).to.deep.equal([paid.id]);
      expect(await ids(`customer=${encodeURIComponent(CPF)}&q=19.90`)).to.deep.equal([paid.id]);
      expect(await ids('method=BOLETO')).to.deep.equal([]);
    });
    it('keeps the input and shows each problem next to its field', async () => {
      const reply = await browse(`${LIST}?q=19.90&from=yesterday&min=much&max=%3Cb%3E&status=paid`);
      expect(reply.status).to.equal(422);
      for (const text of [
        'value="19.90"',
        'value="yesterday" type="date" aria-invalid="true" aria-describedby="wrong-from"',
        `id="wrong-from">${EN.payments.badDay}`,
        `id="wrong-min">${EN.payments.badAmount}`,
        'value="&lt;b&gt;"',
        '<option value="paid" selected>',
      ])
        expect(reply.text).to.include(text);
      const reversed = await browse(`${LIST}?from=2026-11-02&to=2026-11-01&min=2&max=1`);
      expect(reversed.text).to.include(`id="wrong-to">${EN.payments.endsBefore}`);
      expect(reversed.text).to.include(`id="wrong-max">${EN.payments.endsBefore}`);
    });
    it('uses calendar days of São Paulo', async () => {
      const { created_at: at } = (
        await gateway.get<{ created_at: string }>(`/v1/charges/${paid.id}`, { key: tenant.testKey })
      ).body;
      const day = new Date(Date.parse(at) - 3 * 3_600_000).toISOString().slice(0, 10);
      const next = new Date(Date.parse(day) + 86_400_000).toISOString().slice(0, 10);
      expect(listed((await browse(`${LIST}?from=${day}&to=${day}`)).text)).to.have.length(3);
      expect(listed((await browse(`${LIST}?from=${next}`)).text)).to.deep.equal([]);
    });
  });

  describe('and its file export', () => {
    const file = (query: string, language: string) =>
      browse(`${LIST}/export?${query}`, { headers: { 'accept-language': language } });
    it('contains the list in its order, for Excel in Portuguese', async () => {
      const reply = await file('sort=highest', 'pt-BR');
      expect([reply.status, reply.headers.get('content-type')]).to.deep.equal([200, 'text/csv; charset=utf-8']);
      expect(reply.headers.get('content-disposition')).to.match(
        /^attachment; filename="quita-test-[a-z0-9-]*pagamentos\.csv"$/,
      );
      const bytes = Buffer.from(
        await (await fetch(`${gateway.baseUrl}${LIST}/export`, { headers: cookie })).arrayBuffer(),
      );
      expect(bytes.subarray(0, 3).toString('hex')).to.equal('efbbbf');
      const [head, ...lines] = reply.text.split('\r\n');
      expect(head?.split(';')).to.have.length(17);
      expect(lines).to.have.length(4);
      expect(lines[0])
        .to.match(new RegExp(`^${plain.id};`))
        .and.include(';5000,00;');
      const line = lines.find((one) => one.startsWith(paid.id)) ?? '';
      expect(line).to.include(`;BRL;19,90;`).and.include(`;${CPF};Ana@Example.com;`);
      expect(line).to.include(`;"'=HYPERLINK(""evil"";1)";`).and.include(';"Pão; ""doce""";');
      expect(line).to.include(paid.settlement.end_to_end_id).and.include(paid.pix.txid);
    });
    it('contains only the filtered payments in English notation, with the period in the file name', async () => {
      const reply = await file('q=19.90&status=paid&from=2026-01-01%0D%0A&to=2099-12-31', 'en');
      const [head, ...lines] = reply.text.split('\r\n');
      expect(head?.split(',')).to.have.length(17);
      expect(lines.filter((line) => line !== '')).to.have.length(1);
      expect(lines[0]).to.include(',BRL,19.90,');
      expect(reply.headers.get('content-disposition')).to.match(/-payments-2026-01-01-2099-12-31\.csv"$/);
    });
    it('redirects to the page that explains an invalid filter', async () => {
      const reply = await file('min=much', 'en');
      expect([reply.status, reply.headers.get('location')]).to.deep.equal([303, `${LIST}?min=much`]);
    });
  });

  describe('and its live streams', () => {
    const opened = async (path: string, as = cookie) => {
      const abort = new AbortController();
      const reply = await fetch(`${gateway.baseUrl}${path}`, { headers: as, signal: abort.signal });
      expect([reply.status, reply.headers.get('content-type')]).to.deep.equal([200, 'text/event-stream']);
      return { text: () => reply.text(), close: () => abort.abort() };
    };
    const versionOf = (page: string): string => /data-version="([0-9a-f]{32})"/.exec(page)?.[1] ?? '';
    for (const [what, page, stream] of [
      ['the overview', () => '/dashboard/test', () => '/dashboard/test/events'],
      ['a payment', () => `${LIST}/${plain.id.slice(3)}`, () => `${LIST}/${plain.id.slice(3)}/events`],
    ] as const)
      it(`notify ${what} of a change and end with it`, async () => {
        const shown = versionOf((await browse(page())).text);
        expect(shown).to.have.length(32);
        const { text } = await opened(`${stream()}?shown=${shown}`);
        const resend = await gateway.post(
          `/v1/payments/${plain.id.slice(3)}/resend-webhook`,
          {},
          { key: tenant.testKey },
        );
        expect(resend.status, resend.text).to.equal(200);
        const versions = [...(await text()).matchAll(/event: page\ndata: \{"version":"([0-9a-f]{32})"\}/g)].map(
          ([, one]) => one,
        );
        expect(versions.at(-1)).to.not.equal(shown);
        expect(new Set(versions.slice(0, -1))).to.deep.equal(new Set(versions.length > 1 ? [shown] : []));
        expect(versionOf((await browse(page())).text)).to.equal(versions.at(-1));
      });
    it('notify an outdated page at once', async () => {
      expect(await (await opened('/dashboard/test/events?shown=old')).text()).to.match(/^event: page\n/);
    });
    it('return 404 for another account’s payment', async () => {
      const reply = await browse(`${LIST}/${plain.id.slice(3)}/events`, { headers: other });
      expect(reply.status).to.equal(404);
    });
  });

  describe('and a payment’s page', () => {
    it('links to all webhooks of the payment', async () => {
      const key = tenant.testKey;
      const hook = { url: 'https://example.com/hooks', events: ['*'] };
      await gateway.post('/v1/webhooks/endpoints', hook, { key });
      const { id } = (await gateway.charge<Charge>({}, { key })).body;
      await gateway.post(`/v1/sandbox/charges/${id}/pay`, {}, { key });
      await gateway.post(`/v1/payments/${id.slice(3)}/resend-webhook`, {}, { key });
      const opened = await gateway.post(`/v1/sandbox/charges/${id}/med`, {}, { key });
      expect(opened.status, opened.text).to.be.below(300);
      const known = await pollUntil(gateway.gateway.projected, 20_000, async () => {
        const { rows } = await gateway.storage.operations.query<{ id: string; type: string }>(
          `SELECT id, event_type AS type FROM rm_webhook_deliveries.deliveries WHERE payment_id = $1
         UNION SELECT id, event_type FROM operations.waiting_deliveries WHERE payment_id = $1`,
          [id.slice(3)],
        );
        return rows.some(({ type }) => type === 'med_case.created') ? rows : null;
      });
      expect(known?.length).to.be.above(6);
      const { text } = await browse(`${LIST}/${id}`);
      const shown = [...text.matchAll(/webhooks\/deliveries\/([0-9a-z]{26})"/g)].map(([, one]) => one as string);
      expect(shown.toSorted()).to.deep.equal(known?.map((one) => one.id).toSorted());
      for (const one of shown)
        expect((await browse(`/dashboard/test/webhooks/deliveries/${one}`)).status).to.equal(200);
    });
  });

  it('has an index equal to its replay', async () => {
    const report = await gateway.gateway.services.platform.verify(new AbortController().signal, () => undefined);
    expect(report.differences).to.deep.equal([]);
  });
});
