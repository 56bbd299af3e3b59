// Refunds of payments by methods other than Pix (contract.md Refund body; rules E4, M3, M9).
import { expect } from 'chai';
import { Receivers } from '../../../world/deliveryFacts.ts';
import type { TestGateway } from '../../../world/gateway.ts';
import { expectError, openReady } from '../../../world/http.ts';
import { expectLedgerBalances } from '../../../world/ledgerFacts.ts';
import type { Body } from '../../../world/merchant.ts';
import { pollUntil } from '../../../world/pollUntil.ts';
import { RefundDesk } from '../../../world/refundDesk.ts';

describe('refunds of other methods', () => {
  let gateway: TestGateway;
  let desk: RefundDesk;
  const receivers = new Receivers();

  before(async () => {
    gateway = await openReady();
  });
  after(() => gateway.close());
  beforeEach(async () => {
    desk = await RefundDesk.open(gateway);
  });
  afterEach(async () => {
    expect(gateway.faults).to.deep.equal([]);
    await receivers.close();
    await expectLedgerBalances(gateway);
  });

  for (const [method, currency, metadata] of [
    ['BOLETO', 'BRL', {}],
    ['MULTIBANCO', 'EUR', {}],
    ['MBWAY', 'EUR', { phone: '+351912345678' }],
    ['CRYPTO', 'USDT', {}],
  ] as const)
    it(`return REFUND_NOT_SUPPORTED for ${method}, with any body`, async () => {
      const id = await desk.paidBy(method, currency, metadata);
      for (const body of [
        {},
        { amount: 1 },
        { amount: 10_001 },
        { strategy: 'cashout' },
        { destinationKey: '99991111140' },
      ])
        expectError(await desk.ask<unknown>(id, body), 422, 'REFUND_NOT_SUPPORTED');
      expect(await desk.list(id)).to.deep.equal([]);
    });

  describe('by card', () => {
    it('are reversals without a payout; the payment stays APPROVED until refunded in full', async () => {
      const id = await desk.paidBy('CREDIT_CARD');
      const receiver = await receivers.open();
      await desk.merchant.flush();
      await desk.merchant.register(receiver.url);
      const part = await desk.refund(id, { amount: 4_000, passFeeToTenant: true });
      await desk.ended(part.id, 'confirm');
      expect((await desk.transaction(id))['status']).to.equal('APPROVED');
      const rest = await desk.refund(id);
      expect([rest.amount, rest.currency]).to.deep.equal([6_000, 'BRL']);
      await desk.ended(rest.id, 'confirm');
      expect((await desk.transaction(id))['status']).to.equal('REFUNDED');
      await desk.merchant.flush();
      const told = receiver.got.map(({ body }) => [body['event'], (body['data'] as Body)['status']]);
      expect(told.sort()).to.deep.equal([
        ['payment.refunded', 'APPROVED'],
        ['payment.refunded', 'REFUNDED'],
        ['payment.status_changed', 'REFUNDED'],
      ]);
    });

    it('reduce available below zero while the sale is still pending', async () => {
      const id = await desk.paidBy('CREDIT_CARD');
      await desk.refund(id, { amount: 4_000 });
      const { body } = await desk.merchant.get<Body>('/v1/wallets/balance');
      // The fees are 2.5 % + 30 and 1 % of 10,000.
      expect([body['available'], body['pending'], body['total']]).to.deep.equal([-4_000, 9_620, 5_620]);
    });

    it('reject Pix options instead of ignoring them', async () => {
      const id = await desk.paidBy('CREDIT_CARD');
      for (const [param, body] of [
        ['strategy', { strategy: 'cashout' }],
        ['strategy', { strategy: 'devolution' }],
        ['destinationKey', { destinationKey: '99991111140' }],
      ] as const)
        expectError(await desk.ask<unknown>(id, body), 400, 'invalid_request', param);
      expect(await desk.list(id)).to.deep.equal([]);
    });

    for (const how of ['chargeback', 'dispute'] as const)
      it(`return charge_disputed during a ${how}`, async () => {
        const id = await desk.paidBy('CREDIT_CARD');
        const before = await desk.refund(id, { amount: 1_000 });
        const disputed = await desk.post<Body>(`/v1/sandbox/payments/${id}/${how}`, {});
        expect([disputed.status, disputed.body['status']]).to.deep.equal([200, how.toUpperCase()]);
        expectError(await desk.ask<unknown>(id, { amount: 1 }), 400, 'charge_disputed');
        // The refund requested before continues, and the status stays.
        await desk.ended(before.id, 'confirm');
        expect((await desk.transaction(id))['status']).to.equal(how.toUpperCase());
      });
  });

  it('are confirmed automatically like those of Pix', async () => {
    await desk.settings({ auto_confirm_refunds: true });
    const id = await desk.paidBy('CREDIT_CARD');
    await desk.refund(id);
    const look = async () => ((await desk.list(id))[0]?.status === 'REFUNDED' ? true : null);
    expect(await pollUntil(gateway.gateway.projected, 20_000, look)).to.equal(true);
  });
});
