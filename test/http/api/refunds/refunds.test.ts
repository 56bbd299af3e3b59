// Refunds as merchants see them (contract.md Refund, rules E4, I10, K1–K5, M1, M3, M5–M7, W9).
import { expect } from 'chai';
import type { TestGateway } from '../../../world/gateway.ts';
import { expectError, openReady, rawIdOf } from '../../../world/http.ts';
import { expectLedgerBalances } from '../../../world/ledgerFacts.ts';
import { netOf, type Refund, RefundDesk } from '../../../world/refundDesk.ts';

const KEY = 'refund-key-1';

describe('refunds', () => {
  let gateway: TestGateway;
  let desk: RefundDesk;

  before(async () => {
    gateway = await openReady();
  });
  after(() => gateway.close());
  beforeEach(async () => {
    desk = await RefundDesk.open(gateway);
  });
  afterEach(async () => {
    expect(gateway.faults).to.deep.equal([]);
    await expectLedgerBalances(gateway);
  });

  it('return 201 as requested, and are listed with their current status', async () => {
    const charge = await desk.paid(1_000);
    const reply = await desk.ask(charge, { reason: 'wrong size' });
    expect(reply.status, reply.text).to.equal(201);
    expect(reply.headers.get('idempotent-replayed')).to.equal(null);
    const { id, createdAt } = reply.body;
    expect(id).to.match(/^rf_[0-9a-hjkmnp-tv-z]{26}$/);
    expect(createdAt).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    const refund: Refund = {
      id,
      transactionId: `tx_${rawIdOf(charge)}`,
      amount: 1_000,
      currency: 'BRL',
      status: 'PENDING',
      reason: 'wrong size',
      failureReason: null,
      createdAt,
    };
    expect(reply.body).to.deep.equal(refund);
    expect(await desk.untilStatuses(charge, 'IN_PROGRESS')).to.deep.equal([{ ...refund, status: 'IN_PROGRESS' }]);
    expect((await desk.transaction(charge))['status']).to.equal('PAID');
    expect(await desk.ended(id, 'confirm')).to.deep.equal({ ...refund, status: 'REFUNDED' });
    expect(await desk.list(charge)).to.deep.equal([{ ...refund, status: 'REFUNDED' }]);
    expect((await desk.transaction(charge))['status']).to.equal('REFUNDED');
    expect(await desk.merchant.statusOf(charge)).to.equal('refunded');
  });

  it('accept the raw ID and its tx_ and ch_ forms', async () => {
    const charge = await desk.paid(1_000);
    const ids: string[] = [];
    for (const id of [rawIdOf(charge), `tx_${rawIdOf(charge)}`, charge]) {
      const body = { idempotencyKey: `form-${id}`, amount: 1 };
      const reply = await desk.post<Refund>(`/v1/payments/${id}/refund`, body);
      expect(reply.status, reply.text).to.equal(201);
      ids.unshift(reply.body.id);
      const list = await desk.merchant.get<{ data: Refund[] }>(`/v1/payments/${id}/refunds`);
      expect(list.body.data.map((refund) => refund.id)).to.deep.equal(ids);
    }
  });

  it('have no route under charges', async () => {
    const charge = await desk.paid();
    const reply = await desk.post<unknown>(`/v1/charges/${charge}/refund`, { idempotencyKey: KEY });
    expectError(reply, 404, 'not_found');
  });

  it('are an empty list for payments without refunds', async () => {
    expect(await desk.list(await desk.paid())).to.deep.equal([]);
    expect(await desk.list((await desk.merchant.charge()).id)).to.deep.equal([]);
  });

  it('leave the payment PAID while partial, are listed newest first, and make it REFUNDED in total', async () => {
    const charge = await desk.paid(1_000);
    const first = await desk.refund(charge, { amount: 300 });
    const second = await desk.refund(charge, { amount: 500 });
    await desk.ended(first.id, 'confirm');
    await desk.ended(second.id, 'confirm');
    expect((await desk.list(charge)).map(({ id }) => id)).to.deep.equal([second.id, first.id]);
    expect(await desk.transaction(charge)).to.include({ status: 'PAID', amountRefunded: 800 });
    const rest = await desk.refund(charge);
    expect([rest.amount, rest.reason]).to.deep.equal([200, null]);
    expect(await desk.transaction(charge)).to.include({ amountRefunded: 800 }); // pending refunds don’t count yet
    await desk.ended(rest.id, 'confirm');
    expect(await desk.transaction(charge)).to.include({ status: 'REFUNDED', amountRefunded: 1_000 });
    const shown = (await desk.merchant.get<{ amount_refunded: number }>(`/v1/charges/${charge}`)).body;
    expect(shown.amount_refunded).to.equal(1_000);
    expectError(await desk.ask<unknown>(charge, { amount: 1 }), 400, 'transaction_not_refundable');
  });

  it('that fail can be requested again', async () => {
    const charge = await desk.paid(1_000);
    const failed = await desk.refund(charge, { reason: 'sold out' });
    expectError(await desk.ask<unknown>(charge, { amount: 1 }), 400, 'refund_amount_exceeds_remaining', 'amount');
    const ended = await desk.ended(failed.id, 'fail', { reason: 'account closed' });
    // The reason of the failure is separate from the merchant’s own reason (M7).
    expect(ended).to.deep.equal({ ...failed, status: 'FAILED', failureReason: 'account closed' });
    expect((await desk.transaction(charge))['status']).to.equal('PAID');
    const again = await desk.refund(charge);
    expect(again.amount).to.equal(1_000);
    await desk.ended(again.id, 'confirm');
    expect((await desk.list(charge)).map(({ id, status }) => [id, status])).to.deep.equal([
      [again.id, 'REFUNDED'],
      [failed.id, 'FAILED'],
    ]);
  });

  describe('with a repeated key', () => {
    it('return the original response, whatever happened since', async () => {
      const charge = await desk.paid(1_000);
      const body = { idempotencyKey: KEY, amount: 400, reason: 'why' };
      const original = await desk.ask(charge, body);
      expect(original.status, original.text).to.equal(201);
      await desk.ended(original.body.id, 'confirm');
      await desk.refund(charge);
      for (const same of [body, { reason: 'why', amount: 400, idempotencyKey: KEY }]) {
        const replay = await desk.ask(charge, same);
        expect([replay.status, replay.text]).to.deep.equal([201, original.text]);
        expect(replay.headers.get('idempotent-replayed')).to.equal('true');
      }
      expect(await desk.list(charge)).to.have.length(2);
    });

    it('are created once under concurrency', async () => {
      const charge = await desk.paid(1_000);
      const replies = await Promise.all(
        Array.from({ length: 10 }, () => desk.ask(charge, { idempotencyKey: KEY, amount: 100 })),
      );
      expect(new Set(replies.map(({ status, text }) => `${status} ${text}`)).size).to.equal(1);
      expect(replies.filter(({ headers }) => headers.has('idempotent-replayed'))).to.have.length(9);
      expect(await desk.list(charge)).to.have.length(1);
    });

    it('return 409 if any known field differs from what was sent', async () => {
      const charge = await desk.paid(1_000);
      await desk.refund(charge, { idempotencyKey: KEY, amount: 400 });
      const others = [
        {},
        { amount: 401 },
        { amount: 400, reason: 'why' },
        { amount: 400, strategy: 'cashout' },
        { amount: 400, strategy: 'devolution' },
        { amount: 400, passFeeToTenant: false },
        { amount: 400, destinationKey: '99991111140' },
        { amount: 5_000 },
      ];
      for (const other of others) {
        const reply = await desk.ask<unknown>(charge, { idempotencyKey: KEY, ...other });
        expectError(reply, 409, 'idempotency_key_reused', 'idempotencyKey');
      }
      expect(await desk.list(charge)).to.have.length(1);
    });

    it('return 400 for an invalid body', async () => {
      const charge = await desk.paid(1_000);
      await desk.refund(charge, { idempotencyKey: KEY });
      const reply = await desk.ask<unknown>(charge, { idempotencyKey: KEY, amount: 0 });
      expectError(reply, 400, 'invalid_amount', 'amount');
    });

    it('are independent for other payments and accounts', async () => {
      const [one, other] = [await desk.paid(), await desk.paid()];
      const stranger = await RefundDesk.open(gateway);
      const ids = [
        (await desk.refund(one, { idempotencyKey: KEY })).id,
        (await desk.refund(other, { idempotencyKey: KEY })).id,
        (await stranger.refund(await stranger.paid(), { idempotencyKey: KEY })).id,
      ];
      expect(new Set(ids).size).to.equal(3);
    });

    it('are processed anew after a 4xx, which leaves the key free', async () => {
      const charge = await desk.paid(1_000);
      const refused = await desk.ask<unknown>(charge, { idempotencyKey: KEY, amount: 1_001 });
      expectError(refused, 400, 'refund_amount_exceeds_remaining', 'amount');
      expect((await desk.refund(charge, { idempotencyKey: KEY, amount: 1_000 })).amount).to.equal(1_000);
    });
  });

  describe('in the wallet', () => {
    it('reduce available when requested, and restore it if they fail', async () => {
      const charge = await desk.paid(1_000);
      expect(await desk.available()).to.equal(netOf(1_000));
      const refund = await desk.refund(charge, { amount: 600 });
      expect(await desk.available()).to.equal(netOf(1_000) - 600);
      await desk.ended(refund.id, 'fail');
      expect(await desk.available()).to.equal(netOf(1_000));
    });

    it('deduct the gross amount without returning fees; available may become negative', async () => {
      const charge = await desk.paid(1_000);
      const refund = await desk.refund(charge);
      expect(await desk.available()).to.equal(netOf(1_000) - 1_000);
      await desk.ended(refund.id, 'confirm');
      expect(await desk.available()).to.equal(-20);
      const { body } = await desk.merchant.get<{ total: number; pending: number }>('/v1/wallets/balance');
      expect([body.total, body.pending]).to.deep.equal([-20, 0]);
    });

    it('deduct the Pix-out fee too with passFeeToTenant, and restore it if they fail', async () => {
      const charge = await desk.paid(1_000);
      const refund = await desk.refund(charge, { amount: 300, passFeeToTenant: true });
      expect(await desk.available()).to.equal(netOf(1_000) - 350);
      await desk.ended(refund.id, 'fail');
      expect(await desk.available()).to.equal(netOf(1_000));
      const paid = await desk.refund(charge, { amount: 300, passFeeToTenant: true, strategy: 'cashout' });
      await desk.ended(paid.id, 'confirm');
      expect(await desk.available()).to.equal(netOf(1_000) - 350);
    });

    it('deduct no Pix-out fee for a devolution', async () => {
      const charge = await desk.paid(1_000);
      const refund = await desk.refund(charge, { amount: 300, passFeeToTenant: true, strategy: 'devolution' });
      await desk.ended(refund.id, 'confirm');
      expect(await desk.available()).to.equal(netOf(1_000) - 300);
    });
  });
});
