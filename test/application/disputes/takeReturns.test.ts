// Returns that Quita did not request: from the bank’s own app, and by the banks after disputes (rules V9, V10).
import { expect } from 'chai';
import fc from 'fast-check';
import { medCaseIdOf, returnIdOf } from '../../../application/core/derivedIds.ts';
import { metadataForProcess } from '../../../application/core/eventMetadata.ts';
import { answerCase } from '../../../application/disputes/answerCase.ts';
import { settleCase } from '../../../application/disputes/settleCase.ts';
import { takeProviderCases } from '../../../application/disputes/takeProviderCases.ts';
import { takeReturns } from '../../../application/disputes/takeReturns.ts';
import { tellPaymentOf } from '../../../application/disputes/tellPayment.ts';
import { sendBack } from '../../../application/payments/rejectedPaymentReturn.ts';
import { Settler } from '../../../application/payments/settle.ts';
import { type ProviderReturn, UnknownAtProvider } from '../../../application/ports/paymentProvider.ts';
import { MED_CASE } from '../../../domain/dispute/aggregate.ts';
import { recordMoneyReturned, recordNotTaken, recordSettled } from '../../../domain/dispute/decisions.ts';
import type { MedCaseEvent, MedCaseState } from '../../../domain/dispute/medCase.ts';
import type { Decision } from '../../../domain/kernel/decider.ts';
import { toMinor } from '../../../domain/kernel/money.ts';
import { toMillis } from '../../../domain/kernel/time.ts';
import { PAYMENT } from '../../../domain/payment/aggregate.ts';
import { openDispute, settleDispute } from '../../../domain/payment/dispute.ts';
import { releaseHeld, returnHeld } from '../../../domain/payment/held.ts';
import { assertExists, type PaymentEvent, type PaymentState } from '../../../domain/payment/payment.ts';
import { journalEntry } from '../../../domain/payment/postings.ts';
import { completeRefund, releaseRefund, reserveRefund } from '../../../domain/payment/refund.ts';
import { transactionStatus } from '../../../domain/presentation/status.ts';
import { refundableRest } from '../../../domain/transaction/refunds.ts';
import { type Core, newId, openCore } from '../../support/core.ts';
import { ALLEGATION, at, incoming, LOCKED_TO, plain, REFUND_ID, SETTLED_AT } from '../../support/samples.ts';

const back = (id: string, amount: number, over: Partial<ProviderReturn> = {}): ProviderReturn => ({
  ...{ id, returnId: `D${id}`, nature: 'ordinary', status: 'done', amount: toMinor(amount) },
  ...{ requestedAt: at('15:00:00'), settledAt: at('15:00:05'), reason: null },
  ...over,
});
const PAYER = { name: 'X', document: '52998224725' };
const med = (id: string, amount: number) => back(id, amount, { nature: 'medFraud' });

