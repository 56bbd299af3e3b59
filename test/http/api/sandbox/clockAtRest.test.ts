// What was begun before the test clock is moved ends before it, and what falls due on the way ends at its own instant (rule X5).
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

  it('right after a payment was created finds it finalised, and takes it past its expiry', async () => {
    const id = await create();
    await merchant.advance(1);
    expect(await statusOf(id)).to.equal('WAITING_PAYMENT');
    await merchant.advance(4 * DAY_SECONDS);
    expect(await statusOf(id)).to.equal('EXPIRED');
    const another = await create();
    await merchant.advance(4 * DAY_SECONDS);
    expect(await statusOf(another)).to.equal('EXPIRED');
  });

  it('right after a wrong amount was paid finds it returned', async () => {
    const { id } = await merchant.charge({ amount: 1_000 });
    const paid = gateway.post(`/v1/sandbox/charges/${id}/pay`, { amount: 999 }, { key: merchant.key });
    await paid;
    await merchant.advance(1);
    const { body } = await gateway.post(`/v1/sandbox/charges/${id}/pay`, {}, { key: merchant.key });
    expect(body['outcome']).to.equal('settled');
  });

  it('right after many refunds were asked for finds them all at their end', async () => {
    const desk = await RefundDesk.open(gateway, true);
    const charges = await Promise.all(Array.from({ length: 5 }, () => desk.paid(100)));
    await Promise.all(charges.flatMap((id) => [desk.refund(id, { amount: 30 }), desk.refund(id, { amount: 20 })]));
    await desk.merchant.advance(10);
    for (const id of charges)
      expect((await desk.list(id)).map(({ status }) => status)).to.deep.equal(['REFUNDED', 'REFUNDED']);
  });

  it('is not held up by a payment whose provider is away', async () => {
    const id = await create({ sandbox_provider: 'unavailable' });
    const startedMs = performance.now();
    await merchant.advance(30);
    expect(performance.now() - startedMs).to.be.below(20_000); // work that never rests is waited for twice as long
    expect(await statusOf(id)).to.equal('PENDING');
  });
});
