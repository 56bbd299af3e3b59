// Refunds as the merchant sees them (contract.md Refund, rules E4, I10, K1–K5, M1, M3, M5–M7, W9).
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

  it('answer 201 with the refund as it was requested, and the list shows it on its way and at its end', async () => {
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

  it('take the raw id and the tx_ and ch_ forms', async () => {
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

  it('have no route among the charges', async () => {
    const charge = await desk.paid();
    const reply = await desk.post<unknown>(`/v1/charges/${charge}/refund`, { idempotencyKey: KEY });
    expectError(reply, 404, 'not_found');
  });

  it('are none for a payment that never was refunded, and none of an unpaid one', async () => {
    expect(await desk.list(await desk.paid())).to.deep.equal([]);
    expect(await desk.list((await desk.merchant.charge()).id)).to.deep.equal([]);
  });

  it('in part leave the payment PAID, are listed newest first, and together make it REFUNDED', async () => {
    const charge = await desk.paid(1_000);
    const first = await desk.refund(charge, { amount: 300 });
    const second = await desk.refund(charge, { amount: 500 });
    await desk.ended(first.id, 'confirm');
    await desk.ended(second.id, 'confirm');
    expect((await desk.list(charge)).map(({ id }) => id)).to.deep.equal([second.id, first.id]);
    expect(await desk.transaction(charge)).to.include({ status: 'PAID', amountRefunded: 800 });
    const rest = await desk.refund(charge);
    expect([rest.amount, rest.reason]).to.deep.equal([200, null]);
    expect(await desk.transaction(charge)).to.include({ amountRefunded: 800 }); // on its way is not refunded yet
    await desk.ended(rest.id, 'confirm');
    expect(await desk.transaction(charge)).to.include({ status: 'REFUNDED', amountRefunded: 1_000 });
    const shown = (await desk.merchant.get<{ amount_refunded: number }>(`/v1/charges/${charge}`)).body;
    expect(shown.amount_refunded).to.equal(1_000);
    expectError(await desk.ask<unknown>(charge, { amount: 1 }), 400, 'transaction_not_refundable');
  });

  it('that fail are refundable again', async () => {
    const charge = await desk.paid(1_000);
    const failed = await desk.refund(charge, { reason: 'sold out' });
    expectError(await desk.ask<unknown>(charge, { amount: 1 }), 400, 'refund_amount_exceeds_remaining', 'amount');
    const ended = await desk.ended(failed.id, 'fail', { reason: 'account closed' });
    // Why it failed, beside the merchant's own reason (M7).
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

  describe('asked for twice', () => {
    it('are one: the original answer, whatever became of it since', async () => {
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

    it('are one though asked for ten times at once', async () => {
      const charge = await desk.paid(1_000);
      const replies = await Promise.all(
        Array.from({ length: 10 }, () => desk.ask(charge, { idempotencyKey: KEY, amount: 100 })),
      );
      expect(new Set(replies.map(({ status, text }) => `${status} ${text}`)).size).to.equal(1);
      expect(replies.filter(({ headers }) => headers.has('idempotent-replayed'))).to.have.length(9);
      expect(await desk.list(charge)).to.have.length(1);
    });

    it('with other content are 409: every known field counts, as sent', async () => {
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

    it('with an invalid body are 400, whatever the key was used for', async () => {
      const charge = await desk.paid(1_000);
      await desk.refund(charge, { idempotencyKey: KEY });
      const reply = await desk.ask<unknown>(charge, { idempotencyKey: KEY, amount: 0 });
      expectError(reply, 400, 'invalid_amount', 'amount');
    });

    it('of another payment or account are another refund', async () => {
      const [one, other] = [await desk.paid(), await desk.paid()];
      const stranger = await RefundDesk.open(gateway);
      const ids = [
        (await desk.refund(one, { idempotencyKey: KEY })).id,
        (await desk.refund(other, { idempotencyKey: KEY })).id,
        (await stranger.refund(await stranger.paid(), { idempotencyKey: KEY })).id,
      ];
      expect(new Set(ids).size).to.equal(3);
    });

    it('after a refusal are judged anew: a 4xx does not burn the key', async () => {
      const charge = await desk.paid(1_000);
      const refused = await desk.ask<unknown>(charge, { idempotencyKey: KEY, amount: 1_001 });
      expectError(refused, 400, 'refund_amount_exceeds_remaining', 'amount');
      expect((await desk.refund(charge, { idempotencyKey: KEY, amount: 1_000 })).amount).to.equal(1_000);
    });
  });

  describe('in the wallet', () => {
    it('leave it when requested, and come back if they fail', async () => {
      const charge = await desk.paid(1_000);
      expect(await desk.available()).to.equal(netOf(1_000));
      const refund = await desk.refund(charge, { amount: 600 });
      expect(await desk.available()).to.equal(netOf(1_000) - 600);
      await desk.ended(refund.id, 'fail');
      expect(await desk.available()).to.equal(netOf(1_000));
    });

    it('take the gross amount, fees are not given back, and available may go negative', async () => {
      const charge = await desk.paid(1_000);
      const refund = await desk.refund(charge);
      expect(await desk.available()).to.equal(netOf(1_000) - 1_000);
      await desk.ended(refund.id, 'confirm');
      expect(await desk.available()).to.equal(-20);
      const { body } = await desk.merchant.get<{ total: number; pending: number }>('/v1/wallets/balance');
      expect([body.total, body.pending]).to.deep.equal([-20, 0]);
    });

    it('take the fee of the Pix-out too when it is the merchant’s, and give it back with a failed one', async () => {
      const charge = await desk.paid(1_000);
      const refund = await desk.refund(charge, { amount: 300, passFeeToTenant: true });
      expect(await desk.available()).to.equal(netOf(1_000) - 350);
      await desk.ended(refund.id, 'fail');
      expect(await desk.available()).to.equal(netOf(1_000));
      const paid = await desk.refund(charge, { amount: 300, passFeeToTenant: true, strategy: 'cashout' });
      await desk.ended(paid.id, 'confirm');
      expect(await desk.available()).to.equal(netOf(1_000) - 350);
    });

    it('have no fee to pass when they are no Pix-out', async () => {
      const charge = await desk.paid(1_000);
      const refund = await desk.refund(charge, { amount: 300, passFeeToTenant: true, strategy: 'devolution' });
      await desk.ended(refund.id, 'confirm');
      expect(await desk.available()).to.equal(netOf(1_000) - 300);
    });
  });
});
