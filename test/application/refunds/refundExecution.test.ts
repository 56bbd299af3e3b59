// Refunds when the provider does not answer, and after crashes between any two steps (architecture §7; K7, M7).

import { expect } from 'chai';
import { DECLARED_SETTINGS } from '../../../application/capabilities.ts';
import { Accounts } from '../../../application/core/accounts.ts';
import { Settler } from '../../../application/payments/settle.ts';
import { EventStoreUnavailable } from '../../../application/ports/eventStore.ts';
import type { PaymentProviders } from '../../../application/ports/paymentProvider.ts';
import type { RefundGuard } from '../../../application/ports/refundGuard.ts';
import type { Timer } from '../../../application/ports/timers.ts';
import { RefundExecutor } from '../../../application/refunds/refundExecution.ts';
import { requestRefund } from '../../../application/refunds/requestRefund.ts';
import {
  ACCOUNT,
  type AccountEvent,
  type AccountState,
  reopenAccount,
  suspendAccount,
} from '../../../domain/account/account.ts';
import type { Fact } from '../../../domain/kernel/decider.ts';
import type { PaymentId, RefundId } from '../../../domain/kernel/ids.ts';
import { isRejection } from '../../../domain/kernel/rejection.ts';
import { addSeconds, fromMillis, MINUTE_MS, toMillis } from '../../../domain/kernel/time.ts';
import { PAYMENT } from '../../../domain/payment/aggregate.ts';
import { REFUND } from '../../../domain/refund/refund.ts';
import type { RefundBody } from '../../../domain/refund/request.ts';
import { type Core, openCore, why } from '../../support/core.ts';
import { incoming, plain, SETTLED_AT } from '../../support/samples.ts';
import { parseTimestamp } from '../../support/timestamp.ts';

const KEY = 'refund-key';
const thrown = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'did not throw',
    (error: Error) => error.message,
  );

