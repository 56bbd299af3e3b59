// GET /v1/charges (contract.md List charges query, rules I9, I12).
import { expect } from 'chai';
import type { TestGateway } from '../../../world/gateway.ts';
import { expectError, openReady, paramsOf } from '../../../world/http.ts';
import { type Body, Merchant } from '../../../world/merchant.ts';

interface Charge extends Body {
  readonly id: string;
  readonly created_at: string;
  readonly status: string;
}
interface Page {
  readonly object: string;
  readonly data: readonly Charge[];
  readonly has_more: boolean;
  readonly next_cursor: string | null;
}

const DOCUMENT = '529.982.247-25';
const CNPJ = '12.ABC.345/01DE-35';
const newestFirst = (a: Charge, b: Charge): number =>
  b.created_at.localeCompare(a.created_at) || (a.id < b.id ? -1 : 1);

describe('the list of charges', () => {
  let gateway: TestGateway;
  let merchant: Merchant;
  let stranger: Merchant;
  let all: readonly Charge[];

  // Creates two expired, two paid and four pending charges. Four are by one customer, with and without a mask; one is by a company.
  before(async () => {
    gateway = await openReady();
    merchant = await Merchant.open(gateway);
    stranger = await Merchant.open(gateway);
    await merchant.charge({ expires_in: 60, customer: { document: DOCUMENT } });
    await merchant.charge({ expires_in: 60 });
    await merchant.advance(3_600);
    const paid = await Promise.all([merchant.charge(), merchant.charge({ customer: { document: DOCUMENT } })]);
    for (const { id } of paid) await merchant.pay(id);
    await merchant.charge({ customer: { document: '52998224725' } });
    await merchant.charge({ customer: { document: ' 529 982 247 25' } });
    await merchant.charge({ customer: { document: CNPJ } });
    await merchant.charge();
    all = (await page()).data;
  });
  after(() => gateway.close());
  afterEach(() => expect(gateway.faults).to.deep.equal([]));

  const ask = (query: string, of: Merchant = merchant) => of.get<Page>(`/v1/charges${query}`);
  const page = async (query = ''): Promise<Page> => {
    const { status, body, text } = await ask(query);
    expect(status, text).to.equal(200);
    return body;
  };
  const idsOf = (charges: readonly Charge[]): string[] => charges.map(({ id }) => id);

  it('is sorted newest first, then by ID, with each charge as GET returns it', async () => {
    const whole = await page();
    expect({ ...whole, data: whole.data.length }).to.deep.equal({
      object: 'list',
      data: 8,
      has_more: false,
      next_cursor: null,
    });
    expect(whole.data).to.deep.equal(whole.data.toSorted(newestFirst));
    for (const charge of whole.data)
      expect((await merchant.get(`/v1/charges/${charge.id}`)).body).to.deep.equal(charge);
  });

  it('is the same when requested again', async () =>
    expect(await page('?limit=3')).to.deep.equal(await page('?limit=3')));

  for (const limit of [1, 3, 4, 7, 8, 100])
    it(`contains each charge once in pages of ${limit}`, async () => {
      const seen: Charge[] = [];
      let query = `?limit=${limit}`;
      for (;;) {
        const { data, has_more, next_cursor } = await page(query);
        seen.push(...data);
        expect(next_cursor).to.equal(has_more ? data.at(-1)?.id : null);
        expect(has_more).to.equal(seen.length < all.length);
        if (next_cursor === null) break;
        expect(data.length).to.equal(limit);
        query = `?limit=${limit}&starting_after=${next_cursor}`;
      }
      expect(idsOf(seen)).to.deep.equal(idsOf(all));
    });

  it('is empty after its last charge', async () =>
    expect(await page(`?starting_after=${all.at(-1)?.id}`)).to.deep.equal({
      object: 'list',
      data: [],
      has_more: false,
      next_cursor: null,
    }));

  it('is paged without shifts when charges are added meanwhile', async () => {
    const other = await Merchant.open(gateway);
    for (let n = 0; n < 3; n++) await other.charge();
    const first = (await ask('?limit=2', other)).body;
    await other.charge();
    const rest = (await ask(`?limit=2&starting_after=${first.next_cursor}`, other)).body;
    const now = idsOf((await ask('', other)).body.data);
    expect([...idsOf(first.data), ...idsOf(rest.data)]).to.deep.equal(now.slice(1));
  });

  for (const [status, count] of Object.entries({
    pending: 4,
    processing: 0,
    paid: 2,
    failed: 0,
    expired: 2,
    cancelled: 0,
    refunded: 0,
    disputed: 0,
  }))
    it(`contains ${count} of status ${status}`, async () => {
      const expected = all.filter((charge) => charge.status === status);
      expect(expected.length).to.equal(count);
      expect((await page(`?status=${status}`)).data).to.deep.equal(expected);
    });

  for (const [document, count] of [
    ['52998224725', 4],
    [DOCUMENT, 4],
    ['529982247-25', 4],
    ['12ABC34501DE35', 1],
    ['12.abc.345/01de-35', 1],
    ['52998224726', 0],
    ['5299822472', 0],
    ["1' OR '1'='1", 0],
  ] as const)
    it(`contains ${count} of customer ${document}, ignoring masks`, async () => {
      const bare = document.replaceAll(/[^0-9a-z]/gi, '').toUpperCase();
      const { data } = await page(`?customer_id=${encodeURIComponent(document)}`);
      const expected = all.filter(
        ({ customer }) => (customer as { document: string | null }).document?.replaceAll(/[^0-9A-Z]/g, '') === bare,
      );
      expect([expected.length, data]).to.deep.equal([count, expected]);
    });

  it('combines status, customer, dates, cursor and limit', async () => {
    const expected = all.filter(
      ({ status, customer }) => status === 'pending' && (customer as { document: string | null }).document !== null,
    );
    const query = `status=pending&customer_id=${DOCUMENT}&created_after=${all.at(-1)?.created_at}&created_before=${all[0]?.created_at}`;
    const first = await page(`?${query}&limit=1`);
    const second = await page(`?${query}&limit=1&starting_after=${first.next_cursor}`);
    expect([...first.data, ...second.data]).to.deep.equal(
      expected.filter(({ customer }) => (customer as { document: string }).document !== CNPJ),
    );
    expect([first.has_more, second.has_more]).to.deep.equal([true, false]);
  });

  it('includes both bounds of a time range', async () => {
    const [from, to] = [all.at(-2) as Charge, all[1] as Charge];
    const { data } = await page(`?created_after=${from.created_at}&created_before=${to.created_at}`);
    expect(data).to.deep.equal(
      all.filter(({ created_at }) => created_at >= from.created_at && created_at <= to.created_at),
    );
    expect(await page(`?created_after=${to.created_at}&created_before=${from.created_at}`)).to.deep.include({
      data: [],
    });
  });

  it('accepts the usual date formats', async () => {
    const newest = all[0]?.created_at as string;
    const millis = Date.parse(newest);
    const local = (offset: string, hours: number) =>
      `${new Date(millis + hours * 3_600_000).toISOString().slice(0, -1)}${offset}`;
    const same = [
      newest,
      newest.replace('Z', 'z').replace('T', 't'),
      newest.slice(0, -1),
      local('-03:00', -3),
      local('+0530', 5.5),
      local('%2B14', 14),
      `${newest.slice(0, -1)}000Z`,
    ];
    const expected = all.filter(({ created_at }) => created_at >= newest);
    for (const text of same) expect((await page(`?created_after=${text}`)).data, text).to.deep.equal(expected);
    // Later by a microsecond, so no longer the same instant.
    expect((await page(`?created_after=${newest.slice(0, -1)}001Z`)).data).to.deep.equal([]);
    expect((await page(`?created_before=${newest.slice(0, -1)}999Z`)).data).to.deep.equal(all);
    const day = newest.slice(0, 10);
    expect((await page(`?created_after=${day}&created_before=${day}`)).data).to.deep.equal(
      all.filter(({ created_at }) => created_at.startsWith(day)),
    );
    expect((await page('?created_after=0001-01-01&created_before=9999-12-31T23:59:59Z')).data).to.deep.equal(all);
  });

  for (const [param, code, values] of [
    ['limit', 'invalid_filter', ['', '0', '101', '-1', '1.5', '1e1', 'ten', '99999999999999999999']],
    ['status', 'invalid_filter', ['', 'PAID', 'WAITING_PAYMENT', 'paid,pending', 'constructor']],
    [
      'starting_after',
      'invalid_cursor',
      [
        '',
        'ch_',
        'ch_1',
        '0'.repeat(26),
        `tx_${'0'.repeat(26)}`,
        `ch_${'0'.repeat(26)}`,
        `ch_${'8'.repeat(26)}`,
        '%00',
      ],
    ],
    ['customer_id', 'invalid_filter', ['', '---', '%00', '%20']],
    ['page', 'invalid_filter', ['', '1', 'x']],
    ['offset', 'invalid_filter', ['', '0', '25']],
    ...(['created_after', 'created_before'] as const).map(
      (param) =>
        [
          param,
          'invalid_filter',
          [
            '',
            'yesterday',
            '1763730000',
            '2026-11',
            '20261121',
            '2026-13-01',
            '2026-02-30',
            '2026-11-21T24:00:00Z',
            '2026-11-21T13:00:60Z',
            '2026-11-21T13Z',
            '2026-11-21T13:00:00%2B24:00',
            '2026-11-21T13:00:00BRT',
            '21/11/2026',
            '2026-11-21 13:00:00',
            '%00',
          ],
        ] as const,
    ),
  ] as const)
    for (const value of values)
      it(`rejects ${param}=${value}`, async () => void expectError(await ask(`?${param}=${value}`), 400, code, param));

  it('rejects a repeated parameter', async () =>
    void expectError(await ask('?status=paid&status=pending'), 400, 'invalid_filter', 'status'));

  it('reports several invalid parameters at once', async () => {
    const details = expectError(await ask('?limit=0&status=x&page=1'), 400, 'invalid_filter');
    expect(paramsOf(details)).to.deep.equal(['limit', 'status', 'page']);
  });

  it('accepts no cursor of another account, and shows none of its charges', async () => {
    expectError(await ask(`?starting_after=${all[0]?.id}`, stranger), 400, 'invalid_cursor', 'starting_after');
    expect((await ask('', stranger)).body.data).to.deep.equal([]);
  });

  it('contains a charge as soon as its creation has been answered', async () => {
    const other = await Merchant.open(gateway);
    for (let n = 1; n <= 5; n++) {
      const { id } = await other.charge();
      const { data } = (await ask('', other)).body;
      expect([data[0]?.id, data.length]).to.deep.equal([id, n]);
    }
  });
});
