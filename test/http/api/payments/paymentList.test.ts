// GET /v1/payments (contract.md List payments query).
import { expect } from 'chai';
import type { TestGateway } from '../../../world/gateway.ts';
import { expectError, openReady, paramsOf } from '../../../world/http.ts';
import type { Body } from '../../../world/merchant.ts';
import { ORDERS, PaymentDesk } from '../../../world/paymentDesk.ts';

interface Transaction extends Body {
  readonly id: string;
  readonly status: string;
  readonly createdAt: string;
}
interface Page {
  readonly data: readonly Transaction[];
  readonly total: number;
  readonly page: number;
  readonly limit: number;
}

const METHODS = Object.keys(ORDERS);
const TOTAL = METHODS.length + 3;
const newestFirst = (a: Transaction, b: Transaction): number =>
  b.createdAt.localeCompare(a.createdAt) || (a.id < b.id ? -1 : 1);

describe('the list of payments', () => {
  let gateway: TestGateway;
  let desk: PaymentDesk;
  let all: readonly Transaction[];

  // Creates one payment of each method, with the card approved, and three more Pix, one of them paid.
  before(async () => {
    gateway = await openReady();
    desk = await PaymentDesk.open(gateway);
    for (const [n, method] of METHODS.entries()) {
      const customer = n % 2 === 0 ? { customerName: `Customer ${n}`, customerEmail: `c${n}@example.com` } : {};
      const id = await desk.waiting({ ...(ORDERS[method] as Body), amount: 5_000 + n, ...customer });
      if (method === 'CREDIT_CARD') await desk.act(id, 'authorize', 'APPROVED');
    }
    for (let n = 0; n < 3; n++) {
      const { body } = await gateway.charge<{ id: string }>({ amount: 1_000 }, desk.as);
      if (n === 0) {
        await gateway.post(`/v1/sandbox/charges/${body.id}/pay`, {}, desk.as);
        const asked = await gateway.post<Body>(
          `/v1/payments/${body.id}/refund`,
          { idempotencyKey: 'refund-1', amount: 400 },
          desk.as,
        );
        await gateway.post(`/v1/sandbox/refunds/${asked.body['id']}/confirm`, {}, desk.as);
      }
    }
    all = (await page('?limit=100')).data;
  });
  after(() => gateway.close());
  afterEach(() => expect(gateway.faults).to.deep.equal([]));

  const ask = (query: string, key = desk.as.key) => gateway.get<Page>(`/v1/payments${query}`, { key });
  const page = async (query = ''): Promise<Page> => {
    const { status, body, text } = await ask(query);
    expect(status, text).to.equal(200);
    return body;
  };
  const idsOf = (payments: readonly Transaction[]): string[] => payments.map(({ id }) => id);

  it('is sorted newest first, then by ID; entries equal GET except for the tx_ ID and the missing QR image', async () => {
    const { data, ...rest } = await page();
    expect(rest).to.deep.equal({ total: TOTAL, page: 1, limit: 20 });
    expect(data).to.deep.equal(data.toSorted(newestFirst));
    for (const payment of data) {
      expect(payment.id).to.match(/^tx_[0-7][0-9a-hjkmnp-tv-z]{25}$/);
      const own = await desk.read(payment.id);
      expect(payment).to.deep.equal({ ...own, id: payment.id, pixQrCode: null });
      expect(own.id).to.equal(payment.id.slice(3));
    }
  });

  it('contains each payment once across pages, with the total', async () => {
    const seen: Transaction[] = [];
    for (let number = 1; number <= 4; number++) {
      const { data, ...rest } = await page(`?page=${number}&limit=3`);
      expect(rest).to.deep.equal({ total: TOTAL, page: number, limit: 3 });
      seen.push(...data);
    }
    expect(idsOf(seen)).to.deep.equal(idsOf(all));
  });

  for (const number of [5, 1_000_000_000])
    it(`is empty on page ${number}, past the end`, async () =>
      expect(await page(`?limit=3&page=${number}`)).to.deep.equal({ data: [], total: TOTAL, page: number, limit: 3 }));

  for (const [status, count] of Object.entries({
    PENDING: 0,
    WAITING_PAYMENT: METHODS.length + 1,
    PROCESSING: 0,
    PAID: 1,
    APPROVED: 1,
    REFUSED: 0,
    CANCELLED: 0,
    EXPIRED: 0,
    REFUNDED: 0,
    CHARGEBACK: 0,
    DISPUTE: 0,
  }))
    it(`contains ${count} of status ${status}, counted across pages`, async () => {
      const expected = all.filter((payment) => payment.status === status);
      expect(expected.length).to.equal(count);
      const { data, total } = await page(`?status=${status}&limit=2`);
      expect([data, total]).to.deep.equal([expected.slice(0, 2), count]);
    });

  it('includes both bounds of a date range and counts its payments', async () => {
    const [from, to] = [all.at(-3) as Transaction, all[2] as Transaction];
    const expected = all.filter(({ createdAt }) => createdAt >= from.createdAt && createdAt <= to.createdAt);
    const { data, total } = await page(`?startDate=${from.createdAt}&endDate=${to.createdAt}&limit=2`);
    expect([data, total]).to.deep.equal([expected.slice(0, 2), expected.length]);
    const none = await page(`?startDate=${to.createdAt}&endDate=${from.createdAt}`);
    expect([none.data, none.total]).to.deep.equal([[], 0]);
    const today = await page(
      `?startDate=${from.createdAt.slice(0, 10)}&endDate=${to.createdAt.slice(0, 10)}&status=PAID`,
    );
    expect(today.total).to.equal(1);
  });

  it('sorts by every field in both directions, with nulls last', async () => {
    for (const field of Object.keys(all[0] as Transaction)) {
      const values = async (order: string) =>
        (await page(`?sortBy=${field}&sortOrder=${order}`)).data.map((payment) => payment[field]);
      const ascending = await values('asc');
      const descending = await values('desc');
      const filled = ascending.filter((value) => value !== null);
      expect(ascending.slice(0, filled.length), field).to.deep.equal(filled);
      expect(descending.slice(0, filled.length), field).to.deep.equal(filled.toReversed());
      expect([ascending.length, descending.length], field).to.deep.equal([TOTAL, TOTAL]);
      if (typeof filled[0] === 'number')
        expect(filled, field).to.deep.equal((filled as number[]).toSorted((a, b) => a - b));
      if (typeof filled[0] === 'string') expect(filled, field).to.deep.equal(filled.toSorted());
    }
  });

  it('sorts descending by default, with ties newest first', async () => {
    const { data } = await page('?sortBy=amount&limit=100');
    expect(data).to.deep.equal(
      all.toSorted((a, b) => (b['amount'] as number) - (a['amount'] as number) || newestFirst(a, b)),
    );
    expect(idsOf((await page('?sortOrder=asc')).data)).to.deep.equal(idsOf(all.toReversed()));
  });

  for (const [param, values] of [
    ['page', ['', '0', '-1', '1.5', 'x', '1000000001', '99999999999999999999']],
    ['limit', ['', '0', '101', '-1', '1.5', '1e1', 'ten']],
    ['status', ['', 'paid', 'PAID,APPROVED', 'constructor']],
    ['startDate', ['', 'x', '2026-02-30', '%00']],
    ['endDate', ['', 'x', '2026-11-21T25:00:00Z']],
    ['sortBy', ['', 'created_at', 'CreatedAt', 'customer', 'metadata.order', 'constructor', 'amount;--', '%00']],
    ['sortOrder', ['', 'ASC', 'up']],
  ] as const)
    for (const value of values)
      it(`rejects ${param}=${value}`, async () =>
        void expectError(await ask(`?${param}=${value}`), 400, 'invalid_filter', param));

  it('reports several invalid parameters at once', async () => {
    const details = expectError(await ask('?limit=0&sortBy=x'), 400, 'invalid_filter');
    expect(paramsOf(details)).to.deep.equal(['limit', 'sortBy']);
  });

  it('shows and counts nothing for other accounts and modes', async () => {
    const stranger = await gateway.newTenant();
    for (const key of [stranger.testKey, stranger.liveKey, desk.tenant.liveKey])
      for (const query of ['', '?status=PAID', '?startDate=2000-01-01'])
        expect((await ask(query, key)).body).to.deep.equal({ data: [], total: 0, page: 1, limit: 20 });
  });
});