describe('returns that Quita did not request, on Postgres', () => {
  let core: Core;
  const alerted: unknown[] = [];
  before(async () => {
    core = await openCore();
  });
  after(() => core.close());
  beforeEach(() => {
    core.clock.nowMs = toMillis(SETTLED_AT);
    core.provider.forget();
    alerted.length = 0;
  });

  const alerts = {
    disputeReport: (_: unknown, { because }: { readonly because: string }) => void alerted.push(because),
    returnedOutside: (_: unknown, { id }: { readonly id: string }) => void alerted.push(id),
    returnRefused: () => undefined,
  };
  const desk = async (over: Parameters<Core['openCharge']>[0] = {}, pix: Parameters<typeof incoming>[0] = {}) => {
    const txid = newId<string>();
    const paymentId = await core.openCharge({ txid, ...over });
    const { commands, accounts, provider: providers, account } = core;
    const needs = { commands, accounts, providers, alerts };
    const received = plain(incoming({ providerPaymentId: `E${txid}`, ...pix }));
    await new Settler(needs).settle(paymentId, received);
    const stream = PAYMENT.stream(paymentId);
    const take = (...returns: readonly ProviderReturn[]) => takeReturns(needs)({ paymentId }, { ...received, returns });
    const events = async () => (await core.eventsOf(stream)) as unknown as readonly PaymentEvent[];
    const types = async () => (await events()).slice(3).map(({ type }) => type);
    const state = async () => assertExists((await commands.load(PAYMENT, stream)).state);
    const decide = async <R>(decision: Decision<PaymentState, PaymentEvent, R>) => {
      const { terms } = (await state()).charge;
      return commands.execute(PAYMENT, stream, decision, metadataForProcess('test', terms, paymentId, 'test'));
    };
    const balances = async () => {
      const sums: { [account: string]: number } = {};
      for (const event of await events())
        for (const { account: of, amount } of journalEntry(event)?.postings ?? []) sums[of] = (sums[of] ?? 0) + amount;
      return Object.fromEntries(Object.entries(sums).filter(([, sum]) => sum !== 0));
    };
    const caseOf = (name: string) => medCaseIdOf(account, 'test', paymentId, name);
    const medCase = async (name: string) => (await commands.load(MED_CASE, MED_CASE.stream(caseOf(name)))).state;
    const rest = async () => {
      const { transaction } = await state();
      return transaction.status === 'settled' ? refundableRest(transaction) : null;
    };
    const giveBack = () => sendBack(needs)({ paymentId, providerPaymentId: `E${txid}` });
    const id = `E${txid}`;
    return {
      txid,
      id,
      paymentId,
      needs,
      take,
      types,
      state,
      decide,
      balances,
      caseOf,
      medCase,
      rest,
      giveBack,
      events,
    };
  };
  const reported = {
    providerCaseId: 'bank',
    type: 'med',
    amount: null,
    ...ALLEGATION,
    responseDeadline: null,
  } as const;
  const ruledAs = (result: 'agreed' | 'disagreed') => {
    const ruling = { result, returned: true, returnedToPayer: null } as const;
    return { report: 2, ruling, review: false, at: at('16:30:00') };
  };
  const FEES = { provider_fees: 10, platform_fees: 123 };
  const NET = 12_212;
  const reserve = (amount: number | null, strategy: 'devolution' | 'cashout' = 'devolution') =>
    reserveRefund(
      {
        ...{ refundId: REFUND_ID, amount: amount === null ? null : toMinor(amount), reason: null },
        ...{ strategy, passFeeToTenant: false, destinationKey: null, paysOut: strategy === 'cashout' },
        ...{ allowedDestinations: null, fingerprintUnder: () => 'f', fingerprintVersion: 1 },
      },
      at('14:00:00'),
    );

  it('of a settled payment debit the merchant and alert once each, and are not refunds', async () => {
    const { take, types, balances, rest, state } = await desk();
    await take(back('a', 2_345));
    await take(back('a', 2_345));
    await take(back('a', 9), back('b', 1_000, { nature: 'withdrawal' }));
    expect(await types()).to.deep.equal(['TransactionReturnedOutside', 'TransactionReturnedOutside']);
    expect(await balances()).to.deep.equal({
      ...FEES,
      provider_clearing: -12_345 + 3_345,
      merchant_available: NET - 3_345,
    });
    expect([await rest(), transactionStatus(await state()), alerted]).to.deep.equal([9_000, 'PAID', ['a', 'b']]);
  });
  it('of the full amount can make the balance negative and leave nothing to refund', async () => {
    const { take, balances, decide, rest } = await desk();
    await take(back('a', 12_345));
    expect(await balances()).to.deep.equal({ ...FEES, merchant_available: NET - 12_345 });
    expect(await rest()).to.equal(0);
    expect(await decide(reserve(null))).to.include({ code: 'transaction_not_refundable' });
  });
  it('reduce the refundable amount', async () => {
    const { take, decide } = await desk();
    await take(back('a', 2_345));
    expect(await decide(reserve(10_001))).to.include({ code: 'refund_amount_exceeds_remaining' });
    expect(await decide(reserve(10_000))).to.have.property('appended', 1);
  });
  it('are ignored while in progress or refused, as are returns that Quita requested itself', async () => {
    const { take, types, decide } = await desk();
    await decide(reserve(345));
    await take(back('a', 5, { status: 'processing' }), back('b', 5, { status: 'refused' }), back(REFUND_ID, 345));
    expect(await types()).to.deep.equal(['TransactionRefundReserved']);
    const other = await desk({}, { amount: toMinor(1) });
    await other.take(back(returnIdOf(other.paymentId, other.id), 1));
    expect([await other.types(), alerted]).to.deep.equal([[], []]);
  });
  it('reduce the hold of an open dispute first', async () => {
    const { take, balances, txid, paymentId, needs, rest } = await desk();
    core.provider.cases.set(txid, [{ ...reported, rulings: [] }]);
    await takeProviderCases(needs)(paymentId);
    await take(back('a', 345));
    const open = { ...FEES, provider_clearing: -12_000, merchant_retained: 12_000, merchant_available: NET - 12_345 };
    expect([await balances(), await rest()]).to.deep.equal([open, 0]);
    core.provider.cases.set(txid, [{ ...reported, rulings: [ruledAs('disagreed')] }]);
    await takeProviderCases(needs)(paymentId);
    const ended = { ...FEES, provider_clearing: -12_000, merchant_available: NET - 345 };
    expect([await balances(), await rest()]).to.deep.equal([ended, 12_000]);
  });

  it('of a hold that is then lost leave the whole hold paid to the payer once', async () => {
    const { take, balances, txid, paymentId, needs, medCase } = await desk();
    core.provider.cases.set(txid, [{ ...reported, rulings: [] }]);
    await takeProviderCases(needs)(paymentId);
    await take(back('a', 345), back('b', 1_000));
    core.provider.cases.set(txid, [{ ...reported, rulings: [ruledAs('agreed')] }]);
    await takeProviderCases(needs)(paymentId);
    expect(await medCase('bank')).to.include({ status: 'rejected', returnedToPayer: 12_345 });
    expect(await balances()).to.deep.equal({ ...FEES, merchant_available: NET - 12_345 });
    await take(med('c', 11_000));
    expect(await balances()).to.deep.equal({ ...FEES, merchant_available: NET - 12_345 });
  });

  it('counts a return before a case is opened in its stream once, even after a crash in between', async () => {
    for (const isKilled of [false, true]) {
      const { take, balances, txid, paymentId, needs, decide, caseOf } = await desk();
      core.provider.cases.set(txid, [{ ...reported, rulings: [] }]);
      if (isKilled) await decide(openDispute({ ...reported, caseId: caseOf('bank') }, at('14:30:00')));
      else await takeProviderCases(needs)(paymentId);
      await take(back('a', 5_000));
      core.provider.cases.set(txid, [{ ...reported, rulings: [ruledAs('agreed')] }]);
      await takeProviderCases(needs)(paymentId);
      expect(await balances()).to.deep.equal({ ...FEES, merchant_available: NET - 12_345 });
    }
  });
  it('releases no more than it held, if a return outside Quita comes before a return by the banks is told', async () => {
    const { take, balances, txid, paymentId, needs, decide, caseOf } = await desk();
    core.provider.cases.set(txid, [{ ...reported, amount: toMinor(5_000), rulings: [] }]);
    await takeProviderCases(needs)(paymentId);
    const caseId = caseOf('bank');
    const { state } = await core.commands.load(PAYMENT, PAYMENT.stream(paymentId));
    const { terms } = assertExists(state).charge;
    const ofCase = (decide: Decision<MedCaseState, MedCaseEvent, string>) =>
      core.commands.record(
        MED_CASE,
        MED_CASE.stream(caseId),
        decide,
        metadataForProcess('test', terms, paymentId, 'test'),
      );
    // The process is killed before it tells the payment of the return.
    const made = { id: 'm', amount: toMinor(5_000), at: at('15:00:00') };
    await ofCase(recordMoneyReturned(made, true, at('15:00:00')));
    const settling = {
      verdict: 'held',
      amount: toMinor(5_000),
      reason: 'x',
      by: 'operator:a',
      announced: true,
    } as const;
    await decide(settleDispute({ caseId, ...settling }, at('15:00:01')));
    await take(back('a', 4_000));
    await ofCase(recordSettled({ ...settling, at: at('15:00:01') }));
    await tellPaymentOf(needs)({ caseId });
    const { provider_clearing: clearing, merchant_retained: retained = 0, disputes = 0 } = await balances();
    expect([clearing, retained, disputes]).to.deep.equal([-12_345 + 9_000, 0, 0]);
  });
  for (const parts of [[8_000], [5_000, 3_000], [2_000, 6_000]])
    it(`posts a ruling above the settled amount once if the banks return ${parts.join(' and ')}`, async () => {
      const { take, balances, txid, paymentId, needs, caseOf } = await desk();
      const ruling = { result: 'agreed', returned: true, returnedToPayer: toMinor(8_000) } as const;
      const rulings = [{ report: 2, ruling, review: false, at: at('16:30:00') }];
      core.provider.cases.set(txid, [{ ...reported, amount: toMinor(8_000), rulings }]);
      await takeProviderCases(needs)(paymentId);
      const lost = { verdict: 'lost', amount: toMinor(5_000) } as const;
      await settleCase(needs)(caseOf('bank'), lost, 'x', { actor: 'operator:a', requestId: null });
      await take(...parts.map((amount, n) => med(`m${n}`, amount)));
      const { provider_clearing: clearing, disputes = 0, merchant_available: available } = await balances();
      expect([clearing, disputes, available]).to.deep.equal([-12_345 + 8_000, 0, NET - 8_000]);
    });
  for (const parts of [[10_000], [8_345, 1_655], [5_000, 5_000]])
    it(`posts a ruling above the hold once if the banks return ${parts.join(' and ')}`, async () => {
      const { take, balances, txid, paymentId, needs, decide } = await desk();
      await decide(reserve(4_000));
      core.provider.cases.set(txid, [{ ...reported, rulings: [] }]);
      await takeProviderCases(needs)(paymentId);
      await decide(releaseRefund(REFUND_ID, 'refused', at('16:10:00')));
      const ruling = { result: 'agreed', returned: true, returnedToPayer: toMinor(10_000) } as const;
      const rulings = [{ report: 2, ruling, review: false, at: at('16:30:00') }];
      core.provider.cases.set(txid, [{ ...reported, rulings }]);
      await takeProviderCases(needs)(paymentId);
      await take(...parts.map((amount, n) => med(`m${n}`, amount)));
      expect((await balances())['provider_clearing']).to.equal(-12_345 + 10_000);
    });

  const mismatched = async (ruled: number | null) => {
    const one = await desk();
    const { txid, paymentId, needs, caseOf } = one;
    const report = async (more: readonly { readonly providerCaseId: string; readonly amount: null }[] = []) => {
      const ruling = { result: 'agreed', returned: true, returnedToPayer: toMinor(ruled ?? 0) } as const;
      const rulings = ruled === null ? [] : [{ report: 2, ruling, review: false, at: at('16:30:00') }];
      const others = more.map((over) => ({ ...reported, ...over, rulings: [] }));
      core.provider.cases.set(txid, [{ ...reported, amount: toMinor(8_000), rulings }, ...others]);
      await takeProviderCases(needs)(paymentId);
    };
    const settle = (verdict: 'lost' | 'nothing', amount: number) =>
      settleCase(needs)(caseOf('bank'), { verdict, amount: toMinor(amount) }, 'x', { actor: 'ana', requestId: null });
    /** Records the return in the case, and is killed before it tells the payment. */
    const recordOnly = async (id: string, amount: number) => {
      const made = recordMoneyReturned({ id, amount: toMinor(amount), at: at('15:00:00') }, true, at('15:00:00'));
      const metadata = metadataForProcess('test', (await one.state()).charge.terms, paymentId, 'test');
      await core.commands.record(MED_CASE, MED_CASE.stream(caseOf('bank')), made, metadata);
    };
    await report();
    return { ...one, report, settle, recordOnly };
  };
  for (const parts of [[8_000], [5_000, 3_000], [3_000, 5_000]])
    it(`posts a ruling above the settled amount once if somebody returns ${parts.join(' and ')} in the bank’s app`, async () => {
      const { take, balances, settle } = await mismatched(8_000);
      await settle('lost', 5_000);
      await take(...parts.map((amount, n) => back(`app${n}`, amount)));
      expect(await balances()).to.deep.equal({
        ...{ ...FEES, provider_clearing: -12_345 + 8_000, merchant_available: NET - 8_000 },
      });
    });
  it('in the bank’s app carry out a ruling before an operator settles the mismatch', async () => {
    const { take, balances } = await mismatched(8_000);
    await take(back('app', 3_000));
    expect(await balances()).to.deep.equal({
      ...{ ...FEES, provider_clearing: -12_345 + 8_000, merchant_available: NET - 3_000, disputes: -5_000 },
    });
  });
  it('by the banks that a ruling announced are posted once, if the merchant keeps the money', async () => {
    const { take, balances, settle, medCase } = await mismatched(8_000);
    await settle('nothing', 0);
    await take(med('a', 3_000), med('b', 5_000));
    expect(await balances()).to.deep.equal({
      ...{ ...FEES, provider_clearing: -12_345 + 8_000, merchant_available: NET, disputes: -8_000 },
    });
    expect(await medCase('bank')).to.include({ status: 'closed', returnedToPayer: 8_000 });
  });
  it('by the banks don’t end a later case if they are reported again', async () => {
    const { take, balances, settle, medCase, report } = await mismatched(null);
    await take(med('a', 1_345));
    await settle('nothing', 0);
    await report([{ providerCaseId: 'next', amount: null }]);
    await take(med('a', 1_345));
    expect(await medCase('next')).to.include({ status: 'open', returnedToPayer: null });
    expect((await balances())['provider_clearing']).to.equal(-12_345 + 1_345);
  });
  it('by the banks are posted before another return opens a case, even if a process was killed in between', async () => {
    const { take, balances, settle, recordOnly } = await mismatched(null);
    await settle('lost', 5_000);
    await recordOnly('a', 5_000);
    await take(med('b', 1_000));
    expect(await balances()).to.deep.equal({
      ...{ ...FEES, provider_clearing: -12_345 + 6_000, merchant_available: NET - 6_000 },
    });
  });
  it('by the banks are posted before the bank opens another case, even if a process was killed in between', async () => {
    const { balances, settle, recordOnly, report } = await mismatched(8_000);
    await settle('nothing', 0);
    await recordOnly('a', 8_345);
    await report([{ providerCaseId: 'next', amount: null }]);
    expect(await balances()).to.include({ provider_clearing: -12_345 + 8_345, merchant_retained: 12_345 });
  });
  it('by the banks are posted once, even if the bank opens another case while its own process is killed', async () => {
    const { balances, settle, recordOnly, report, take } = await mismatched(8_000);
    await settle('nothing', 0);
    core.spies.beforeAppend = async (_stream, events) => {
      if (!events.some(({ type }) => type === 'TransactionDisputeOpened')) return;
      core.spies.beforeAppend = null;
      await recordOnly('a', 8_345);
    };
    await report([{ providerCaseId: 'next', amount: null }]);
    expect(core.spies.beforeAppend).to.equal(null);
    const held = { ...FEES, merchant_available: NET - 12_345, merchant_retained: 12_345 };
    expect(await balances()).to.deep.equal({ ...held, provider_clearing: -12_345 + 8_000, disputes: -8_000 });
    for (let n = 0; n < 2; n++) await take(med('a', 8_345));
    expect(await balances()).to.deep.equal({ ...held, provider_clearing: -12_345 + 8_345, disputes: -8_345 });
  });
  for (const isAnnounced of [true, false])
    for (const parts of [[12_345], [7_345, 5_000], [7_000, 345, 5_000], [3_000, 7_345, 2_000]])
      it(`after a Pix-out cost the platform the excess (${isAnnounced ? 'case' : 'no case'}, ${parts.join(' and ')})`, async () => {
        const { take, balances, decide, txid, paymentId, needs } = await desk({}, { payer: PAYER });
        await decide(reserve(5_000, 'cashout'));
        await decide(completeRefund(REFUND_ID, null, at('16:00:00')));
        core.provider.cases.set(txid, isAnnounced ? [{ ...reported, rulings: [] }] : []);
        await takeProviderCases(needs)(paymentId);
        for (const _ of [1, 2]) await take(...parts.map((amount, n) => med(`m${n}`, amount)));
        const { provider_clearing: clearing, disputes, merchant_available: available } = await balances();
        expect([clearing, disputes, available, alerted]).to.deep.equal([5_000, -5_000, NET - 12_345, []]);
      });

  describe('from the bank’s own app after a lost dispute', () => {
    const lost = async (how: 'agreed' | 'accepted') => {
      const one = await desk();
      const { txid, paymentId, needs, caseOf } = one;
      core.provider.cases.set(txid, [{ ...reported, rulings: [] }]);
      await takeProviderCases(needs)(paymentId);
      const { accountId } = core.account;
      const tenant = { accountId, mode: 'test' } as const;
      core.provider.cases.set(txid, [{ ...reported, rulings: [ruledAs('agreed')] }]);
      if (how === 'agreed') await takeProviderCases(needs)(paymentId);
      else await answerCase(needs)(tenant, caseOf('bank'), { kind: 'accept' }, { actor: 'key:a', requestId: null });
      return one;
    };
    const ONCE = { ...FEES, merchant_available: NET - 12_345 };
    for (const how of ['agreed', 'accepted'] as const) {
      it(`carry out the dispute, and the merchant pays once (${how})`, async () => {
        const { take, balances, rest, types } = await lost(how);
        await take(back('app', 12_345));
        await take(back('app', 12_345));
        expect([await balances(), await rest()]).to.deep.equal([ONCE, 0]);
        expect((await types()).slice(-2)).to.deep.equal([
          'TransactionReturnedOutside',
          'TransactionDisputeReturnCounted',
        ]);
        expect(alerted).to.deep.equal(['app']);
      });
      it(`can cover a part, with the rest returned by the banks (${how})`, async () => {
        const { take, balances } = await lost(how);
        await take(back('app', 345));
        await take(med('a', 12_000));
        expect(await balances()).to.deep.equal(ONCE);
      });
      it(`are charged to the merchant if the banks returned everything before (${how})`, async () => {
        const { take, balances } = await lost(how);
        await take(med('a', 12_345), back('app', 345));
        expect(await balances()).to.deep.equal({
          ...{ ...FEES, merchant_available: NET - 12_690, provider_clearing: 345 },
        });
      });
      it(`are charged to the merchant if the banks return everything afterwards (${how})`, async () => {
        const { take, balances } = await lost(how);
        await take(back('app', 345));
        await take(med('a', 12_345), med('a', 12_345));
        expect(await balances()).to.deep.equal({
          ...{ ...FEES, merchant_available: NET - 12_690, provider_clearing: 345 },
        });
      });
    }
  });

  describe('of a payment that was not credited', () => {
    const HELD = [{ expectedPayerTaxId: LOCKED_TO }, { payer: { name: null, document: null } }] as const;
    it('reduce the amount of a held payment that goes back, and prevent its release', async () => {
      const { take, balances, decide, giveBack, types, id, state } = await desk(...HELD);
      await take(med('a', 345));
      expect(await balances()).to.deep.equal({ provider_clearing: -12_000, payer_returns: 12_000 });
      const { fees, holdDays } = core.account.settings;
      const released = releaseHeld({ fees, holdDays }, 'operator:ana', at('15:01:00'));
      expect(await decide(released)).to.include({ code: 'invalid_request' });
      await decide(
        returnHeld({ returnIdOf: () => 'own', providerPaymentId: null, by: 'operator:ana' }, at('15:02:00')),
      );
      await giveBack();
      expect(core.provider.returns.get('own')).to.deep.equal({ providerPaymentId: id, amount: 12_000 });
      expect(await types()).to.deep.equal([
        'TransactionReturnedOutside',
        'TransactionHeldRejected',
        'TransactionPaymentReturned',
      ]);
      expect([await balances(), transactionStatus(await state())]).to.deep.equal([{}, 'REFUNDED']);
    });
    it('of the full held amount make the payment REFUNDED', async () => {
      const { take, balances, state } = await desk(...HELD);
      await take(back('a', 12_345), back('a', 12_345));
      expect([await balances(), transactionStatus(await state())]).to.deep.equal([{}, 'REFUNDED']);
    });
    it('reduce the return of a rejected payment, and replace it if they cover everything', async () => {
      const part = await desk({}, { amount: toMinor(1_000) });
      await part.take(back('a', 400));
      await part.giveBack();
      expect([...core.provider.returns.values()].map(({ amount }) => amount)).to.deep.equal([600]);
      expect(await part.balances()).to.deep.equal({});
      const all = await desk({}, { amount: toMinor(1_000) });
      core.provider.calls.length = 0;
      await all.take(back('a', 1_000));
      await all.giveBack();
      expect([core.provider.calls, await all.balances()]).to.deep.equal([[], {}]);
    });
    it('are recorded only when done, if they are Quita’s own return in progress', async () => {
      const { giveBack, types, take, state } = await desk(
        { expectedPayerTaxId: LOCKED_TO },
        { payer: { name: 'X', document: '52998224725' } },
      );
      core.provider.next('returnPayment', { kind: 'processing' });
      const error = await giveBack().catch((thrown: unknown) => thrown);
      expect(error).to.be.instanceOf(UnknownAtProvider);
      const { incomingPayments } = (await state()).transaction;
      await take(back(String(incomingPayments[0]?.returnId), 12_345, { status: 'processing', settledAt: null }));
      expect([await types(), transactionStatus(await state())]).to.deep.equal([[], 'PROCESSING']);
      await giveBack();
      expect([await types(), transactionStatus(await state())]).to.deep.equal([
        ['TransactionPaymentReturned'],
        'REFUNDED',
      ]);
    });
    it('complete a return that was refused first and then done under its original id', async () => {
      const { giveBack, types, take, paymentId, id, balances } = await desk({}, { amount: toMinor(1_000) });
      core.provider.next('returnPayment', { kind: 'refused', reason: 'NAO_REALIZADO' });
      await giveBack();
      await take(back(returnIdOf(paymentId, id), 1_000));
      expect(await types()).to.deep.equal(['TransactionReturnRefused', 'TransactionPaymentReturned']);
      expect(await balances()).to.deep.equal({});
    });
  });

  describe('by the banks after an unreported dispute', () => {
    const LOST = ['TransactionDisputeOpened', 'TransactionDisputeUpdated', 'TransactionDisputeUpdated'];
    it('open a case of that amount that is lost at once, once', async () => {
      const { take, types, balances, rest, state, medCase } = await desk();
      await take(med('a', 345));
      await take(med('a', 345));
      expect(await types()).to.deep.equal([
        ...LOST,
        'TransactionDisputeResolved',
        'TransactionDisputeReturned',
        'TransactionDisputeUpdated',
      ]);
      expect(await balances()).to.deep.equal({ ...FEES, provider_clearing: -12_000, merchant_available: NET - 345 });
      expect([await rest(), transactionStatus(await state()), alerted]).to.deep.equal([12_000, 'DISPUTE', []]);
      expect(await medCase('a')).to.include({
        status: 'rejected',
        moneyOutcome: 'lost',
        returnedToPayer: 345,
        held: 345,
      });
    });
    it('open a second case for a second part, up to the rest; any more is listed, with one alert', async () => {
      const { take, balances, rest, medCase } = await desk();
      await take(med('a', 345), med('b', 12_000), med('c', 1), med('c', 1));
      expect(await balances()).to.deep.equal({ ...FEES, merchant_available: NET - 12_345 });
      expect([await rest(), alerted]).to.deep.equal([0, ['lost_before']]);
      expect(await medCase('c')).to.nested.include({ status: 'absent', 'notTaken.because': 'lost_before' });
      await take(med('a', 345), med('b', 12_000), med('c', 1));
      expect([await rest(), alerted]).to.deep.equal([0, ['lost_before']]);
    });
    for (const before of [0, 345])
      it(`charge the merchant the rest and the platform the excess after a Pix-out${before === 0 ? '' : ' and a lost case'}`, async () => {
        const { take, decide, balances, rest, medCase } = await desk();
        await decide(reserve(5_000));
        const waits = await take(med('a', 12_345 - before)).catch((thrown: unknown) => thrown);
        expect(waits).to.be.instanceOf(UnknownAtProvider);
        await decide(completeRefund(REFUND_ID, null, at('16:00:00')));
        if (before > 0) await take(med('before', before));
        for (const _ of [1, 2]) await take(med('a', 12_345 - before));
        expect(await balances()).to.deep.equal({
          ...{ ...FEES, provider_clearing: 5_000, merchant_available: NET - 12_345, disputes: -5_000 },
        });
        expect([await rest(), alerted]).to.deep.equal([0, []]);
        const returned = { held: 7_345 - before, returnedToPayer: 12_345 - before };
        expect(await medCase('a')).to.include({ status: 'rejected', moneyOutcome: 'lost', ...returned });
      });
    it('wait for a pending refund, and use its amount if it fails', async () => {
      const { take, decide, balances } = await desk();
      await decide(reserve(10_000));
      const error = await take(med('a', 12_345)).catch((thrown: unknown) => thrown);
      expect(error).to.be.instanceOf(UnknownAtProvider);
      await decide(releaseRefund(REFUND_ID, 'no money', at('16:00:00')));
      await take(med('a', 12_345));
      expect(await balances()).to.deep.equal({ ...FEES, merchant_available: NET - 12_345 });
    });
    it('don’t delay another return while they wait', async () => {
      const { take, decide, balances } = await desk();
      await decide(reserve(10_000));
      const both = [med('a', 12_345), back('b', 345)];
      expect(await take(...both).catch((thrown: unknown) => thrown)).to.be.instanceOf(UnknownAtProvider);
      const reserved = { refunds_in_transit: 10_000, merchant_available: NET - 10_345 };
      expect(await balances()).to.deep.equal({ ...FEES, ...reserved, provider_clearing: -12_000 });
    });
    for (const listedBefore of [[], ['a'], ['a', 'b']])
      it(`debit the platform for all if a Pix-out refunded everything${listedBefore.map((id) => `, and ${id} was only listed`).join('')}`, async () => {
        const { take, decide, balances, rest, medCase, caseOf, state, paymentId } = await desk();
        await decide(reserve(null, 'cashout'));
        expect(await take(med('a', 345)).catch((thrown: unknown) => thrown)).to.be.instanceOf(UnknownAtProvider);
        await decide(completeRefund(REFUND_ID, null, at('16:00:00')));
        const { accountId, mode } = (await state()).charge.terms;
        const metadata = metadataForProcess('test', { accountId, mode }, paymentId, 'test');
        for (const id of listedBefore) {
          const about = { caseId: caseOf(id), accountId, mode, paymentId, providerCaseId: id, currency: 'BRL' };
          const listed = { ...about, amount: toMinor(345), because: 'refunded', isFinal: true } as const;
          const report = recordNotTaken(listed, at('16:00:00'));
          await core.commands.record(MED_CASE, MED_CASE.stream(caseOf(id)), report, metadata);
        }
        for (const _ of [1, 2]) await take(med('a', 345), med('b', 12_000));
        expect(await balances()).to.nested.include({ provider_clearing: 12_345, disputes: -12_345 });
        expect([await rest(), alerted]).to.deep.equal([0, []]);
        expect(await medCase('a')).to.include({ status: 'rejected', moneyOutcome: 'lost', held: 0 });
      });
    it('are only alerted if the bank can’t have made them, because the Pix is already returned', async () => {
      const { take, decide, balances } = await desk();
      await decide(reserve(null));
      await decide(completeRefund(REFUND_ID, null, at('16:00:00')));
      await take(med('a', 12_345));
      expect(await balances()).to.deep.equal({ ...FEES, merchant_available: NET - 12_345 });
      expect(alerted).to.deep.equal(['refunded']);
    });
    it('end an open case once and count toward the amount of a lost case', async () => {
      const { take, txid, paymentId, needs, balances, medCase, caseOf } = await desk();
      core.provider.cases.set(txid, [{ ...reported, rulings: [] }]);
      await takeProviderCases(needs)(paymentId);
      await take(med('a', 2_345));
      await take(med('a', 2_345));
      expect(await medCase('bank')).to.include({ status: 'rejected', returnedToPayer: 2_345 });
      const ended = { ...FEES, merchant_available: NET - 12_345, disputes: 10_000, provider_clearing: -10_000 };
      expect(await balances()).to.deep.equal(ended);
      await take(med('a', 2_345), med('b', 10_000), med('b', 10_000));
      expect(await balances()).to.deep.equal({ ...FEES, merchant_available: NET - 12_345 });
      expect(await medCase('bank')).to.include({ returnedToPayer: 12_345 });
      expect((await core.commands.load(MED_CASE, MED_CASE.stream(caseOf('a')))).state.status).to.equal('absent');
    });
    describe('of more than the case holds', () => {
      const MISMATCH = { ...reported, amount: toMinor(9_999), rulings: [] };
      const disputed = async () => {
        const one = await desk();
        const { txid, paymentId, needs, caseOf } = one;
        core.provider.cases.set(txid, [MISMATCH]);
        await takeProviderCases(needs)(paymentId);
        const by = { actor: 'operator:ana', requestId: null };
        const settle = (verdict: 'held' | 'lost') =>
          settleCase(needs)(caseOf('bank'), { verdict, amount: toMinor(5_000) }, 'reason', by);
        return { ...one, settle };
      };
      for (const verdict of ['held', 'lost'] as const)
        it(`debit the rest from the merchant’s balance and reduce the refundable rest (${verdict})`, async () => {
          const { take, balances, rest, settle, medCase } = await disputed();
          await settle(verdict);
          await take(med('a', 6_000));
          await take(med('a', 6_000));
          expect(await balances()).to.deep.equal({
            ...{ ...FEES, provider_clearing: -6_345, merchant_available: NET - 6_000 },
          });
          expect(await rest()).to.equal(6_345);
          expect(await medCase('bank')).to.include({ status: 'rejected', returnedToPayer: 6_000 });
          expect((await medCase('a')).status).to.equal('absent');
        });
      it('debit the platform for any amount above the refundable rest', async () => {
        const { take, balances, decide, settle, rest } = await disputed();
        await decide(reserve(2_000));
        await decide(completeRefund(REFUND_ID, null, at('16:00:00')));
        await settle('held');
        await take(med('a', 12_345));
        const available = NET - 12_345;
        expect(await balances()).to.deep.equal({
          ...{ ...FEES, provider_clearing: 2_000, merchant_available: available, disputes: -2_000 },
        });
        expect(await rest()).to.equal(0);
      });
      for (const isPaid of [false, true])
        it(`wait for a pending refund that is then ${isPaid ? 'paid' : 'rejected'}`, async () => {
          const { take, balances, decide, txid, paymentId, needs } = await desk();
          await decide(reserve(5_000));
          core.provider.cases.set(txid, [{ ...reported, rulings: [] }]);
          await takeProviderCases(needs)(paymentId);
          const error = await take(med('a', 12_345)).catch((thrown: unknown) => thrown);
          expect(error).to.be.instanceOf(UnknownAtProvider);
          const ended = at('16:00:00');
          await decide(isPaid ? completeRefund(REFUND_ID, null, ended) : releaseRefund(REFUND_ID, 'no money', ended));
          await take(med('a', 12_345));
          const paid = { ...FEES, merchant_available: NET - 12_345 };
          const lost = { provider_clearing: 5_000, disputes: -5_000 };
          expect(await balances()).to.deep.equal({ ...paid, ...(isPaid && lost) });
        });
      it('have the same result in any order of several parts and an operator’s loss verdict', () =>
        fc.assert(
          fc.asyncProperty(fc.shuffledSubarray([0, 1_345, 2_000, 4_000], { minLength: 4 }), async (parts) => {
            const { take, balances, rest, settle } = await disputed();
            for (const part of parts) await (part === 0 ? settle('lost') : take(med(`part${part}`, part)));
            const all = { ...FEES, provider_clearing: -5_000, merchant_available: NET - 7_345 };
            expect([await balances(), await rest()]).to.deep.equal([all, 5_000]);
          }),
          { numRuns: 48 },
        ));
      it('have the same result in any order with the bank’s ruling, and cause no contradiction', () =>
        fc.assert(
          fc.asyncProperty(
            fc.shuffledSubarray(['settle', 'rule', 1_345, 2_000] as const, { minLength: 4 }),
            async (steps) => {
              const { take, balances, settle, txid, paymentId, needs, medCase } = await disputed();
              const ruling = { result: 'agreed', returned: true, returnedToPayer: toMinor(5_000) } as const;
              const rulings = [{ ...ruledAs('agreed'), ruling }];
              for (const step of steps)
                if (step === 'settle') await settle('lost');
                else if (step === 'rule') {
                  core.provider.cases.set(txid, [{ ...MISMATCH, rulings }]);
                  await takeProviderCases(needs)(paymentId);
                } else await take(med(`part${step}`, step));
              expect(await balances()).to.deep.equal({
                ...{ ...FEES, provider_clearing: -7_345, merchant_available: NET - 5_000 },
              });
              expect(await medCase('bank')).to.include({ returnedToPayer: 5_000, contradiction: null });
            },
          ),
          { numRuns: 48 },
        ));
    });
    it('pay out the hold of a case that the merchant accepted', async () => {
      const { take, txid, paymentId, needs, balances, caseOf } = await desk();
      core.provider.cases.set(txid, [{ ...reported, rulings: [] }]);
      await takeProviderCases(needs)(paymentId);
      const { accountId } = core.account;
      await answerCase(needs)(
        { accountId, mode: 'test' },
        caseOf('bank'),
        { kind: 'accept' },
        { actor: 'key:a', requestId: null },
      );
      await take(med('a', 12_345), med('a', 12_345));
      expect(await balances()).to.deep.equal({ ...FEES, merchant_available: NET - 12_345 });
    });
  });
});
