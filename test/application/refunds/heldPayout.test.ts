// The Pix-out that replaces a refused return (M10) at the provider, and confirmations after a refusal.

import { expect } from 'chai';
import { DECLARED_SETTINGS } from '../../../application/capabilities.ts';
import { Accounts } from '../../../application/core/accounts.ts';
import { reviewHeld } from '../../../application/payments/heldPayments.ts';
import { Settler } from '../../../application/payments/settle.ts';
import { EventStoreUnavailable } from '../../../application/ports/eventStore.ts';
import { type PaymentProviders, UnknownAtProvider } from '../../../application/ports/paymentProvider.ts';
import {
  alertOfLate,
  confirmedLate,
  RefundExecutor,
  refundExecution,
} from '../../../application/refunds/refundExecution.ts';
import { requestRefund } from '../../../application/refunds/requestRefund.ts';
import { ACCOUNT, suspendAccount } from '../../../domain/account/account.ts';
import type { PaymentId, RefundId } from '../../../domain/kernel/ids.ts';
import { isRejection } from '../../../domain/kernel/rejection.ts';
import { HOUR_MS, toMillis } from '../../../domain/kernel/time.ts';
import { PAYMENT } from '../../../domain/payment/aggregate.ts';
import { recordReturnRefusal } from '../../../domain/payment/lifecycle.ts';
import { type Core, newId, openCore, why } from '../../support/core.ts';
import { haveEffectsDone, logged, reactions } from '../../support/reactionLog.ts';
import { incoming, LOCKED_TO, plain, SETTLED_AT, SOMEBODY_ELSE } from '../../support/samples.ts';

const KEY = 'tesouraria@example.com';
const BY = { actor: 'operator:ana', requestId: null };
const thrown = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => null,
    (error: unknown) => error,
  );

