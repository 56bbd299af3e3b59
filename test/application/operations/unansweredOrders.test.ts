// Orders that an institution answers with 404 permanently: an operator enters their outcome, and Quita continues (rule V9).
import { expect } from 'chai';
import {
  enterOrderOutcome,
  type OrderRef,
  unansweredOrders,
} from '../../../application/operations/unansweredOrders.ts';
import { sendBack } from '../../../application/payments/rejectedPaymentReturn.ts';
import { Settler } from '../../../application/payments/settle.ts';
import { UnknownAtProvider } from '../../../application/ports/paymentProvider.ts';
import type { OverduePayment } from '../../../application/ports/readModels/payments.ts';
import { RefundExecutor } from '../../../application/refunds/refundExecution.ts';
import type { PaymentId, StreamName, Tenant } from '../../../domain/kernel/ids.ts';
import { toMinor } from '../../../domain/kernel/money.ts';
import { isRejection } from '../../../domain/kernel/rejection.ts';
import { addMillis, DAY_MS, toMillis } from '../../../domain/kernel/time.ts';
import { PAYMENT } from '../../../domain/payment/aggregate.ts';
import { assertExists } from '../../../domain/payment/payment.ts';
import { pendingWork } from '../../../domain/payment/pendingWork.ts';
import { reserveRefund } from '../../../domain/payment/refund.ts';
import { PAYOUT } from '../../../domain/payout/aggregate.ts';
import { requestPayout, submitPayout } from '../../../domain/payout/decisions.ts';
import type { PayoutId } from '../../../domain/payout/payout.ts';
import { REFUND } from '../../../domain/refund/refund.ts';
import { TERMS, wish } from '../../domain/payout/samples.ts';
import { type Core, newId, openCore, why } from '../../support/core.ts';
import { at, incoming, plain, REFUND_ID, SETTLED_AT } from '../../support/samples.ts';
import { poison } from '../../world/poison.ts';

const BY = { actor: 'operator:ana', requestId: null };

