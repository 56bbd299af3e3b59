// The job of a timer (W3). For a delivery it includes the due time and whether it was held as a probe.
import { expect } from 'chai';
import { CAPABILITIES } from '../../application/capabilities.ts';
import { jobsOf } from '../../application/core/capabilityList.ts';
import { expire } from '../../application/payments/expiry.ts';
import { type Timer, timerOf } from '../../application/ports/timers.ts';
import { deliver } from '../../application/webhooks/webhookDelivery.ts';
import type { DeliveryId } from '../../domain/kernel/ids.ts';
import { knownQueues } from '../../infrastructure/jobs/payloads.ts';
import { timerKindsOf } from '../../infrastructure/timers/timerTable.ts';
import { ACCOUNT_ID, at, PAYMENT_ID } from '../support/samples.ts';

const { jobOf } = timerKindsOf(jobsOf(CAPABILITIES).map(({ kind }) => kind));
const when = { account: ACCOUNT_ID, mode: 'test', group: 'target', dueAt: at('13:00:00') } as const;
const tenant = { accountId: ACCOUNT_ID, mode: 'test' };
const deliveryId = '2delivery' as DeliveryId;

describe('the job of a timer', () => {
  it('of a delivery includes the due time and whether it was held', () => {
    for (const held of [undefined, true] as const) {
      const timer: Timer = { ...timerOf(deliver, { deliveryId }, when), ...(held && { held }) };
      expect(jobOf(timer)).to.deep.equal({
        queue: 'deliver',
        tenant,
        payload: { deliveryId, dueAt: at('13:00:00'), ...(held && { isProbe: true }) },
        target: 'target',
      });
    }
  });
  it('of any other kind has only its payload, and no target', () => {
    const timer = timerOf(expire, { paymentId: PAYMENT_ID, method: 'BOLETO' }, when);
    expect(timer.key).to.equal(`${PAYMENT_ID} BOLETO`);
    expect(jobOf(timer)).to.deep.equal({
      queue: 'expire',
      tenant,
      payload: { paymentId: PAYMENT_ID, method: 'BOLETO' },
    });
  });
  it('of a delivery has the same subject as a job without a timer', () => {
    const [alone, timed] = [{ deliveryId }, jobOf(timerOf(deliver, { deliveryId }, when)).payload];
    const queue = knownQueues([{ kind: deliver, isOwedByRow: false }]).get('deliver');
    expect([queue?.subjectOf(alone), queue?.subjectOf(timed)]).to.deep.equal([deliveryId, deliveryId]);
  });
  it('with an invalid due time is rejected', () => {
    const queue = knownQueues([{ kind: deliver, isOwedByRow: false }]).get('deliver');
    expect(queue?.subjectOf({ deliveryId, dueAt: 'soon' })).to.equal(null);
  });
});
