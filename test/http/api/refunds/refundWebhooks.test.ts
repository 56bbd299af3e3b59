// Webhooks about refunds: payment.*, and for cash-outs payout.* with withdrawal.* (rules M5, M6, W9).

import { expect } from 'chai';
import { parseEndToEndId } from '../../../support/pix/endToEndId.ts';
import { Receivers } from '../../../world/deliveryFacts.ts';
import type { TestGateway } from '../../../world/gateway.ts';
import { openReady, rawIdOf } from '../../../world/http.ts';
import type { Body } from '../../../world/merchant.ts';
import { type Hit, type Receiver, typeOf } from '../../../world/receiver.ts';
import { type Refund, RefundDesk } from '../../../world/refundDesk.ts';

const CUSTOMER = { name: 'Maria', document: '99992222263' };

describe('webhooks of refunds', () => {
  let gateway: TestGateway;
  let desk: RefundDesk;
  let receiver: Receiver;
  const receivers = new Receivers();

  before(async () => {
    gateway = await openReady();
  });
  after(() => gateway.close());
  beforeEach(async () => {
    desk = await RefundDesk.open(gateway);
    receiver = await receivers.open();
  });
  afterEach(async () => {
    expect(gateway.faults).to.deep.equal([]);
    await receivers.close();
  });

  /** Creates and pays a charge of Maria’s, then registers the receiver. Returns the charge ID. */
  const paidAndHeard = async (): Promise<string> => {
    const { id } = await desk.merchant.charge({ amount: 1_000, customer: CUSTOMER });
    await desk.merchant.pay(id);
    await desk.merchant.flush();
    await desk.merchant.register(receiver.url);
    return id;
  };
  /** Returns the messages received since the last call, by type. */
  const heard = async (): Promise<{ [type: string]: Body }> => {
    await desk.merchant.flush();
    const hits = receiver.got.splice(0);
    expect(new Set(hits.map(typeOf)).size).to.equal(hits.length);
    return Object.fromEntries(hits.map((hit: Hit) => [typeOf(hit), hit.body]));
  };
  const dataOf = (body: Body | undefined): Body => body?.['data'] as Body;
  const payoutOf = (body: Body | undefined): Body => dataOf(body)['object'] as Body;
  const payout = (charge: string, refund: Refund, over: Body): Body => ({
    id: `po_${rawIdOf(refund.id)}`,
    object: 'payout',
    amount: refund.amount,
    currency: 'BRL',
    status: 'pending',
    method: 'pix',
    destination: null, // it went to the payer's document, which is never shown (M6)
    refund_id: refund.id,
    charge_id: charge,
    fee: 0,
    end_to_end_id: null,
    failure_reason: null,
    created_at: refund.createdAt,
    paid_at: null,
    description: null,
    metadata: {},
    awaiting_approval: false,
    ...over,
  });
  const withdrawal = (charge: string, refund: Refund, status: string, occurredAt: unknown): Body => ({
    transactionId: `tx_${rawIdOf(charge)}`,
    withdrawalId: `po_${rawIdOf(refund.id)}`,
    refundId: refund.id,
    amount: refund.amount,
    status,
    previousStatus: 'PENDING',
    occurredAt,
  });

  it('are sent for a full cash-out when it is requested and when it is settled', async () => {
    const charge = await paidAndHeard();
    const refund = await desk.refund(charge);
    const requested = await heard();
    expect(Object.keys(requested).sort()).to.deep.equal(['payout.created', 'withdrawal.created']);
    expect(payoutOf(requested['payout.created'])).to.deep.equal(payout(charge, refund, {}));
    expect(requested['withdrawal.created']).to.deep.equal({
      event: 'withdrawal.created',
      data: withdrawal(charge, refund, 'PENDING', refund.createdAt),
    });

    await desk.ended(refund.id, 'confirm');
    const settled = await heard();
    expect(Object.keys(settled).sort()).to.deep.equal([
      'payment.refunded',
      'payment.status_changed',
      'payout.paid',
      'withdrawal.completed',
      'withdrawal.status_changed',
    ]);
    const paid = payoutOf(settled['payout.paid']);
    const { end_to_end_id: endToEndId, paid_at: paidAt } = paid;
    expect(paid).to.deep.equal(payout(charge, refund, { status: 'paid', end_to_end_id: endToEndId, paid_at: paidAt }));
    expect(paidAt)
      .to.be.a('string')
      .and.satisfy((at: string) => at >= refund.createdAt);
    // A Pix-out is a network payment; its ID contains the minute in which it was paid (pix.md).
    const minutes = [refund.createdAt, String(paidAt)].map((at) => `${at.slice(0, 16)}:00.000Z`);
    expect(minutes).to.include(parseEndToEndId(endToEndId as string)?.at);
    const fees = { paidWith: 'PIX', providerFee: 0, platformFee: 0, netAmount: 1_000 };
    const completed = { ...withdrawal(charge, refund, 'PAID', paidAt), ...fees };
    for (const event of ['withdrawal.completed', 'withdrawal.status_changed'])
      expect(settled[event]).to.deep.equal({ event, data: completed });
    const changed = {
      transactionId: `tx_${rawIdOf(charge)}`,
      amount: 1_000,
      status: 'REFUNDED',
      previousStatus: 'PAID',
      occurredAt: paidAt,
    };
    const back = { refundId: refund.id, refundedAmount: 1_000, refundedTotal: 1_000 };
    expect(settled['payment.refunded']).to.deep.equal({ event: 'payment.refunded', data: { ...changed, ...back } });
    expect(settled['payment.status_changed']).to.deep.equal({ event: 'payment.status_changed', data: changed });
    // The payer’s document, which is also the customer’s, appears neither in messages nor in the list of deliveries.
    const { body } = await desk.merchant.get<{ data: Body[] }>('/v1/webhooks/deliveries?limit=100');
    const payouts = body.data.filter((one) => /^(payout|withdrawal)\./.test(one['eventType'] as string));
    expect(payouts.length).to.be.greaterThan(3);
    expect(JSON.stringify(payouts)).to.not.include(CUSTOMER.document);
  });

  it('send payment.refunded without a status change for a partial cash-out', async () => {
    const charge = await paidAndHeard();
    const refund = await desk.refund(charge, { amount: 400, destinationKey: 'maria@example.com' });
    const requested = await heard();
    const destination = 'm***@example.com';
    expect(payoutOf(requested['payout.created'])).to.deep.equal(payout(charge, refund, { destination }));
    await desk.ended(refund.id, 'confirm');
    const settled = await heard();
    expect(Object.keys(settled).sort()).to.deep.equal([
      'payment.refunded',
      'payout.paid',
      'withdrawal.completed',
      'withdrawal.status_changed',
    ]);
    const { status, previousStatus, amount, refundId, refundedAmount, refundedTotal } = dataOf(
      settled['payment.refunded'],
    );
    expect([status, previousStatus, amount]).to.deep.equal(['PAID', 'PAID', 1_000]);
    expect([refundId, refundedAmount, refundedTotal]).to.deep.equal([refund.id, 400, 400]); // the refunded amount, not the whole one (W9b)
    const other = await desk.refund(charge, { amount: 250, strategy: 'devolution' });
    await desk.ended(other.id, 'confirm');
    const second = dataOf((await heard())['payment.refunded']);
    expect([second['refundId'], second['refundedAmount'], second['refundedTotal']]).to.deep.equal([other.id, 250, 650]);
  });

  it('send payout.failed with the reason, and nothing about the payment, for a failed cash-out', async () => {
    const charge = await paidAndHeard();
    const refund = await desk.refund(charge, { amount: 400 });
    await heard();
    await desk.ended(refund.id, 'fail', { reason: 'account closed' });
    const failed = await heard();
    expect(Object.keys(failed).sort()).to.deep.equal([
      'payout.failed',
      'withdrawal.failed',
      'withdrawal.status_changed',
    ]);
    expect(payoutOf(failed['payout.failed'])).to.deep.equal(
      payout(charge, refund, { status: 'failed', failure_reason: 'account closed' }),
    );
    const { occurredAt } = dataOf(failed['withdrawal.failed']);
    for (const event of ['withdrawal.failed', 'withdrawal.status_changed'])
      expect(failed[event]).to.deep.equal({ event, data: withdrawal(charge, refund, 'REFUSED', occurredAt) });
  });

  it('send no payout events for a devolution', async () => {
    const charge = await paidAndHeard();
    const refund = await desk.refund(charge, { strategy: 'devolution' });
    expect(await heard()).to.deep.equal({});
    await desk.ended(refund.id, 'confirm');
    expect(Object.keys(await heard()).sort()).to.deep.equal(['payment.refunded', 'payment.status_changed']);
  });

  it('are not sent for a failed devolution', async () => {
    const charge = await paidAndHeard();
    const refund = await desk.refund(charge, { strategy: 'devolution' });
    await desk.ended(refund.id, 'fail');
    expect(await heard()).to.deep.equal({});
  });
});