describe('a Pix-out that replaces a refused return, on Postgres', () => {
  let core: Core;
  let pixes = 0;
  before(async () => {
    core = await openCore();
  });
  after(() => core.close());
  beforeEach(() => {
    core.clock.nowMs = toMillis(SETTLED_AT);
    core.provider.forget();
  });
  afterEach(() => Object.assign(core.spies, { beforeAppend: null, afterAppend: null, onRead: null }));

  const run = async (paymentId: PaymentId, refundId: RefundId, providers: PaymentProviders = core.provider) => {
    const accounts = new Accounts(core.commands, core.clock, DECLARED_SETTINGS);
    const timers = { set: async () => undefined };
    const needs = { commands: core.commands, accounts, providers, timers };
    await new RefundExecutor(needs).run({ paymentId, refundId });
  };
  const typesOf = async (id: PaymentId) => (await core.eventsOf(PAYMENT.stream(id))).map(({ type }) => type).slice(2);
  const tenant = () => ({ accountId: core.account.accountId, mode: 'test' });
  /** Returns the alerts to operators for the events of the payment’s stream, whichever process wrote them. */
  const alertsOf = async (id: PaymentId): Promise<readonly object[]> => {
    const alerted: object[] = [];
    const alerts: Parameters<typeof alertOfLate>[0]['alerts'] = { confirmedLate: (...args) => void alerted.push(args) };
    for (const event of await core.eventsOf(PAYMENT.stream(id))) {
      const of = { ...logged('payment', event), account: core.account.accountId, subject: id };
      await haveEffectsDone(confirmedLate.by(alertOfLate), { alerts }, reactions(refundExecution, of));
    }
    return alerted;
  };
  const settleBy = async (id: PaymentId, pixOut: string | null) => {
    const done = await reviewHeld(core)(id, { pixOut, reason: 'closed' }, BY);
    return isRejection(done) ? done.code : done.isNew;
  };
  /** Returns a payment with a Pix from the wrong payer whose return the provider refused. */
  const refused = async (): Promise<PaymentId> => {
    const { commands, accounts, provider: providers } = core;
    const id = await core.openCharge({ txid: newId<string>(), expectedPayerTaxId: LOCKED_TO });
    const pix = `E-held-${++pixes}`;
    const payer = { name: 'X', document: SOMEBODY_ELSE };
    await new Settler({ commands, accounts, providers }).settle(id, plain(incoming({ providerPaymentId: pix, payer })));
    const { state } = await commands.load(PAYMENT, PAYMENT.stream(id));
    const returnId = state.transaction.incomingPayments[0]?.returnId ?? '';
    await commands.record(
      PAYMENT,
      PAYMENT.stream(id),
      recordReturnRefusal(pix, returnId, 'no', SETTLED_AT),
      why(core.account.accountId),
    );
    return id;
  };
  const payoutsOf = async (id: PaymentId): Promise<readonly RefundId[]> => {
    const { state } = await core.commands.load(PAYMENT, PAYMENT.stream(id));
    return (state.transaction.incomingPayments[0]?.payouts ?? []).map(({ payoutId }) => payoutId);
  };
  /** Requests a Pix-out as an operator and returns its id. */
  const requested = async (id: PaymentId): Promise<RefundId> => {
    expect(await settleBy(id, KEY)).to.equal(true);
    return (await payoutsOf(id)).at(-1) as RefundId;
  };
  const CONFIRMED = { kind: 'confirmed', endToEndId: 'E-out' } as const;
  const REFUSED = ['TransactionPaymentRejected', 'TransactionReturnRefused'];

  it('sends the full amount to the key once, and ends the payment', async () => {
    const id = await refused();
    const payout = await requested(id);
    core.provider.refundOutcome = CONFIRMED;
    for (let n = 0; n < 3; n++) await run(id, payout);
    const { order } = core.provider.refunds.get(payout) as { order: object };
    expect(order).to.deep.include({ refundId: payout, amount: 12_345, strategy: 'cashout', destination: KEY });
    expect(core.provider.calls.filter((call) => call.startsWith('refund '))).to.have.length(1);
    expect(await typesOf(id)).to.deep.equal([
      ...REFUSED,
      'TransactionHeldPayoutRequested',
      'TransactionHeldPayoutPaid',
    ]);
  });
  it('is looked up and not paid again after a crash following the payment', async () => {
    const id = await refused();
    const payout = await requested(id);
    core.provider.refundOutcome = CONFIRMED;
    core.spies.beforeAppend = async (_stream, events) => {
      if (events.some(({ type }) => type === 'RefundCompleted')) throw new EventStoreUnavailable('killed');
    };
    expect(await thrown(run(id, payout))).to.be.instanceOf(EventStoreUnavailable);
    core.spies.beforeAppend = null;
    for (let n = 0; n < 2; n++) await run(id, payout);
    expect(core.provider.refunds.size).to.equal(1);
    expect((await typesOf(id)).at(-1)).to.equal('TransactionHeldPayoutPaid');
  });
  it('is looked up until its outcome is known', async () => {
    const id = await refused();
    const payout = await requested(id);
    core.provider.refundOutcome = CONFIRMED;
    core.provider.next('refund', 'unknown');
    await run(id, payout);
    expect((await typesOf(id)).at(-1)).to.equal('TransactionHeldPayoutRequested');
    core.provider.next('findRefund', 'unknown');
    await run(id, payout);
    await run(id, payout); // The lookup finds it.
    await run(id, payout); // The outcome is recorded in the payment.
    expect(core.provider.calls.filter((call) => call.startsWith('refund '))).to.have.length(1);
    expect((await typesOf(id)).at(-1)).to.equal('TransactionHeldPayoutPaid');
  });
  it('does not fail because the repeat is refused, if the first order waited for its connection for hours (V9)', async () => {
    const id = await refused();
    const payout = await requested(id);
    expect(await thrown(run(id, payout, { route: async () => [], of: async () => null }))).to.be.instanceOf(
      UnknownAtProvider,
    );
    core.clock.nowMs += 2 * HOUR_MS;
    core.spies.beforeAppend = async () => {
      throw new EventStoreUnavailable('killed');
    };
    expect(await thrown(run(id, payout))).to.be.instanceOf(EventStoreUnavailable);
    core.spies.beforeAppend = null;
    // The provider lists the Pix-out late, and refuses another one.
    core.provider.refunds.clear();
    core.provider.next('refund', { kind: 'refused', reason: 'The balance is too low.' });
    for (const expected of [1, 2]) {
      expect(core.provider.calls.filter((call) => call.startsWith('refund '))).to.have.length(expected);
      await run(id, payout);
    }
    expect((await typesOf(id)).at(-1)).to.equal('TransactionHeldPayoutRequested');
  });
  it('waits for an operator after a refusal, and a second one has its own id', async () => {
    const id = await refused();
    const payout = await requested(id);
    core.provider.refundOutcome = { kind: 'refused', reason: 'no such key' };
    for (let n = 0; n < 2; n++) await run(id, payout);
    const again = await requested(id);
    expect(again).to.not.equal(payout);
    core.provider.refundOutcome = CONFIRMED;
    for (let n = 0; n < 2; n++) await run(id, again);
    expect(await settleBy(id, KEY)).to.equal('held_already_settled');
    expect((await typesOf(id)).slice(2)).to.deep.equal([
      'TransactionHeldPayoutRequested',
      'TransactionHeldPayoutFailed',
      'TransactionHeldPayoutRequested',
      'TransactionHeldPayoutPaid',
    ]);
  });
  it('is recorded and alerted once if it is confirmed after a refusal and a write-off', async () => {
    const id = await refused();
    const payout = await requested(id);
    core.provider.refundOutcome = { kind: 'refused', reason: 'no such key' };
    for (let n = 0; n < 2; n++) await run(id, payout);
    expect(await settleBy(id, null)).to.equal(true);
    const kept = core.provider.refunds.get(payout)!;
    core.provider.refunds.set(payout, { ...kept, outcome: CONFIRMED });
    for (let n = 0; n < 4; n++) await run(id, payout);
    expect((await typesOf(id)).slice(-2)).to.deep.equal([
      'TransactionHeldWrittenOff',
      'TransactionReturnConfirmedLate',
    ]);
    expect(await alertsOf(id)).to.deep.equal([[tenant(), { paymentId: id, id: payout }]]);
  });
  it('is treated like a failed refund, whose late confirmation is recorded and alerted once', async () => {
    const { commands, accounts, provider: providers, account } = core;
    const id = await core.openCharge();
    await new Settler({ commands, accounts, providers }).settle(
      id,
      plain(incoming({ providerPaymentId: `E-${++pixes}` })),
    );
    const by = { account, mode: 'test', actor: 'key:test', requestId: 'req_1' } as const;
    const guard = {
      refundGuard: { reserve: async () => 'reserved' as const, release: async () => undefined },
      providerConnections: { statusOf: async () => null },
    };
    const asked = { ...by, paymentId: id, body: { idempotencyKey: 'refund-1' } };
    const done = await requestRefund({ commands, accounts, providers, ...guard })(asked);
    if (isRejection(done)) throw new Error(done.code);
    const { refundId } = done.refund;
    core.provider.refundOutcome = { kind: 'refused', reason: 'account closed' };
    await run(id, refundId);
    core.provider.calls.length = 0;
    await run(id, refundId); // This run records the end. A refund that has just failed is not looked up.
    expect(core.provider.calls).to.deep.equal([]);
    await run(id, refundId);
    expect(core.provider.calls).to.deep.equal([`findRefund ${refundId}`]);
    const kept = core.provider.refunds.get(refundId)!;
    core.provider.refunds.set(refundId, { ...kept, outcome: CONFIRMED });
    core.provider.next('findRefund', 'unknown');
    expect(await thrown(run(id, refundId))).to.be.instanceOf(UnknownAtProvider);
    for (let n = 0; n < 4; n++) await run(id, refundId);
    expect((await typesOf(id)).slice(-2)).to.deep.equal([
      'TransactionRefundReleased',
      'TransactionRefundConfirmedLate',
    ]);
    expect(await alertsOf(id)).to.deep.equal([[tenant(), { paymentId: id, id: refundId }]]);
  });
  it('is sent even if the account is suspended, because the platform pays', async () => {
    const id = await refused();
    const payout = await requested(id);
    const stream = ACCOUNT.stream(core.account.accountId);
    await core.commands.execute(ACCOUNT, stream, suspendAccount(SETTLED_AT), why(core.account.accountId));
    core.provider.refundOutcome = CONFIRMED;
    for (let n = 0; n < 2; n++) await run(id, payout);
    expect((await typesOf(id)).at(-1)).to.equal('TransactionHeldPayoutPaid');
  });
});