describe('orders without an answer, on Postgres', () => {
  let core: Core;
  beforeEach(async () => {
    core = await openCore();
    core.clock.nowMs = toMillis(SETTLED_AT);
  });
  afterEach(() => core.close());

  const needs = (...payments: readonly PaymentId[]) => ({
    ...core,
    payouts: { unfinished: async function* () {} },
    overduePayments: async function* (): AsyncGenerator<readonly OverduePayment[]> {
      const tenant: Tenant = { accountId: core.account.accountId, mode: 'live' };
      for (const paymentId of payments) {
        const { state } = await core.commands.load(PAYMENT, PAYMENT.stream(paymentId));
        yield pendingWork(assertExists(state)).map((work) => ({ tenant, paymentId, work }));
      }
    },
  });
  const enter = async (ref: OrderRef, outcome: 'done' | 'refused', commands = core.commands) => {
    const done = await enterOrderOutcome({ ...needs(), commands })(ref, { outcome, reason: 'asked the bank' }, BY);
    return isRejection(done) ? done.code : done.isNew;
  };
  const list = async (id: PaymentId) =>
    (await unansweredOrders(needs(id))(10)).map(({ order, amount, lastAnswer, askedAt }) => ({
      ...{ order, amount, lastAnswer, askedAt },
    }));
  const dayLater = () => {
    core.clock.nowMs += DAY_MS + 1;
  };
  const paid = async (amount = 12_345) => {
    const { commands, accounts, provider: providers } = core;
    const txid = newId<string>();
    const id = await core.openCharge({ txid, mode: 'live' });
    const pix = plain(incoming({ providerPaymentId: `E${txid}`, amount: toMinor(amount) }));
    await new Settler({ commands, accounts, providers }).settle(id, pix);
    return { id, pix: `E${txid}` };
  };
  const transactionOf = async (id: PaymentId) => {
    const { state } = await core.commands.load(PAYMENT, PAYMENT.stream(id));
    return assertExists(state).transaction;
  };

  const refunded = async () => {
    const { id } = await paid();
    const wish = {
      ...{ refundId: REFUND_ID, amount: toMinor(345), reason: null, strategy: 'devolution' as const },
      ...{ passFeeToTenant: false, destinationKey: null, paysOut: false, allowedDestinations: null },
      ...{ fingerprintUnder: () => 'f', fingerprintVersion: 1 },
    };
    await core.commands.execute(PAYMENT, PAYMENT.stream(id), reserveRefund(wish, at('14:00:00')), why('a' as never));
    const timers = { set: async () => undefined };
    const { commands, accounts, provider: providers } = core;
    const run = () =>
      new RefundExecutor({ commands, accounts, providers, timers }).run({ paymentId: id, refundId: REFUND_ID });
    core.provider.next('refund', { kind: 'unknown' });
    await run();
    const outcome = async () => {
      const transaction = await transactionOf(id);
      return transaction.status === 'settled' ? transaction.refunds[0]?.outcome.status : null;
    };
    return { id, run, outcome };
  };
  const submitted = async (): Promise<PayoutId> => {
    const { accountId } = core.account;
    const payoutId = newId<PayoutId>();
    const stream = PAYOUT.stream(payoutId);
    const terms = { ...TERMS, payoutId, accountId, mode: 'live' as const };
    await core.commands.execute(PAYOUT, stream, requestPayout(wish({ terms }), SETTLED_AT), why(accountId));
    await core.commands.execute(PAYOUT, stream, submitPayout(SETTLED_AT), why(accountId));
    return payoutId;
  };
  const REFUND_REF = { kind: 'refund', refundId: REFUND_ID } as const;

  it('list a refund after a day, return its money if refused, and record a later confirmation', async () => {
    const { id, run, outcome } = await refunded();
    const askedAt = SETTLED_AT;
    expect([await list(id), await enter(REFUND_REF, 'refused')]).to.deep.equal([[], 'invalid_request']);
    dayLater();
    expect(await list(id)).to.deep.equal([
      { order: REFUND.idPrefix + REFUND_ID, amount: 345, lastAnswer: 'unknown', askedAt },
    ]);
    expect([await enter(REFUND_REF, 'refused'), await enter(REFUND_REF, 'refused')]).to.deep.equal([true, false]);
    expect([await enter(REFUND_REF, 'done'), await list(id)]).to.deep.equal(['invalid_request', []]);
    core.provider.calls.length = 0;
    await run();
    expect([await outcome(), core.provider.calls]).to.deep.equal(['failed', []]);
    core.provider.next('findRefund', async () => {
      const { state } = await core.commands.load(REFUND, REFUND.stream(REFUND_ID));
      if (state.status === 'absent') throw new Error('no refund');
      core.provider.refunds.set(REFUND_ID, { order: state.order, outcome: { kind: 'confirmed', endToEndId: 'D1' } });
    });
    await run();
    await run();
    expect((await core.eventsOf(PAYMENT.stream(id))).at(-1)?.type).to.equal('TransactionRefundConfirmedLate');
  });
  it('complete a refund that an operator enters as done', async () => {
    const { id, run, outcome } = await refunded();
    dayLater();
    expect(await enter(REFUND_REF, 'done')).to.equal(true);
    await run();
    expect([await outcome(), await list(id)]).to.deep.equal(['completed', []]);
    const [entered] = (await core.eventsOf(REFUND.stream(REFUND_ID))).filter(({ type }) => type.endsWith('Entered'));
    expect(entered?.data).to.include({ by: 'operator:ana', reason: 'asked the bank', outcome: 'done' });
  });
  it('list a return one day after its order and end it as entered, after which its job does nothing', async () => {
    const { id, pix } = await paid(100);
    const { commands, accounts, provider: providers } = core;
    const alerts = { returnRefused: () => undefined };
    const give = () => sendBack({ commands, accounts, providers, alerts })({ paymentId: id, providerPaymentId: pix });
    core.provider.next('returnPayment', 'unknown');
    expect(await give().catch((error: unknown) => error)).to.be.instanceOf(UnknownAtProvider);
    const ref = { kind: 'return', paymentId: id, endToEndId: null } as const;
    expect([await list(id), await enter(ref, 'refused')]).to.deep.equal([[], 'invalid_request']);
    dayLater();
    expect(await list(id)).to.deep.equal([
      { order: PAYMENT.idPrefix + id, amount: 100, lastAnswer: 'unknown', askedAt: SETTLED_AT },
    ]);
    expect([await enter(ref, 'refused'), await enter(ref, 'refused')]).to.deep.equal([true, false]);
    core.provider.calls.length = 0;
    await give();
    const { incomingPayments } = await transactionOf(id);
    expect([incomingPayments[0]?.outcome, core.provider.calls]).to.deep.equal(['unreturned', []]);
    expect(await enter({ ...ref, endToEndId: 'other' }, 'refused')).to.equal('not_found');
  });
  it('leave out an unreadable refund or payout', async () => {
    const { id } = await refunded();
    const [sick, well] = [await submitted(), await submitted()];
    dayLater();
    const { accountId } = core.account;
    const tenant: Tenant = { accountId, mode: 'live' };
    const unfinished = async function* () {
      yield [sick, well].map((payoutId) => ({ tenant, payoutId }));
    };
    const orders = async () =>
      (await unansweredOrders({ ...needs(id), payouts: { unfinished } })(10)).map(({ order }) => order);
    const [refund, first, second] = [REFUND.idPrefix + REFUND_ID, PAYOUT.idPrefix + sick, PAYOUT.idPrefix + well];
    expect(await orders()).to.have.members([refund, first, second]);
    await poison({ storage: core }, { accountId }, PAYOUT.stream(sick));
    expect(await orders()).to.have.members([refund, second]);
    await poison({ storage: core }, { accountId }, REFUND.stream(REFUND_ID));
    expect(await orders()).to.deep.equal([second]);
  });
  describe('with different outcomes from two concurrent operators', () => {
    /** Enters both outcomes in two processes. Each one decides before the other one appends. */
    const both = async (ref: OrderRef) => {
      const met = Promise.withResolvers<void>();
      let waiting = 0;
      core.spies.beforeAppend = () => {
        if (++waiting === 2) met.resolve();
        return met.promise;
      };
      const replies = [enter(ref, 'done', core.newProcess()), enter(ref, 'refused', core.newProcess())];
      return (await Promise.all(replies)).toSorted();
    };
    const entered = async (stream: StreamName) =>
      (await core.eventsOf(stream)).flatMap(({ type, data }) =>
        type.endsWith('Entered') && 'outcome' in data ? [data.outcome] : [],
      );

    it('accept only one outcome of a refund, and its money follows it', async () => {
      const { run, outcome } = await refunded();
      dayLater();
      expect(await both(REFUND_REF)).to.deep.equal(['invalid_request', true]);
      const recorded = await entered(REFUND.stream(REFUND_ID));
      await run();
      expect([recorded.length, await outcome()]).to.deep.equal([1, recorded[0] === 'done' ? 'completed' : 'failed']);
    });
    it('accept only one outcome of a return', async () => {
      const { id, pix } = await paid(100);
      const { commands, accounts, provider: providers } = core;
      const alerts = { returnRefused: () => undefined };
      core.provider.next('returnPayment', 'unknown');
      await sendBack({ commands, accounts, providers, alerts })({ paymentId: id, providerPaymentId: pix }).catch(
        () => undefined,
      );
      dayLater();
      expect(await both({ kind: 'return', paymentId: id, endToEndId: null })).to.deep.equal(['invalid_request', true]);
      const recorded = await entered(PAYMENT.stream(id));
      const ended = (await transactionOf(id)).incomingPayments[0]?.outcome;
      expect([recorded.length, ended]).to.deep.equal([1, recorded[0] === 'done' ? 'returned' : 'unreturned']);
    });
    it('accept only one outcome of a payout', async () => {
      const payoutId = await submitted();
      const stream = PAYOUT.stream(payoutId);
      dayLater();
      expect(await both({ kind: 'payout', payoutId })).to.deep.equal(['invalid_request', true]);
      const recorded = await entered(stream);
      const { state } = await core.commands.load(PAYOUT, stream);
      expect([recorded.length, state.status]).to.deep.equal([1, recorded[0] === 'done' ? 'paid' : 'failed']);
    });
  });
  it('reject an outcome in the sandbox and a blank reason', async () => {
    const txid = newId<string>();
    const id = await core.openCharge({ txid });
    const { commands, accounts, provider: providers } = core;
    const pix = plain(incoming({ providerPaymentId: `E${txid}`, amount: toMinor(100) }));
    await new Settler({ commands, accounts, providers }).settle(id, pix);
    core.clock.nowMs = toMillis(addMillis(SETTLED_AT, 2 * DAY_MS));
    expect(await enter({ kind: 'return', paymentId: id, endToEndId: null }, 'done')).to.equal('mode_not_allowed');
    const done = await enterOrderOutcome(needs())(REFUND_REF, { outcome: 'done', reason: ' ' }, BY);
    expect(isRejection(done) && done.param).to.equal('reason');
  });
});