describe('the refund process on Postgres', () => {
  let core: Core;
  let refunds: RefundExecutor;
  let timers: Timer[];
  let pixes = 0;

  const processOf = (commands = core.commands, providers: PaymentProviders = core.provider): RefundExecutor => {
    const accounts = new Accounts(commands, core.clock, DECLARED_SETTINGS);
    const set = async (timer: Timer) => void timers.push(timer);
    return new RefundExecutor({ commands, accounts, providers, timers: { set } });
  };
  before(async () => {
    core = await openCore();
  });
  after(() => core.close());
  beforeEach(() => {
    core.clock.nowMs = toMillis(SETTLED_AT);
    core.provider.forget();
    timers = [];
    refunds = processOf();
  });
  afterEach(() => Object.assign(core.spies, { beforeAppend: null, afterAppend: null, onRead: null }));

  const refundGuard: RefundGuard = { reserve: async () => 'reserved', release: async () => undefined };
  const ask = async (paymentId: PaymentId, body: Partial<RefundBody> = {}, { commands, accounts } = core) => {
    const { account } = core;
    const by = { account, mode: 'test', actor: 'key:test', requestId: 'req_1' } as const;
    const asked = { ...by, paymentId, body: { idempotencyKey: KEY, ...body } };
    const providerConnections = { statusOf: async () => null };
    const needs = { commands, accounts, providers: core.provider, providerConnections, refundGuard };
    const done = await requestRefund(needs)(asked);
    if (isRejection(done)) throw new Error(done.code);
    return done;
  };
  /** Returns a settled payment with a refund that was just reserved. */
  const reserved = async (body: Partial<RefundBody> = {}) => {
    const paymentId = await core.openCharge();
    const { commands, accounts, provider: providers } = core;
    const settler = new Settler({ commands, accounts, providers });
    await settler.settle(paymentId, plain(incoming({ providerPaymentId: `E${String(++pixes)}` })));
    const { refundId } = (await ask(paymentId, body)).refund;
    return { paymentId, refundId, which: { paymentId, refundId } };
  };
  const typesOf = async (refundId: RefundId) => (await core.eventsOf(REFUND.stream(refundId))).map(({ type }) => type);
  const ofPayment = async (paymentId: PaymentId) =>
    (await core.eventsOf(PAYMENT.stream(paymentId)))
      .filter(({ type }) => type.startsWith('TransactionRefund'))
      .map((event) => event as Fact<string, { refundId: RefundId; at: string; reason?: string }>);
  const killedOn = (type: string) => {
    core.spies.beforeAppend = async (_stream, events) => {
      if (events.some((event) => event.type === type)) throw new EventStoreUnavailable('killed');
    };
  };
  const revived = () => {
    core.spies.beforeAppend = null;
    core.provider.calls.length = 0;
  };

  /** Changes the account in another process, so that this process has an outdated state of it. */
  const change = async (decide: Parameters<typeof core.commands.record<AccountState, AccountEvent, unknown>>[2]) => {
    const { accountId } = core.account;
    await core.anotherProcess().record(ACCOUNT, ACCOUNT.stream(accountId), decide, why(accountId));
  };
  /** Runs a refund whose connection is disabled. */
  const runDisabled = (which: Parameters<RefundExecutor['run']>[0]) =>
    thrown(processOf(core.commands, { route: async () => [], of: async () => null }).run(which));

  it('sends a reserved refund to the provider, waits for it, and records its end in the payment', async () => {
    const { paymentId, refundId, which } = await reserved({ amount: 100 });
    await refunds.run(which);
    expect(core.provider.calls).to.deep.equal([`refund ${refundId}`]);
    expect(await typesOf(refundId)).to.deep.equal(['RefundRequested', 'RefundSubmitted']);
    const { order } = core.provider.refunds.get(refundId)!;
    expect(order).to.deep.equal({
      refundId,
      paymentId,
      accountId: core.account.accountId,
      mode: 'test',
      amount: 100,
      currency: 'BRL',
      method: 'PIX',
      strategy: 'cashout',
      destination: '99991111140',
      providerPaymentId: `E${pixes}`,
    });
    core.provider.refunds.set(refundId, { order, outcome: { kind: 'confirmed', endToEndId: 'D1' } });
    core.clock.nowMs += 1_000;
    await refunds.run(which);
    await refunds.run(which);
    expect(await typesOf(refundId)).to.deep.equal(['RefundRequested', 'RefundSubmitted', 'RefundCompleted']);
    const [, completed, ...more] = await ofPayment(paymentId);
    expect([completed?.type, completed?.data.at, more]).to.deep.equal([
      'TransactionRefundCompleted',
      addSeconds(SETTLED_AT, 1),
      [],
    ]);
  });

  describe('with a suspended account', () => {
    beforeEach(() => change(suspendAccount(SETTLED_AT)));
    afterEach(() => change(reopenAccount(SETTLED_AT)));

    it('holds a cashout until the account is reopened, and then sends it to the provider once', async () => {
      const { refundId, which } = await reserved();
      await refunds.run(which);
      await refunds.run(which);
      expect(await typesOf(refundId)).to.deep.equal(['RefundRequested']);
      expect(core.provider.calls.filter((call) => call.startsWith('refund '))).to.deep.equal([]);
      expect(timers.map(({ kind, key, group }) => ({ kind, key, group }))).to.deep.equal(
        Array(2).fill({ kind: 'refund', key: refundId, group: core.account.accountId }),
      );
      await change(reopenAccount(SETTLED_AT));
      await refunds.run(which);
      expect(core.provider.calls.filter((call) => call.startsWith('refund '))).to.deep.equal([`refund ${refundId}`]);
      expect(await typesOf(refundId)).to.deep.equal(['RefundRequested', 'RefundSubmitted']);
    });
    it('continues at once if the account was reopened before the timer was set', async () => {
      const { refundId, which } = await reserved();
      const { provider: providers, commands, accounts } = core;
      const set = () => change(reopenAccount(SETTLED_AT));
      await new RefundExecutor({ commands, accounts, providers, timers: { set } }).run(which);
      expect(await typesOf(refundId)).to.deep.equal(['RefundRequested', 'RefundSubmitted']);
    });
    it('records a refund that a crashed process already sent to the provider', async () => {
      const { refundId, which } = await reserved();
      await change(reopenAccount(SETTLED_AT));
      killedOn('RefundSubmitted');
      await thrown(refunds.run(which));
      revived();
      await change(suspendAccount(SETTLED_AT));
      await refunds.run(which);
      expect(core.provider.calls).to.deep.equal([`findRefund ${refundId}`]);
      expect(await typesOf(refundId)).to.deep.equal(['RefundRequested', 'RefundSubmitted']);
    });
    it('sends a devolution', async () => {
      const { refundId, which } = await reserved({ strategy: 'devolution' });
      await refunds.run(which);
      expect(await typesOf(refundId)).to.deep.equal(['RefundRequested', 'RefundSubmitted']);
    });
  });

  it('does nothing for a refund that was never reserved', async () => {
    const { paymentId, refundId } = await reserved();
    const never = '0'.repeat(26) as RefundId;
    await refunds.run({ paymentId, refundId: never });
    await refunds.run({ paymentId: '0'.repeat(26) as PaymentId, refundId });
    expect([await typesOf(never), core.provider.calls]).to.deep.equal([[], []]);
  });

  it('doubles the delay between lookups, but not past the end of the day, while the provider is processing', async () => {
    const { which } = await reserved();
    await refunds.run(which);
    const { accountId: account } = core.account;
    for (const [elapsed, pause] of [
      [1, 1],
      [2, 2],
      [4, 4],
      [86_400 * 3, (toMillis(parseTimestamp('2026-11-25T00:00:00.000Z')) - toMillis(SETTLED_AT)) / 1_000 - 86_400 * 3],
    ] as const) {
      core.clock.nowMs = toMillis(SETTLED_AT) + elapsed * 1_000;
      timers = [];
      await refunds.run(which);
      const dueAt = addSeconds(fromMillis(core.clock.nowMs), pause);
      const key = which.refundId;
      expect(timers).to.deep.equal([
        { account, mode: 'test', kind: 'refund', key, payload: which, group: account, dueAt },
      ]);
    }
    expect(core.provider.calls.filter((call) => call.startsWith('refund '))).to.have.length(1);
  });

  for (const type of ['RefundRequested', 'RefundSubmitted'])
    it(`resumes after a crash before ${type} and pays once`, async () => {
      const { refundId, which } = await reserved();
      killedOn(type);
      expect(await thrown(refunds.run(which))).to.equal('killed');
      revived();
      await processOf(core.anotherProcess()).run(which);
      expect(await typesOf(refundId)).to.deep.equal(['RefundRequested', 'RefundSubmitted']);
      expect([...core.provider.refunds.keys()]).to.deep.equal([refundId]);
    });

  it('records the end in the payment after a crash, dated by when it happened', async () => {
    const { paymentId, refundId, which } = await reserved();
    core.provider.refundOutcome = { kind: 'confirmed', endToEndId: 'D1' };
    await refunds.run(which);
    killedOn('TransactionRefundCompleted');
    expect(await thrown(refunds.run(which))).to.equal('killed');
    revived();
    core.clock.nowMs += 3_600_000;
    await processOf(core.anotherProcess()).run(which);
    const events = await ofPayment(paymentId);
    expect(events.map(({ type, data }) => [type, data.at])).to.deep.equal([
      ['TransactionRefundReserved', SETTLED_AT],
      ['TransactionRefundCompleted', SETTLED_AT],
    ]);
    expect(await typesOf(refundId)).to.deep.equal(['RefundRequested', 'RefundCompleted']);
    expect(core.provider.calls).to.deep.equal([]);
  });

  it('looks up a refund whose answer was lost instead of sending it again', async () => {
    const { refundId, which } = await reserved();
    core.provider.next('refund', 'unknown');
    await refunds.run(which);
    await refunds.run(which);
    expect(core.provider.calls).to.deep.equal([`refund ${refundId}`, `findRefund ${refundId}`]);
    expect(await typesOf(refundId)).to.deep.equal(['RefundRequested', 'RefundOutcomeUnknown', 'RefundSubmitted']);
  });

  it('sends a lost request again under the same id once the provider reports that it is unknown', async () => {
    const { refundId, which } = await reserved();
    core.provider.next('refund', { kind: 'unknown' });
    await refunds.run(which);
    core.provider.next('findRefund', 'unknown');
    await refunds.run(which);
    await refunds.run(which);
    expect(core.provider.calls).to.deep.equal([
      `refund ${refundId}`,
      `findRefund ${refundId}`,
      `findRefund ${refundId}`,
      `refund ${refundId}`,
    ]);
    expect(await typesOf(refundId)).to.deep.equal(['RefundRequested', 'RefundOutcomeUnknown', 'RefundSubmitted']);
  });

  it('trusts a refusal of a second order only after 10 minutes, because the first order can be its cause (V7)', async () => {
    const { paymentId, refundId, which } = await reserved();
    const refused = { kind: 'refused', reason: 'The amount exceeds what is left of the Pix.' } as const;
    core.provider.next('refund', { kind: 'unknown' });
    await refunds.run(which);
    const sentAt = core.clock.nowMs;
    for (const [ms, types] of [
      [1_000, ['RefundRequested', 'RefundOutcomeUnknown']],
      [10 * MINUTE_MS - 1, ['RefundRequested', 'RefundOutcomeUnknown']],
      [10 * MINUTE_MS, ['RefundRequested', 'RefundOutcomeUnknown', 'RefundFailed']],
    ] as const) {
      core.clock.nowMs = sentAt + ms;
      core.provider.next('refund', refused);
      timers = [];
      await refunds.run(which);
      expect(await typesOf(refundId)).to.deep.equal(types);
      expect(timers).to.have.length(types.length === 2 ? 1 : 0);
    }
    await refunds.run(which);
    expect((await ofPayment(paymentId)).at(-1)?.data).to.include({ reason: refused.reason });
  });

  for (const [waited, wait] of [
    ['', async () => undefined],
    [
      ', although the account was suspended for hours before',
      async (which) => {
        await change(suspendAccount(SETTLED_AT));
        await refunds.run(which);
        await change(reopenAccount(SETTLED_AT));
      },
    ],
    [', although the connection was disabled for hours before', runDisabled],
  ] satisfies [string, (which: Parameters<RefundExecutor['run']>[0]) => Promise<unknown>][])
    it(`does not trust a refusal after a crash before the first answer was recorded${waited} (V9)`, async () => {
      const { paymentId, refundId, which } = await reserved();
      await wait(which);
      expect(core.provider.calls.filter((call) => call.startsWith('refund '))).to.deep.equal([]);
      if (waited !== '') core.clock.nowMs += 2 * 60 * MINUTE_MS;
      // The first order is sent now, and its process is killed before it records the answer.
      killedOn('RefundSubmitted');
      expect(await thrown(refunds.run(which))).to.equal('killed');
      revived();
      // The provider lists the refund late, and refuses another one because it has already reserved the money for the first.
      core.provider.refunds.clear();
      const refused = { kind: 'refused', reason: 'The balance is too low.' } as const;
      const doubtful = ['RefundRequested', 'RefundOutcomeUnknown'];
      core.clock.nowMs += 1_000;
      const repeatedAt = core.clock.nowMs;
      for (const [ms, types] of [
        [0, doubtful],
        [10 * MINUTE_MS - 1, doubtful],
        [10 * MINUTE_MS, [...doubtful, 'RefundFailed']],
      ] as const) {
        core.clock.nowMs = repeatedAt + ms;
        core.provider.calls.length = 0;
        core.provider.next('refund', refused);
        await processOf(core.anotherProcess()).run(which);
        expect(core.provider.calls).to.deep.equal([`findRefund ${refundId}`, `refund ${refundId}`]);
        expect(await typesOf(refundId)).to.deep.equal(types);
      }
      expect((await ofPayment(paymentId)).map(({ type }) => type)).to.deep.equal(['TransactionRefundReserved']);
    });

  it('does not trust a refusal after a crash long after an unanswered look (V9)', async () => {
    const { refundId, which } = await reserved();
    killedOn('RefundSubmitted');
    expect(await thrown(refunds.run(which))).to.equal('killed');
    revived();
    core.provider.refunds.clear(); // the order never arrived
    core.provider.next('findRefund', 'unknown');
    await refunds.run(which);
    // Another one is sent hours later. Its process is killed, too, and the provider lists it late.
    core.clock.nowMs += 2 * 60 * MINUTE_MS;
    killedOn('RefundSubmitted');
    expect(await thrown(refunds.run(which))).to.equal('killed');
    revived();
    core.provider.refunds.clear();
    const doubtful = ['RefundRequested', 'RefundOutcomeUnknown'];
    for (const [mayBeRepeat, types] of [
      [true, doubtful],
      [false, [...doubtful, 'RefundFailed']],
    ] as const) {
      core.provider.next('refund', { kind: 'refused', reason: 'The balance is too low.' });
      await processOf(core.anotherProcess()).run(which, undefined, mayBeRepeat);
      expect(await typesOf(refundId)).to.deep.equal(types);
    }
  });

  it('does not trust a refusal of the first order that took 3 seconds, because another process may have repeated it (V9)', async () => {
    for (const [ms, last] of [
      [2_999, 'RefundFailed'],
      [3_000, 'RefundOutcomeUnknown'],
    ] as const) {
      const { refundId, which } = await reserved();
      core.spies.beforeAppend = async (_stream, events) => {
        if (events.some(({ type }) => type === 'RefundRequested')) core.clock.nowMs += ms;
      };
      core.provider.next('refund', { kind: 'refused', reason: 'The balance is too low.' });
      await refunds.run(which);
      expect((await typesOf(refundId)).at(-1)).to.equal(last);
    }
  });

  it('counts the 10 minutes and the delays from the first order, not from the time when the connection was disabled (V9)', async () => {
    const { refundId, which } = await reserved();
    expect(await runDisabled(which)).to.contain(refundId);
    core.clock.nowMs += 2 * 60 * MINUTE_MS;
    core.provider.next('refund', { kind: 'unknown' });
    await refunds.run(which);
    core.clock.nowMs += 1_000;
    core.provider.next('refund', { kind: 'refused', reason: 'The balance is too low.' });
    await refunds.run(which);
    expect(await typesOf(refundId)).to.deep.equal(['RefundRequested', 'RefundOutcomeUnknown']);
    expect(timers.map(({ dueAt }) => dueAt)).to.deep.equal([addSeconds(fromMillis(core.clock.nowMs), 1)]);
  });

  it('releases the amount once if the provider refuses, so that it can be refunded again', async () => {
    const { paymentId, refundId, which } = await reserved();
    core.provider.refundOutcome = { kind: 'refused', reason: 'account closed' };
    await refunds.run(which);
    for (const _ of [1, 2]) await refunds.run(which);
    expect(await typesOf(refundId)).to.deep.equal(['RefundRequested', 'RefundFailed']);
    const events = await ofPayment(paymentId);
    expect(events.map(({ type, data }) => [type, data.reason])).to.deep.equal([
      ['TransactionRefundReserved', null],
      ['TransactionRefundReleased', 'account closed'],
    ]);
    expect((await ask(paymentId, { idempotencyKey: 'another-key' })).refund.amount).to.equal(12_345);
  });

  it('pays and ends once if run concurrently by two processes', async () => {
    const { paymentId, refundId, which } = await reserved();
    core.provider.refundOutcome = { kind: 'confirmed', endToEndId: 'D1' };
    const other = processOf(core.anotherProcess());
    for (const _ of [1, 2]) await Promise.all([refunds.run(which), other.run(which)]);
    expect(await typesOf(refundId)).to.deep.equal(['RefundRequested', 'RefundCompleted']);
    expect((await ofPayment(paymentId)).map(({ type }) => type)).to.deep.equal([
      'TransactionRefundReserved',
      'TransactionRefundCompleted',
    ]);
    expect([...core.provider.refunds.keys()]).to.deep.equal([refundId]);
  });

  it('reserves once if requested concurrently by two processes under the same key', async () => {
    const { paymentId } = await reserved({ amount: 1 });
    const commands = core.anotherProcess();
    const other = { ...core, commands, accounts: new Accounts(commands, core.clock, DECLARED_SETTINGS) };
    const body = { idempotencyKey: 'the-same-key', amount: 5 };
    const both = await Promise.all([ask(paymentId, body), ask(paymentId, body, other)]);
    expect(both.map(({ replayed }) => replayed).sort()).to.deep.equal([false, true]);
    expect(both[0]?.refund).to.deep.equal(both[1]?.refund);
    expect(await ofPayment(paymentId)).to.have.length(2);
  });
});
