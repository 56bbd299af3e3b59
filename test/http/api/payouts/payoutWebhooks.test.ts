// Webhooks about payouts: payout.* and withdrawal.* (rules Y2, W9).
import { expect } from 'chai';
import { onBothStores } from '../../../world/bothStores.ts';
import { Receivers } from '../../../world/deliveryFacts.ts';
import type { TestGateway } from '../../../world/gateway.ts';
import { openReady } from '../../../world/http.ts';
import type { Body } from '../../../world/merchant.ts';
import { type PayoutBody, PayoutDesk } from '../../../world/payoutDesk.ts';
import { type Receiver, typeOf } from '../../../world/receiver.ts';

onBothStores('webhooks of payouts', (log) => {
  let gateway: TestGateway;
  let desk: PayoutDesk;
  let receiver: Receiver;
  const receivers = new Receivers();
  before(async () => {
    gateway = await openReady(log());
  });
  after(() => gateway.close());
  beforeEach(async () => {
    desk = await PayoutDesk.open(gateway);
    await desk.merchant.flush();
    receiver = await receivers.open();
    await desk.merchant.register(receiver.url);
  });
  afterEach(async () => {
    expect(gateway.faults).to.deep.equal([]);
    await receivers.close();
  });

  const heard = async (): Promise<{ readonly [type: string]: Body }> => {
    await desk.merchant.flush();
    const hits = receiver.got.splice(0);
    expect(new Set(hits.map(typeOf)).size).to.equal(hits.length);
    return Object.fromEntries(hits.map((hit) => [typeOf(hit), (hit.body as Body)['data'] as Body]));
  };
  const expectHeard = async (
    payout: PayoutBody,
    step: 'created' | 'paid' | 'failed',
    change: readonly [string, string],
  ) => {
    const legacy = { created: 'created', paid: 'completed', failed: 'failed' }[step];
    const all = await heard();
    const changed = step === 'created' ? [] : ['withdrawal.status_changed'];
    expect(Object.keys(all).sort()).to.deep.equal([`payout.${step}`, ...changed, `withdrawal.${legacy}`].sort());
    expect(all[`payout.${step}`]?.['object']).to.deep.equal(payout);
    const [previousStatus, status] = change;
    expect(all[`withdrawal.${legacy}`]).to.include({
      transactionId: payout.id.replace('po_', 'tx_'),
      withdrawalId: payout.id,
      amount: payout.amount,
      previousStatus,
      status,
    });
  };

  it('are sent for created and paid payouts', async () => {
    const payout = await desk.payout();
    await expectHeard(payout, 'created', ['PENDING', 'PENDING']);
    const { body } = await desk.decide(payout.id, 'confirm');
    await expectHeard(body, 'paid', ['PROCESSING', 'PAID']);
  });
  it('are sent for created and failed payouts', async () => {
    const payout = await desk.payout();
    await expectHeard(payout, 'created', ['PENDING', 'PENDING']);
    const { body } = await desk.decide(payout.id, 'fail');
    await expectHeard(body, 'failed', ['PROCESSING', 'REFUSED']);
  });
  it('send a canceled payout as failed, with status CANCELLED', async () => {
    await desk.settings({ payout_approval_above: 0 });
    const payout = await desk.payout();
    await expectHeard(payout, 'created', ['PENDING', 'PENDING']);
    const { body } = await desk.post<PayoutBody>(`/v1/payouts/${payout.id}/cancel`);
    expect(body.status).to.equal('cancelled');
    await expectHeard(body, 'failed', ['PENDING', 'CANCELLED']);
  });
  it('send a rejected payout as failed', async () => {
    await desk.settings({ payout_approval_above: 0 });
    const payout = await desk.payout();
    await expectHeard(payout, 'created', ['PENDING', 'PENDING']);
    const { body } = await desk.review(payout.id, 'reject');
    await expectHeard(body, 'failed', ['PENDING', 'REFUSED']);
  });
});
