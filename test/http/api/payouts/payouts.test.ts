// Payouts over HTTP, from the request to the bank (rules Y1–Y6).
import { expect } from 'chai';
import { onBothStores } from '../../../world/bothStores.ts';
import { newKey, TestGateway } from '../../../world/gateway.ts';
import { expectError } from '../../../world/http.ts';
import type { Body } from '../../../world/merchant.ts';
import { PayoutDesk, PIX_KEY } from '../../../world/payoutDesk.ts';
import { paymentStream, poison } from '../../../world/poison.ts';

onBothStores('payouts', (log) => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await TestGateway.open(log());
  });
  after(async () => {
    expect(gateway.faults).to.deep.equal([]);
    await gateway.close();
  });

  it('leave the wallet with their fee, are paid automatically, and show exactly the fields of Y2', async () => {
    const desk = await PayoutDesk.open(gateway, { auto: true });
    const metadata = { order: 'A-1', _mine: 1 };
    const asked = await desk.payout({ description: 'Repasse', metadata });
    const { id, created_at, ...rest } = asked;
    expect(id).to.match(/^po_[0-9a-z]{26}$/);
    expect(rest).to.deep.equal({
      object: 'payout',
      amount: 1_000,
      currency: 'BRL',
      status: 'pending',
      method: 'pix',
      destination: 'a***@example.com',
      refund_id: null,
      charge_id: null,
      fee: 50,
      end_to_end_id: null,
      failure_reason: null,
      paid_at: null,
      description: 'Repasse',
      metadata: { order: 'A-1' },
      awaiting_approval: false,
    });
    expect(await desk.available()).to.equal(10_000 - 1_050);
    const paid = await desk.untilStatus(id, 'paid');
    expect(paid.end_to_end_id).to.match(/^E[0-9]{8}/);
    expect(paid).to.deep.equal({
      ...asked,
      status: 'paid',
      end_to_end_id: paid.end_to_end_id,
      paid_at: paid.paid_at,
    });
    expect(paid.created_at).to.equal(created_at);
    expect(await desk.available()).to.equal(10_000 - 1_050);
  });

  it('may use the whole balance less the fee, but no more; a rejected request leaves the key free', async () => {
    const desk = await PayoutDesk.open(gateway, { available: 1_050 });
    const key = newKey();
    const refused = await desk.ask<{ error: { code: string } }>({ amount: 1_001 }, key);
    expect([refused.status, refused.body.error.code]).to.deep.equal([422, 'insufficient_funds']);
    expect((await desk.ask({}, key)).status).to.equal(201);
    expect(await desk.available()).to.equal(0);
    expect((await desk.ask({ amount: 1 })).status).to.equal(422);
  });

  it('replay the original response for a repeated key and reject another body', async () => {
    const desk = await PayoutDesk.open(gateway);
    const key = newKey();
    const first = await desk.ask({}, key);
    await desk.untilStatus(first.body.id, 'processing');
    const again = await desk.ask({}, key);
    expect([again.status, again.headers.get('idempotent-replayed'), again.body]).to.deep.equal([
      201,
      'true',
      first.body,
    ]);
    expect((await desk.ask({ amount: 2 }, key)).status).to.equal(409);
    expect(await desk.available()).to.equal(8_950);
  });

  it('never overdraw under concurrency: three of ten fit the balance', async () => {
    const desk = await PayoutDesk.open(gateway, { available: 3 * 1_050 + 1_049 });
    const replies = await Promise.all(Array.from({ length: 10 }, () => desk.ask()));
    expect(replies.map(({ status }) => status).sort()).to.deep.equal([...Array(3).fill(201), ...Array(7).fill(422)]);
    expect(await desk.available()).to.equal(1_049);
  });

  it('are granted right after events that don’t concern the wallet', async () => {
    const desk = await PayoutDesk.open(gateway);
    for (let n = 0; n < 5; n++) {
      await desk.settings({ auto_confirm_refunds: n % 2 === 0 });
      await desk.payout({ amount: 1 });
    }
  });

  it('return to the wallet if the bank fails them, and leave it on a late confirmation', async () => {
    const desk = await PayoutDesk.open(gateway);
    const { id } = await desk.payout();
    const failed = await desk.decide(id, 'fail', { reason: 'account closed' });
    expect([failed.status, failed.body.status, failed.body.failure_reason]).to.deep.equal([
      200,
      'failed',
      'account closed',
    ]);
    expect(await desk.available()).to.equal(10_000);
    expect((await desk.decide(id, 'fail')).status).to.equal(200);
    expect((await desk.decide(id, 'confirm')).status).to.equal(400);
    const late = await desk.decide(id, 'confirm', { late: true });
    expect([late.status, late.body.status, late.body.failure_reason]).to.deep.equal([200, 'paid', null]);
    expect(await desk.available()).to.equal(8_950);
  });

  for (const [what, body, status, reason] of [
    ['a key that ends in 000', { destination: { pix_key: '+5511987654000' } }, 'failed', 'key_not_found'],
    ['rejected', { metadata: { sandbox_provider: 'rejected' } }, 'failed', 'The sandbox bank rejected the payout.'],
    ['timeout', { metadata: { sandbox_provider: 'timeout' } }, 'paid', null],
    ['unavailable', { metadata: { sandbox_provider: 'unavailable' } }, 'paid', null],
    ['slow', { metadata: { sandbox_provider: 'slow' } }, 'paid', null],
  ] as const)
    it(`end ${status} for ${what} (Y6)`, async () => {
      const desk = await PayoutDesk.open(gateway, { auto: true });
      const { id } = await desk.payout(body);
      expect((await desk.untilStatus(id, status)).failure_reason).to.equal(reason);
      expect(await desk.available()).to.equal(status === 'failed' ? 10_000 : 8_950);
    });

  it('can be canceled while awaiting approval, idempotently, but not once the bank has them', async () => {
    const desk = await PayoutDesk.open(gateway);
    await desk.settings({ payout_approval_above: 999 });
    const { id, awaiting_approval } = await desk.payout();
    expect(awaiting_approval).to.equal(true);
    for (let i = 0; i < 2; i++) {
      const done = await desk.post(`/v1/payouts/${id}/cancel`);
      expect([done.status, done.body['status']], done.text).to.deep.equal([200, 'cancelled']);
    }
    expect((await desk.read(id)).status).to.equal('cancelled');
    expect(await desk.available()).to.equal(10_000);
    const other = await desk.payout({ amount: 999 });
    await desk.untilStatus(other.id, 'processing');
    expect((await desk.post(`/v1/payouts/${other.id}/cancel`)).status).to.equal(400);
  });

  describe('approval (Y5)', () => {
    it('is given once, by an OWNER or ADMIN only', async () => {
      const desk = await PayoutDesk.open(gateway, { auto: true });
      await desk.settings({ payout_approval_above: 0 });
      const { id } = await desk.payout();
      for (const role of ['MEMBER', 'VIEWER'] as const)
        expect((await desk.review(id, 'approve', {}, role)).status).to.equal(403);
      const done = await desk.review(id, 'approve', {}, 'ADMIN');
      expect([done.status, done.body.awaiting_approval], done.text).to.deep.equal([200, false]);
      await desk.untilStatus(id, 'paid');
      expect((await desk.review(id, 'approve')).status).to.equal(400);
    });
    it('can take a day without delaying the payment afterwards (Y6)', async () => {
      const desk = await PayoutDesk.open(gateway, { auto: true });
      await desk.settings({ payout_approval_above: 0 });
      const { id } = await desk.payout();
      await desk.post('/v1/sandbox/clock/advance', { seconds: 86_400 });
      await desk.review(id, 'approve');
      await desk.untilStatus(id, 'paid');
    });
    it('that is denied fails the payout and returns the money', async () => {
      const desk = await PayoutDesk.open(gateway);
      await desk.settings({ payout_approval_above: 0 });
      const { id } = await desk.payout();
      const done = await desk.review(id, 'reject', { reason: 'too much' });
      expect([done.status, done.body.status, done.body.failure_reason]).to.deep.equal([200, 'failed', 'rejected']);
      expect(await desk.available()).to.equal(10_000);
    });
    it('can’t be given by the user who issued the requesting key', async () => {
      const desk = await PayoutDesk.open(gateway);
      await desk.settings({ payout_approval_above: 0 });
      const owner = await gateway.addUser('OWNER', { tenant: desk.merchant.tenant });
      const headers = await gateway.logIn('OWNER', owner);
      const issued = await gateway.post<{ apiKey: string }>('/v1/api-keys', { test: true }, { key: null, headers });
      expect(issued.status, issued.text).to.equal(201);
      const body = { amount: 1_000, destination: { pix_key: PIX_KEY } };
      const asked = await gateway.post<{ id: string }>('/v1/payouts', body, {
        key: issued.body.apiKey,
        idempotencyKey: newKey(),
      });
      expect(asked.status, asked.text).to.equal(201);
      const own = await gateway.post(`/v1/payouts/${asked.body.id}/approve`, {}, { key: null, headers });
      expect(own.status, own.text).to.equal(403);
      expect((await desk.review(asked.body.id, 'approve')).status).to.equal(200);
    });
  });

  it('are listed with refund payouts, newest first, by cursor and status, and hidden from other tenants', async () => {
    const desk = await PayoutDesk.open(gateway);
    const { id: charge } = await desk.merchant.charge({ amount: 1_000 });
    await desk.merchant.pay(charge);
    const refund = { idempotencyKey: newKey(), strategy: 'cashout', destinationKey: '12345678909' };
    const refunded = await desk.post(`/v1/payments/${charge.slice(3)}/refund`, refund);
    expect(refunded.status, refunded.text).to.equal(201);
    const { id } = await desk.payout();
    const { id: last } = await desk.payout({ amount: 1 });
    const page = async (query: string) =>
      (
        await desk.merchant.get<{ data: { id: string; destination: string }[]; next_cursor: string | null }>(
          `/v1/payouts${query}`,
        )
      ).body;
    const all = await page('');
    expect(all.data.map((one) => one.id)).to.deep.equal([last, id, `po_${String(refunded.body['id']).slice(3)}`]);
    expect(all.data[2]).to.include({
      destination: '123***09',
      refund_id: refunded.body['id'],
      charge_id: charge,
      fee: 0,
    });
    const first = await page('?limit=1');
    expect(first.next_cursor).to.equal(last);
    expect((await page(`?limit=2&starting_after=${last}`)).data.map((one) => one.id)).to.deep.equal(
      all.data.slice(1).map((one) => one.id),
    );
    const pixOut = await desk.untilStatus((all.data[2] as { id: string }).id, 'paid');
    expect(await page('?status=paid')).to.deep.include({ data: [pixOut] });
    const other = await PayoutDesk.open(gateway, { available: 0 });
    expect((await other.merchant.get(`/v1/payouts/${id}`)).status).to.equal(404);
    expect((await gateway.get(`/v1/payouts/${id}`, { key: desk.merchant.tenant.liveKey })).status).to.equal(404);
    expect((await other.merchant.get(`/v1/payouts?starting_after=${id}`)).status).to.equal(400);
    expect((await other.post(`/v1/payouts/${id}/cancel`)).status).to.equal(404);
  });

  const cashOut = async (desk: PayoutDesk, more: Body = { strategy: 'cashout', destinationKey: '12345678909' }) => {
    const { id: charge } = await desk.merchant.charge({ amount: 1_000 });
    await desk.merchant.pay(charge);
    const wish = { idempotencyKey: newKey(), ...more };
    const refund = await desk.post(`/v1/payments/${charge.slice(3)}/refund`, wish);
    expect(refund.status, refund.text).to.equal(201);
    return { charge, id: `po_${String(refund.body['id']).slice(3)}` };
  };

  it('can’t be canceled or reviewed if they belong to a refund; devolutions are no payouts (Y2)', async () => {
    const desk = await PayoutDesk.open(gateway, { available: 0 });
    const { id } = await cashOut(desk);
    expectError(await desk.post(`/v1/payouts/${id}/cancel`), 400, 'payout_not_cancellable');
    expectError(await desk.review(id, 'approve'), 400, 'payout_not_awaiting_approval');
    expectError(await desk.review(id, 'reject'), 400, 'payout_not_awaiting_approval');
    const other = await PayoutDesk.open(gateway, { available: 0 });
    expectError(await other.post(`/v1/payouts/${id}/cancel`), 404, 'not_found');
    expectError(await other.review(id, 'approve'), 404, 'not_found');
    const { id: returned } = await cashOut(other, { strategy: 'devolution' });
    expectError(await other.post(`/v1/payouts/${returned}/cancel`), 404, 'not_found');
  });

  it('return 503 if their payment can’t be read, not stale data or 404', async () => {
    const desk = await PayoutDesk.open(gateway, { available: 0 });
    const { id, charge } = await cashOut(desk);
    await poison(gateway, desk.merchant.tenant, paymentStream(charge));
    expect(await gateway.gateway.projected.caughtUp(10_000)).to.equal(true);
    for (const path of [id, `${id}/receipt`, `po_${'0'.repeat(26)}`])
      expectError(await desk.merchant.get(`/v1/payouts/${path}`), 503, 'service_unavailable');
    const other = await PayoutDesk.open(gateway, { available: 0 });
    expectError(await other.merchant.get(`/v1/payouts/${id}`), 404, 'not_found');
  });

  it('have a receipt once paid', async () => {
    const desk = await PayoutDesk.open(gateway);
    const { id } = await desk.payout();
    expect((await desk.merchant.get(`/v1/payouts/${id}/receipt`)).status).to.equal(404);
    expect((await desk.decide(id, 'confirm')).status).to.equal(200);
    const receipt = await desk.merchant.get<{ base64: string }>(`/v1/payouts/${id}/receipt`);
    expect(receipt.status, receipt.text).to.equal(200);
    expect(Buffer.from(receipt.body.base64, 'base64').toString('latin1', 0, 5)).to.equal('%PDF-');
  });
});
