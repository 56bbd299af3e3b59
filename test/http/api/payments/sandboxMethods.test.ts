// POST /v1/sandbox/payments/{id}/… (rule X2): what acquirers do with payments of other methods, as seen in reads, wallets and webhooks
// (I8a, M1, M2, M9, W9).
import { expect } from 'chai';
import type { ErrorCode } from '../../../../domain/kernel/rejection.ts';
import { newKey, type TestGateway } from '../../../world/gateway.ts';
import { expectError, openReady } from '../../../world/http.ts';
import { expectLedgerBalances } from '../../../world/ledgerFacts.ts';
import type { Body } from '../../../world/merchant.ts';
import { ORDERS, PaymentDesk, PHONE } from '../../../world/paymentDesk.ts';
import { Receiver, typeOf } from '../../../world/receiver.ts';

const DAY_SECONDS = 86_400;
const CARD = ORDERS['CREDIT_CARD'] as Body;
const CREATED = ['charge.created', 'payment.created'];
const CHANGED = 'payment.status_changed';
/** Expected fees, hold and status for 10,000, by method (M1, M2). They are written out here to be independent of the product. */
const METHODS = {
  CREDIT_CARD: { providerFee: 280, platformFee: 100, netAmount: 9_620, days: 2, status: 'APPROVED' },
  MBWAY: { providerFee: 150, platformFee: 100, netAmount: 9_750, days: 1, status: 'PAID' },
  MULTIBANCO: { providerFee: 150, platformFee: 100, netAmount: 9_750, days: 1, status: 'PAID' },
  BOLETO: { providerFee: 150, platformFee: 100, netAmount: 9_750, days: 1, status: 'PAID' },
  CRYPTO: { providerFee: 150, platformFee: 100, netAmount: 9_750, days: 1, status: 'PAID' },
} as const;

