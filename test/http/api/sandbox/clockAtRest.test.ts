// Work that began before an advance of the test clock is finished first; whatever comes due within it ends at its own instant (rule X5).
import { expect } from 'chai';
import { newKey, type TestGateway } from '../../../world/gateway.ts';
import { openReady } from '../../../world/http.ts';
import { type Body, Merchant } from '../../../world/merchant.ts';
import { RefundDesk } from '../../../world/refundDesk.ts';

const DAY_SECONDS = 86_400;

describe('an advance of the test clock', () => {
  let gateway: TestGateway;
  let merchant: Merchant;

  before(async () => {
    gateway = await openReady();
  });
  after(() => gateway.close());
  beforeEach(async () => {
    merchant = await Merchant.open(gateway);
  });
  afterEach(() => expect(gateway.faults).to.deep.equal([]));

  const create = async (metadata: Body = {}): Promise<string> => {
    const body = { amount: 5_000, paymentMethods: ['BOLETO'], metadata, idempotencyKey: newKey() };
    const reply = await gateway.post<{ id: string }>('/v1/payments', body, { key: merchant.key });
    expect(reply.status, reply.text).to.equal(201);
    return reply.body.id;
  };
  const statusOf = async (id: string) => (await merchant.get<Body>(`/v1/payments/${id}`)).body['status'];

  it('finalizes a payment created just before, and takes it past its expiry', async () => {
    const id = await create();
    await merchant.advance(1);
    expect(await statusOf(id)).to.equal('WAITING_PAYMENT');
    await merchant.advance(4 * DAY_SECONDS);
    expect(await statusOf(id)).to.equal('EXPIRED');
    const another = await create();
    await merchant.advance(4 * DAY_SECONDS);
    expect(await statusOf(another)).to.equal('EXPIRED');
  });

  it('finishes the return of a wrong amount paid just before', async () => {
    const { id } = await merchant.charge({ amount: 1_000 });
    const paid = gateway.post(`/v1/sandbox/charges/${id}/pay`, { amount: 999 }, { key: merchant.key });
    await paid;
    await merchant.advance(1);
    const { body } = await gateway.post(`/v1/sandbox/charges/${id}/pay`, {}, { key: merchant.key });
    expect(body['outcome']).to.equal('settled');
  });

  it('finishes all refunds requested just before', async () => {
    const desk = await RefundDesk.open(gateway, true);
    const charges = await Promise.all(Array.from({ length: 5 }, () => desk.paid(100)));
    await Promise.all(charges.flatMap((id) => [desk.refund(id, { amount: 30 }), desk.refund(id, { amount: 20 })]));
    await desk.merchant.advance(10);
    for (const id of charges)
      expect((await desk.list(id)).map(({ status }) => status)).to.deep.equal(['REFUNDED', 'REFUNDED']);
  });

  it('is not delayed by a payment whose provider is unavailable', async () => {
    const id = await create({ sandbox_provider: 'unavailable' });
    const startedMs = performance.now();
    await merchant.advance(30);
    expect(performance.now() - startedMs).to.be.below(20_000); // waiting for work that never ends takes twice as long
    expect(await statusOf(id)).to.equal('PENDING');
  });
});
