// POST /v1/payments/{id}/cancel (contract.md Payments and Transitions; rules E4, M4, M5, W9).

import { expect } from 'chai';
import type { PaymentId } from '../../../../domain/kernel/ids.ts';
import { PAYMENT } from '../../../../domain/payment/aggregate.ts';
import { newKey, type Reply, type TestGateway } from '../../../world/gateway.ts';
import { eventTypes, expectError, openReady, rawIdOf } from '../../../world/http.ts';
import { type Body, Merchant } from '../../../world/merchant.ts';
import { pollUntil } from '../../../world/pollUntil.ts';
import { type Hit, Receiver, typeOf } from '../../../world/receiver.ts';

const LOCK = { expected_payer_tax_id: '12345678909', customer: { name: 'Ana Souza' } };

describe('canceling a payment', () => {
  let gateway: TestGateway;
  let receiver: Receiver;
  let shop: Merchant;
  let url: string;
  before(async () => {
    gateway = await openReady();
    receiver = await Receiver.open();
  });
  after(async () => {
    await gateway.close();
    await receiver.close();
  });
  beforeEach(async () => {
    const opened = await Merchant.open(gateway);
    shop = opened;
    url = `${receiver.url}/${opened.tenant.accountId}`;
    await shop.register(url);
  });
  afterEach(() => expect(gateway.faults).to.deep.equal([]));

  const cancel = (id: string): Promise<Reply<Body>> => gateway.post<Body>(`/v1/payments/${id}/cancel`, {}, shop);
  const read = async (id: string): Promise<Body> => (await shop.get<Body>(`/v1/payments/${rawIdOf(id)}`)).body;
  const stream = (id: string) => PAYMENT.stream(rawIdOf(id) as PaymentId);
  const events = (id: string) => eventTypes(gateway, stream(id));
  const pay = (id: string, body: Body = {}): Promise<Reply<Body>> =>
    gateway.post<Body>(`/v1/sandbox/charges/${id}/pay`, body, shop);
  const cancelled = async (id: string): Promise<void> => {
    const { status, body, text } = await cancel(rawIdOf(id));
    expect([status, body['status']], text).to.deep.equal([200, 'CANCELLED']);
  };
  const newPayment = async (body: Body): Promise<string> => {
    const reply = await gateway.post<Body>('/v1/payments', { idempotencyKey: newKey(), ...body }, shop);
    expect(reply.status, reply.text).to.equal(201);
    return reply.body['id'] as string;
  };
  const untilStatus = async (id: string, status: string): Promise<void> => {
    const found = await pollUntil(gateway.gateway.projected, 20_000, async () =>
      (await read(id))['status'] === status ? true : null,
    );
    expect(found, `${status} within 20 s`).to.equal(true);
  };
  /** Returns all messages of these types, after all pending deliveries: type, status and, in the legacy format, the previous status. */
  const told = async (...types: string[]) => {
    await shop.flush();
    const mine = ({ path }: Hit) => url.endsWith(path.slice('/hook'.length));
    return receiver.got
      .filter((hit) => mine(hit) && types.includes(typeOf(hit)))
      .map(({ body }) => {
        const { object, status, previousStatus } = body['data'] as Body & { object?: Body };
        return [body['type'] ?? body['event'], object ? object['status'] : [previousStatus, status]];
      })
      .toSorted();
  };
  const FAILURES = ['charge.failed', 'charge.expired', 'charge.paid', 'payment.failed', 'payment.completed'];

  it('returns the transaction as GET does; both formats show it at once', async () => {
    const { id } = await shop.charge({ amount: 700 });
    const before = await read(id);
    const { status, body, text } = await cancel(rawIdOf(id));
    expect([status, body], text).to.deep.equal([200, { ...before, status: 'CANCELLED' }]);
    expect(await read(id)).to.deep.equal(body);
    expect(await shop.statusOf(id)).to.equal('cancelled');
    expect(await events(id)).to.deep.equal([
      'ChargeCreated',
      'ChargePixIssued',
      'ChargeCancelRequested',
      'ChargeCancelled',
    ]);
  });

  it('accepts the tx_ and ch_ forms of the ID, and sends payment.failed and charge.failed once', async () => {
    const [one, two] = [await shop.charge(), await shop.charge()];
    for (const id of [`tx_${rawIdOf(one.id)}`, two.id]) expect((await cancel(id)).body['status']).to.equal('CANCELLED');
    expect(await told(...FAILURES, 'payment.status_changed')).to.deep.equal([
      ['charge.failed', 'cancelled'],
      ['charge.failed', 'cancelled'],
      ['payment.failed', ['WAITING_PAYMENT', 'CANCELLED']],
      ['payment.failed', ['WAITING_PAYMENT', 'CANCELLED']],
      ['payment.status_changed', ['WAITING_PAYMENT', 'CANCELLED']],
      ['payment.status_changed', ['WAITING_PAYMENT', 'CANCELLED']],
    ]);
  });

  it('fails the second time and has no further effect', async () => {
    const { id } = await shop.charge();
    await cancelled(id);
    const all = await events(id);
    expectError(await cancel(rawIdOf(id)), 400, 'transaction_not_cancellable');
    expect(await events(id)).to.deep.equal(all);
    expect(await told('charge.failed')).to.deep.equal([['charge.failed', 'cancelled']]);
  });

  it('records one cancellation for five concurrent requests', async () => {
    const { id } = await shop.charge();
    const replies = await Promise.all(Array.from({ length: 5 }, () => cancel(rawIdOf(id))));
    const [well, late] = [
      replies.filter(({ status }) => status === 200),
      replies.filter(({ status }) => status !== 200),
    ];
    expect(well).to.not.be.empty;
    for (const { body } of well) expect(body['status']).to.equal('CANCELLED');
    for (const reply of late) expectError(reply, 400, 'transaction_not_cancellable');
    expect((await events(id)).filter((type) => type === 'ChargeCancelled')).to.deep.equal(['ChargeCancelled']);
  });

  describe('fails with transaction_not_cancellable and changes nothing if it is', () => {
    const ENDED: readonly (readonly [string, () => Promise<string>])[] = [
      [
        'PAID',
        async () => {
          const { id } = await shop.charge();
          await shop.pay(id);
          return id;
        },
      ],
      [
        'EXPIRED',
        async () => {
          const { id } = await shop.charge({ expires_in: 60 });
          await shop.advance(61);
          return id;
        },
      ],
      [
        'REFUSED',
        async () =>
          (await gateway.charge<Body>({ metadata: { sandbox_provider: 'rejected' } }, shop)).body['id'] as string,
      ],
      [
        'REFUNDED',
        async () => {
          const { id } = await shop.charge(LOCK);
          expect((await pay(id, { payer: { document: '99992222263' } })).body['outcome']).to.equal('refunded');
          return id;
        },
      ],
    ];
    for (const [status, make] of ENDED)
      it(status, async () => {
        const id = await make();
        expect((await read(id))['status']).to.equal(status);
        const all = await events(id);
        expectError(await cancel(rawIdOf(id)), 400, 'transaction_not_cancellable');
        expect([(await read(id))['status'], await events(id)]).to.deep.equal([status, all]);
      });
  });

  it('returns 404 for IDs that are invalid, unknown, or of another account or mode', async () => {
    const { id } = await shop.charge();
    const { tenant } = await Merchant.open(gateway);
    const path = `/v1/payments/${rawIdOf(id)}/cancel`;
    for (const bad of ['nonsense', '0'.repeat(26)]) expectError(await cancel(bad), 404, 'not_found');
    for (const key of [tenant.testKey, tenant.liveKey])
      expectError(await gateway.post(path, {}, { key }), 404, 'not_found');
    expect((await read(id))['status']).to.equal('WAITING_PAYMENT');
  });

  it('makes the bank refuse payments; a late one is returned and never credited', async () => {
    const { id } = await shop.charge({ amount: 900 });
    await cancelled(id);
    expect((await pay(id)).body['outcome']).to.equal('refused');
    expect((await pay(id, { late: true })).body['outcome']).to.equal('returned');
    expect((await read(id))['status']).to.equal('CANCELLED');
    expect((await shop.get<Body>('/v1/wallets/balance')).body['available']).to.equal(0);
    expect(await events(id)).to.include.members(['TransactionPaymentRejected', 'TransactionPaymentReturned']);
  });

  it('works after a Pix with a wrong amount was returned', async () => {
    const { id } = await shop.charge({ amount: 900 });
    expect((await pay(id, { amount: 1 })).body['outcome']).to.equal('returned');
    await cancelled(id);
    expect((await pay(id)).body['outcome']).to.equal('refused');
  });

  it('returns a held Pix to the payer', async () => {
    const { id } = await shop.charge({ ...LOCK, amount: 5_000 });
    expect((await pay(id, { payer: { document: null } })).body['outcome']).to.equal('held');
    expect((await read(id))['status']).to.equal('PROCESSING');
    await cancelled(id);
    expect(await shop.statusOf(id)).to.equal('cancelled');
    expect(await told(...FAILURES, 'payment.refunded', 'payment.status_changed')).to.deep.equal([
      ['charge.failed', 'cancelled'],
      ['payment.failed', ['PROCESSING', 'CANCELLED']],
      ['payment.status_changed', ['PROCESSING', 'CANCELLED']],
      ['payment.status_changed', ['WAITING_PAYMENT', 'PROCESSING']],
    ]);
    const isReturned = await pollUntil(gateway.gateway.projected, 20_000, async () =>
      (await events(id)).includes('TransactionPaymentReturned') ? true : null,
    );
    expect(isReturned).to.equal(true);
    expect((await read(id))['status']).to.equal('CANCELLED');
    expect((await shop.get<Body>('/v1/wallets/balance')).body['available']).to.equal(0);
  });

  it('works while the payment is PENDING; it gets no Pix code', async () => {
    const id = await newPayment({ amount: 500, paymentMethods: ['PIX'], metadata: { sandbox_provider: 'slow' } });
    await cancelled(id);
    const isDone = await gateway.gateway.services.whenIdle(
      (await gateway.gateway.services.findKey(shop.key))?.accountId as never,
      10_000,
    );
    expect(isDone).to.equal(true);
    const { status, pixCopyPaste } = await read(id);
    expect([status, pixCopyPaste]).to.deep.equal(['CANCELLED', null]);
    expect(await told(...FAILURES, 'charge.created', 'payment.created')).to.deep.equal([
      ['charge.failed', 'cancelled'],
      ['payment.failed', ['PENDING', 'CANCELLED']],
    ]);
  });

  it('works without a confirming provider; repeating the creation returns it canceled, without a Pix code', async () => {
    const idempotencyKey = newKey();
    const ask = () => gateway.charge<Body>({ metadata: { sandbox_provider: 'timeout' } }, { ...shop, idempotencyKey });
    expectError(await ask(), 503, 'service_unavailable');
    const { data } = (await shop.get<{ data: readonly { id: string }[] }>('/v1/charges')).body;
    const { id } = data[0]!;
    await cancelled(id);
    const { status, headers, body, text } = await ask();
    expect([status, headers.get('idempotent-replayed'), body['id'], body['status'], body['pix']], text).to.deep.equal([
      201,
      'true',
      id,
      'cancelled',
      undefined,
    ]);
    expect(await events(id)).to.deep.equal(['ChargeCreated', 'ChargeCancelRequested', 'ChargeCancelled']);
  });

  it('works while a card is processed; a later authorization has no effect', async () => {
    const id = await newPayment({ amount: 500, paymentMethods: ['CREDIT_CARD'] });
    await untilStatus(id, 'WAITING_PAYMENT');
    expect((await gateway.post(`/v1/sandbox/payments/${id}/processing`, {}, shop)).status).to.equal(200);
    expect((await read(id))['status']).to.equal('PROCESSING');
    await cancelled(id);
    await gateway.post(`/v1/sandbox/payments/${id}/authorize`, {}, shop);
    expect((await read(id))['status']).to.equal('CANCELLED');
  });

  it('leaves the right outcome when the payer pays at the same time: one wins, the other fails', async () => {
    for (let round = 0; round < 10; round++) {
      const { id } = await shop.charge({ amount: 100 });
      const [answer, paid] = await Promise.all([cancel(rawIdOf(id)), pay(id)]);
      const status = (await read(id))['status'];
      if (answer.status === 200)
        expect([status, paid.body['outcome']], paid.text).to.be.deep.oneOf([
          ['CANCELLED', 'refused'],
          ['CANCELLED', 'returned'],
        ]);
      else {
        expectError(answer, 400, 'transaction_not_cancellable');
        expect([status, paid.body['outcome']], paid.text).to.deep.equal(['PAID', 'settled']);
      }
    }
  });
});