describe('sandbox: acquirers of other methods', () => {
  let gateway: TestGateway;
  let receiver: Receiver;
  let desk: PaymentDesk;
  before(async () => {
    gateway = await openReady();
    receiver = await Receiver.open();
  });
  after(async () => {
    await gateway.close();
    await receiver.close();
  });
  // Each test has its own account, so its wallet starts empty and its webhooks belong to this test only.
  beforeEach(async () => {
    desk = await PaymentDesk.open(gateway);
    await desk.listen(receiver);
  });
  afterEach(async () => {
    await expectLedgerBalances(gateway);
    expect(gateway.faults).to.deep.equal([]);
  });

  const refuses = async (
    id: string,
    act: 'authorize' | 'refuse' | 'processing' | 'chargeback' | 'dispute',
    code: ErrorCode,
    param?: string,
    body: Body = {},
  ) => {
    const before = await desk.read(id);
    expectError(await desk.try(id, act, body), 400, code, param);
    expect(await desk.read(id)).to.deep.equal(before);
  };
  const changes = () =>
    desk
      .hits(receiver)
      .filter((hit) => typeOf(hit) === CHANGED)
      .map(({ body }) => body['data'] as Body)
      .map((data) => `${data['previousStatus']} ${data['status']}`)
      .sort();

  describe('authorize', () => {
    for (const [method, { providerFee, platformFee, netAmount, days, status }] of Object.entries(METHODS))
      it(`makes ${method} ${status} with fees and net amount, held for ${days} day(s), and sends each webhook once`, async () => {
        const { id, ...created } = await desk.create(ORDERS[method] as Body);
        const currency = created['currency'] as string;
        const paid = await desk.act(id, 'authorize', status); // immediately, before the acquirer may have accepted it
        expect(paid).to.include({ paidWith: method, providerFee, platformFee, netAmount });
        const held = await desk.wallet(currency);
        expect(held).to.include({ available: 0, pending: netAmount, next_release_amount: netAmount });
        const heldMs = Date.parse(held['next_release_at'] as string) - Date.parse(paid['paidAt'] as string);
        expect(heldMs).to.be.within(days * DAY_SECONDS * 1_000, days * DAY_SECONDS * 1_000 + 60_000);
        const isCard = method === 'CREDIT_CARD';
        expect(await desk.told(receiver)).to.deep.equal(
          [...CREATED, 'charge.paid', 'payment.completed', CHANGED, ...(isCard ? [CHANGED] : [])].sort(),
        );
        expect(changes()).to.deep.equal(
          isCard ? ['PROCESSING APPROVED', 'WAITING_PAYMENT PROCESSING'] : ['WAITING_PAYMENT PAID'],
        );
        const completed = desk.hits(receiver).find((hit) => typeOf(hit) === 'payment.completed')?.body['data'] as Body;
        expect(completed).to.deep.equal({
          transactionId: `tx_${id}`,
          amount: 10_000,
          status,
          previousStatus: isCard ? 'PROCESSING' : 'WAITING_PAYMENT',
          paidWith: method,
          providerFee,
          platformFee,
          netAmount,
          occurredAt: completed['occurredAt'],
        });
        await desk.advance(days * DAY_SECONDS - 60);
        expect(await desk.wallet(currency)).to.include({ available: 0, pending: netAmount });
        await desk.advance(60);
        expect(await desk.wallet(currency)).to.include({ available: netAmount, pending: 0, next_release_at: null });
      });
    it('is idempotent, also under concurrency', async () => {
      const { id } = await desk.create(CARD);
      const first = await desk.act(id, 'authorize', 'APPROVED');
      expect(await desk.act(id, 'authorize', 'APPROVED')).to.deep.equal(first);
      expect(await desk.act(`tx_${id}`, 'authorize', 'APPROVED', { method: 'CREDIT_CARD' })).to.deep.equal(first);
      const other = await desk.create(CARD);
      const replies = await Promise.all(Array.from({ length: 10 }, () => desk.try(`ch_${other.id}`, 'authorize')));
      expect(new Set(replies.map(({ status, text }) => `${status} ${text}`)).size).to.equal(1);
      expect((await desk.wallet('BRL'))['pending']).to.equal(2 * 9_620);
      expect((await desk.told(receiver)).filter((type) => type === 'charge.paid').length).to.equal(2);
    });
    it('uses the requested method, else the first that is not Pix', async () => {
      const several = { ...CARD, paymentMethods: ['PIX', 'BOLETO', 'CREDIT_CARD'] };
      const chosen = await desk.create(several);
      expect((await desk.act(chosen.id, 'authorize', 'APPROVED', { method: 'CREDIT_CARD' })).paidWith).to.equal(
        'CREDIT_CARD',
      );
      const usual = await desk.create(several);
      expect((await desk.act(usual.id, 'authorize', 'PAID')).paidWith).to.equal('BOLETO');
    });
    it('rejects a method that has expired while another one can still pay (I8a)', async () => {
      const id = await desk.waiting({ ...CARD, paymentMethods: ['CREDIT_CARD', 'BOLETO'] });
      await desk.advance(1_801); // the card has half an hour, the boleto three days
      await refuses(id, 'authorize', 'invalid_request', undefined, { method: 'CREDIT_CARD' });
      expect((await desk.act(id, 'authorize', 'PAID')).paidWith).to.equal('BOLETO');
    });
    it('returns 400 invalid_payment_method for a method that the payment does not have', async () => {
      const id = await desk.waiting({ ...CARD, paymentMethods: ['PIX', 'CREDIT_CARD'] });
      for (const method of ['PIX', 'BOLETO', 'MBWAY', 'CASH', '', null, 7])
        await refuses(id, 'authorize', 'invalid_payment_method', 'method', { method });
      const pix = await desk.waiting(ORDERS['PIX'] as Body);
      for (const act of ['authorize', 'refuse', 'processing', 'chargeback', 'dispute'] as const)
        await refuses(pix, act, 'invalid_payment_method');
    });
    it('waits until the acquirer has accepted the payment', async () => {
      const { id } = await desk.create({ ...CARD, metadata: { sandbox_provider: 'slow' } });
      await desk.act(id, 'authorize', 'APPROVED');
    });
    it('returns 400 if the acquirer has not accepted it within 5 s', async () => {
      const { id } = await desk.create({ ...CARD, metadata: { sandbox_provider: 'unavailable' } });
      gateway.isPatient = false;
      await refuses(id, 'authorize', 'invalid_request');
      gateway.isPatient = true;
    });
    it('returns 400 for rejected, expired and canceled payments, as do the other actions', async () => {
      const rejected = await desk.create({ ...CARD, metadata: { sandbox_provider: 'rejected' } });
      const cancelled = await desk.waiting(CARD);
      expect((await gateway.post(`/v1/payments/${cancelled}/cancel`, undefined, desk.as)).status).to.equal(200);
      const expired = await desk.waiting(CARD);
      await desk.until(rejected.id, 'REFUSED');
      await desk.advance(1_800);
      for (const id of [rejected.id, cancelled, expired])
        for (const act of ['authorize', 'refuse', 'processing', 'chargeback'] as const)
          await refuses(id, act, 'invalid_request');
    });
  });

  describe('a second payment of a paid one is returned (I8a)', () => {
    const several = { ...CARD, paymentMethods: ['PIX', 'BOLETO', 'CREDIT_CARD'] };
    it('by another method', async () => {
      const { id } = await desk.create(several);
      const first = await desk.act(id, 'authorize', 'PAID', { method: 'BOLETO' });
      expect(await desk.act(id, 'authorize', 'PAID', { method: 'CREDIT_CARD' })).to.deep.equal(first);
      expect(await desk.act(id, 'authorize', 'PAID', { method: 'CREDIT_CARD' })).to.deep.equal(first);
      expect(await desk.wallet('BRL')).to.include({ available: 0, pending: 9_750 });
      expect((await desk.told(receiver)).filter((type) => type === 'payment.refunded')).to.deep.equal([]);
    });
    it('by card after Pix, and by Pix after card', async () => {
      const pay = async (id: string, outcome: string) => {
        const { status, body, text } = await gateway.post<Body>(`/v1/sandbox/charges/${id}/pay`, {}, desk.as);
        expect([status, body['outcome']], text).to.deep.equal([200, outcome]);
      };
      const pixFirst = await desk.create(several);
      await pay(pixFirst.id, 'settled'); // immediately: the request waits for the Pix code
      expect((await desk.act(pixFirst.id, 'authorize', 'PAID', { method: 'CREDIT_CARD' })).paidWith).to.equal('PIX');
      await refuses(pixFirst.id, 'chargeback', 'invalid_request');
      const cardFirst = await desk.create(several);
      const paid = await desk.act(cardFirst.id, 'authorize', 'APPROVED', { method: 'CREDIT_CARD' });
      await pay(cardFirst.id, 'returned');
      expect(await desk.read(cardFirst.id)).to.deep.equal(paid);
      expect(await desk.wallet('BRL')).to.include({ available: 9_890, pending: 9_620 });
    });
  });

  describe('refuse', () => {
    it('makes a single-method payment REFUSED with the reason, sends the failure, and is idempotent', async () => {
      const { id } = await desk.create(CARD);
      const reason = 'r'.repeat(500);
      const refused = await desk.act(id, 'refuse', 'REFUSED', { reason });
      expect(refused).to.include({ paidWith: null, providerFee: null, paidAt: null });
      expect(await desk.act(id, 'refuse', 'REFUSED', { reason: 'other' })).to.deep.equal(refused);
      const { body } = await gateway.get<Body>(`/v1/charges/${id}`, desk.as);
      expect(body['status']).to.equal('failed');
      expect((body['metadata'] as { failure: Body }).failure).to.include({ reason, providerErrorCode: 'declined' });
      expect(await desk.told(receiver)).to.deep.equal([...CREATED, 'charge.failed', 'payment.failed', CHANGED].sort());
      expect(changes()).to.deep.equal(['WAITING_PAYMENT REFUSED']);
      for (const act of ['authorize', 'processing'] as const) await refuses(id, act, 'invalid_request');
      expect(await desk.wallet('BRL')).to.include({ available: 0, pending: 0 });
    });
    it('leaves other methods payable; the last refusal ends the payment', async () => {
      const order = { ...CARD, currency: 'EUR', paymentMethods: ['MBWAY', 'CREDIT_CARD'], metadata: { phone: PHONE } };
      const { id } = await desk.create(order);
      await desk.act(id, 'refuse', 'WAITING_PAYMENT');
      await refuses(id, 'authorize', 'invalid_request', undefined, { method: 'MBWAY' });
      await desk.act(id, 'processing', 'PROCESSING');
      await desk.act(id, 'refuse', 'REFUSED');
      const { id: paid } = await desk.create(order);
      await desk.act(paid, 'refuse', 'WAITING_PAYMENT');
      expect((await desk.act(paid, 'authorize', 'APPROVED')).paidWith).to.equal('CREDIT_CARD');
      await refuses(paid, 'refuse', 'invalid_request');
    });
    it('leaves the Pix payable if only the card is refused', async () => {
      const { id } = await desk.create({ ...CARD, paymentMethods: ['CREDIT_CARD', 'PIX'] });
      await desk.act(id, 'refuse', 'WAITING_PAYMENT');
      const { body } = await gateway.post<Body>(`/v1/sandbox/charges/${id}/pay`, {}, desk.as);
      expect([body['outcome'], (await desk.read(id)).paidWith]).to.deep.equal(['settled', 'PIX']);
    });
    it('keeps a payment open whose Pix code has expired and can’t be paid any more, until the last expiry (M4, I8a, X1)', async () => {
      const pay = async (id: string, body: Body = {}) =>
        (await gateway.post<Body>(`/v1/sandbox/charges/${id}/pay`, body, desk.as)).body['outcome'];
      const { id } = await desk.create({ ...CARD, paymentMethods: ['PIX', 'BOLETO'] });
      await desk.act(id, 'processing', 'PROCESSING');
      await desk.advance(3_601); // the Pix code has an hour, the boleto three days
      expect(await pay(id)).to.equal('refused');
      await desk.act(id, 'refuse', 'WAITING_PAYMENT');
      expect([await pay(id), await pay(id, { late: true })]).to.deep.equal(['refused', 'returned']);
      expect((await desk.read(id)).status).to.equal('WAITING_PAYMENT');
      await desk.advance(4 * 86_400);
      expect((await desk.read(id)).status).to.equal('EXPIRED');
    });
    it('returns 400 for a reason of 501 characters or of another type', async () => {
      const id = await desk.waiting(CARD);
      for (const reason of ['r'.repeat(501), 5, null, ['x'], '\u0000'])
        await refuses(id, 'refuse', 'invalid_request', 'reason', { reason });
    });
  });

  it('shows PROCESSING in both formats, idempotently, and can be paid afterwards', async () => {
    const { id } = await desk.create(ORDERS['MBWAY'] as Body);
    const first = await desk.act(id, 'processing', 'PROCESSING');
    expect(await desk.act(id, 'processing', 'PROCESSING')).to.deep.equal(first);
    expect((await gateway.get<Body>(`/v1/charges/${id}`, desk.as)).body['status']).to.equal('processing');
    await desk.act(id, 'authorize', 'PAID');
    await refuses(id, 'processing', 'invalid_request');
    await desk.told(receiver);
    expect(changes()).to.deep.equal(['PROCESSING PAID', 'WAITING_PAYMENT PROCESSING']);
  });

  describe('chargeback and dispute (M9)', () => {
    for (const [act, status, other] of [
      ['chargeback', 'CHARGEBACK', 'dispute'],
      ['dispute', 'DISPUTE', 'chargeback'],
    ] as const)
      it(`makes it ${status}, holds the gross amount and sends payment.failed; ${act} is idempotent`, async () => {
        const { id } = await desk.create(CARD);
        const { status: _, ...paid } = await desk.act(id, 'authorize', 'APPROVED');
        const disputed = await desk.act(id, act, status);
        expect(disputed).to.deep.equal({ ...paid, status });
        expect(await desk.act(id, act, status)).to.deep.equal(disputed);
        await refuses(id, other, 'invalid_request');
        expect((await gateway.get<Body>(`/v1/charges/${id}`, desk.as)).body['status']).to.equal('disputed');
        const { body: wallet } = await gateway.get<Body>('/v1/wallets/balance', desk.as);
        expect(wallet).to.include({ available: -10_000, pending: 9_620, total: -380, retained: 10_000 });
        const settled = [...CREATED, CHANGED, CHANGED, 'charge.paid', 'payment.completed'];
        expect(await desk.told(receiver)).to.deep.equal(
          [...settled, 'payment.failed', CHANGED, 'med_case.created'].sort(),
        );
        const failed = desk.hits(receiver).find((hit) => typeOf(hit) === 'payment.failed')?.body['data'] as Body;
        expect(failed).to.include({ transactionId: `tx_${id}`, amount: 10_000, status, previousStatus: 'APPROVED' });
        expect(Object.keys(failed)).to.not.include('paidWith');
      });
    it('return 400 unless settled by card, and invalid_payment_method without a card', async () => {
      const waiting = await desk.waiting(CARD);
      const boleto = await desk.create(ORDERS['BOLETO'] as Body);
      await desk.act(boleto.id, 'authorize', 'PAID');
      const either = await desk.create({ ...CARD, paymentMethods: ['BOLETO', 'CREDIT_CARD'] });
      await desk.act(either.id, 'authorize', 'PAID');
      for (const act of ['chargeback', 'dispute'] as const) {
        await refuses(waiting, act, 'invalid_request');
        await refuses(boleto.id, act, 'invalid_payment_method');
        await refuses(either.id, act, 'invalid_request');
      }
    });
    it('hold the amount left after a partial refund, and return 400 after a full one', async () => {
      const refund = async (id: string, body: Body) => {
        const path = `/v1/payments/${id}/refund`;
        const reply = await gateway.post(path, { idempotencyKey: newKey(), ...body }, desk.as);
        expect(reply.status, reply.text).to.equal(201);
        return reply.body['id'] as string;
      };
      const [partly, fully] = [await desk.create(CARD), await desk.create(CARD)];
      for (const { id } of [partly, fully]) await desk.act(id, 'authorize', 'APPROVED');
      await refund(partly.id, { amount: 4_000 });
      const whole = await refund(fully.id, {});
      await gateway.post(`/v1/sandbox/refunds/${whole}/confirm`, {}, desk.as);
      await desk.act(partly.id, 'chargeback', 'CHARGEBACK');
      expectError(await desk.try(fully.id, 'chargeback'), 400, 'invalid_request');
      const { body: wallet } = await gateway.get<Body>('/v1/wallets/balance', desk.as);
      expect(wallet).to.include({ available: -4_000 - 10_000 - 6_000, retained: 6_000 });
    });
  });
});
