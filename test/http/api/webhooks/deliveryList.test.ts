// GET /v1/webhooks/deliveries: filters, pages, order (contract.md Deliveries query, rule E1).
import { expect } from 'chai';
import { Receivers } from '../../../world/deliveryFacts.ts';
import type { TestGateway } from '../../../world/gateway.ts';
import { expectError, openReady } from '../../../world/http.ts';
import { type Delivery, type Endpoint, Merchant } from '../../../world/merchant.ts';
import { typeOf } from '../../../world/receiver.ts';

describe('the list of deliveries', () => {
  let gateway: TestGateway;
  let merchant: Merchant;
  let well: Endpoint;
  let ill: Endpoint;
  let all: readonly Delivery[];
  const receivers = new Receivers();
  const CHARGES = 4;

  // One endpoint accepts everything, the other one rejects legacy events.
  before(async () => {
    gateway = await openReady();
    merchant = await Merchant.open(gateway);
    // Retry-After keeps retries from coming due during the tests, because a delivery under retry is not PENDING.
    const receiver = await receivers.open((hit, res) => {
      const isRefused = hit.path.endsWith('ill') && typeOf(hit) === 'payment.created';
      res.writeHead(isRefused ? 503 : 200, isRefused ? { 'retry-after': '3600' } : {}).end();
    });
    const events = ['charge.created', 'payment.created'];
    well = await merchant.register(`${receiver.url}/well`, events);
    ill = await merchant.register(`${receiver.url}/ill`, events);
    for (let i = 0; i < CHARGES; i++) {
      await merchant.charge();
      await merchant.flush(); // one success and one failure at a time: three failures in a row would hold back the rest (W3)
    }
    all = (await merchant.deliveries('?limit=100')).data;
  });
  after(async () => {
    await gateway.close();
    await receivers.close();
  });
  afterEach(() => expect(gateway.faults).to.deep.equal([]));
  const idsOf = (deliveries: readonly Delivery[]) => deliveries.map(({ id }) => id);

  it('is sorted newest first, then by ID, with the total', async () => {
    const page = await merchant.deliveries();
    expect([page.total, page.limit, page.offset, page.data.length]).to.deep.equal([16, 25, 0, 16]);
    expect(page.data).to.deep.equal(
      page.data.toSorted((a, b) => b.createdAt.localeCompare(a.createdAt) || (a.id < b.id ? -1 : 1)),
    );
    expect(new Set(idsOf(page.data)).size).to.equal(16);
  });
  it('contains each delivery once across pages', async () => {
    const pages: Delivery[] = [];
    for (const offset of [0, 5, 10, 15, 20]) {
      const page = await merchant.deliveries(`?limit=5&offset=${offset}`);
      expect([page.total, page.limit, page.offset]).to.deep.equal([16, 5, offset]);
      pages.push(...page.data);
    }
    expect(idsOf(pages)).to.deep.equal(idsOf(all));
  });
  it('is empty past the end', async () =>
    void expect(await merchant.deliveries('?offset=1000000000')).to.deep.equal({
      data: [],
      total: 16,
      limit: 25,
      offset: 1_000_000_000,
    }));

  const filters: readonly (readonly [() => string, (delivery: Delivery) => boolean, number])[] = [
    [() => 'status=DELIVERED', ({ status }) => status === 'DELIVERED', 12],
    [() => 'status=PENDING', ({ status }) => status === 'PENDING', 4],
    [() => 'status=PROCESSING', () => false, 0],
    [() => 'status=FAILED', () => false, 0],
    [() => 'status=CANCELLED', () => false, 0],
    [() => 'eventType=charge.created', ({ eventType }) => eventType === 'charge.created', 8],
    [() => 'eventType=payment.created', ({ eventType }) => eventType === 'payment.created', 8],
    [() => 'eventType=charge.paid', () => false, 0],
    [() => `endpointId=${well.id}`, ({ endpointId }) => endpointId === well.id, 8],
    [() => `endpointId=${ill.id}`, ({ endpointId }) => endpointId === ill.id, 8],
    [() => `endpointId=we_${'0'.repeat(26)}`, () => false, 0],
    [() => `endpointId=${ill.id}&status=PENDING&eventType=payment.created`, ({ status }) => status === 'PENDING', 4],
    [() => `endpointId=${well.id}&status=PENDING`, () => false, 0],
    [() => `endpointId=${ill.id}&status=PENDING&eventType=charge.created`, () => false, 0],
  ];
  for (const [number, [query, matches, total]] of filters.entries())
    it(`keeps ${total} by filter ${number + 1}, counted across pages`, async () => {
      const expected = idsOf(all.filter(matches));
      expect(expected.length).to.equal(total);
      const page = await merchant.deliveries(`?${query()}`);
      expect([idsOf(page.data), page.total]).to.deep.equal([expected, total]);
      const second = await merchant.deliveries(`?${query()}&limit=3&offset=3`);
      expect([idsOf(second.data), second.total]).to.deep.equal([expected.slice(3, 6), total]);
    });

  for (const [param, values] of [
    ['status', ['', 'pending', 'DELIVERED,PENDING', ' PENDING', 'constructor']],
    ['eventType', ['', '*', 'nothing', 'CHARGE.CREATED', '__proto__', '%00']],
    [
      'endpointId',
      ['', 'we_1', '0'.repeat(26), `wd_${'0'.repeat(26)}`, `we_${'8'.repeat(26)}`, `we_${'U'.repeat(26)}`],
    ],
    ['limit', ['', '0', '101', '-1', '1.5', '1e1', 'ten', '+5', '99999999999999999999']],
    ['offset', ['', '-1', '1.5', 'x', '1000000001', '99999999999999999999']],
  ] as const)
    for (const value of values)
      it(`rejects ${param}=${value}`, async () =>
        void expectError(
          await merchant.get(`/v1/webhooks/deliveries?${param}=${value}`),
          400,
          'invalid_filter',
          param,
        ));
});
