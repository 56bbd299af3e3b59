// Disputes reported by a provider: reviews between its reports, its deadlines, and evidence files (Q1, Q2, Q5, Q6).

import { expect } from 'chai';
import { medCaseIdOf } from '../../../application/core/derivedIds.ts';
import { answerCase } from '../../../application/disputes/answerCase.ts';
import { removeUnconfirmed } from '../../../application/disputes/evidenceSweep.ts';
import { takeOwedReportsOf } from '../../../application/disputes/owedReports.ts';
import { dismissCaseReport } from '../../../application/disputes/reviews.ts';
import { followSettlingOf, settleCase } from '../../../application/disputes/settleCase.ts';
import { deadlineOf, takeProviderCases } from '../../../application/disputes/takeProviderCases.ts';
import { tellPaymentOf } from '../../../application/disputes/tellPayment.ts';
import { Settler } from '../../../application/payments/settle.ts';
import type { DisputeAlert } from '../../../application/ports/operatorAlerts.ts';
import { type ProviderCase, UnknownAtProvider } from '../../../application/ports/paymentProvider.ts';
import { MED_CASE } from '../../../domain/dispute/aggregate.ts';
import {
  appealCase,
  type BankRuling,
  giveUpReport,
  requestEvidence,
  ruleCase,
} from '../../../domain/dispute/decisions.ts';
import { confirmEvidence } from '../../../domain/dispute/evidence.ts';
import type { MedCase, MedCaseState } from '../../../domain/dispute/medCase.ts';
import { announcesOutcomes } from '../../../domain/dispute/settings.ts';
import type { EvidenceId, PaymentId } from '../../../domain/kernel/ids.ts';
import { toMinor, ZERO } from '../../../domain/kernel/money.ts';
import { addMillis, DAY_MS, type Timestamp, toMillis } from '../../../domain/kernel/time.ts';
import { PAYMENT } from '../../../domain/payment/aggregate.ts';
import { settleDispute } from '../../../domain/payment/dispute.ts';
import { type Core, newId, openCore, why } from '../../support/core.ts';
import { ALLEGATION, at, incoming, plain, SETTLED_AT } from '../../support/samples.ts';
import { parseTimestamp } from '../../support/timestamp.ts';

const REPORTED: ProviderCase = {
  providerCaseId: 'bank-1',
  type: 'med',
  amount: null,
  ...ALLEGATION,
  responseDeadline: null,
  openedAt: at('15:59:00'),
  rulings: [],
};
const AGREED: BankRuling = {
  report: 2,
  ruling: { result: 'agreed', returned: true, returnedToPayer: null },
  review: true,
  at: at('16:30:00'),
};
const WITHDRAWN: BankRuling = { report: 3, ruling: 'withdrawn', review: false, at: at('16:40:00') };

describe('disputes reported by a provider, on Postgres', () => {
  let core: Core;
  const alerted: string[] = [];
  before(async () => {
    core = await openCore();
  });
  after(() => core.close());
  beforeEach(() => {
    core.clock.nowMs = toMillis(SETTLED_AT);
    core.provider.forget();
    alerted.length = 0;
  });

  /** Returns an open charge with the functions to report disputes for it and to read its case. */
  const issued = async () => {
    const txid = newId<string>();
    const paymentId = await core.openCharge({ txid });
    const alerts = { disputeReport: (_: unknown, { because }: DisputeAlert) => void alerted.push(because) };
    const needs = { commands: core.commands, accounts: core.accounts, providers: core.provider, alerts };
    const settle = () => new Settler(needs).settle(paymentId, plain(incoming({ providerPaymentId: `E${txid}` })));
    const { accountId } = core.account;
    const caseId = medCaseIdOf(core.account, 'test', paymentId, REPORTED.providerCaseId);
    const stream = MED_CASE.stream(caseId);
    const report = async (over: Partial<ProviderCase> = {}): Promise<MedCase> => {
      core.provider.cases.set(txid, [{ ...REPORTED, ...over }]);
      await takeProviderCases(needs)(paymentId);
      return medCase();
    };
    const medCase = async () => (await core.commands.load(MED_CASE, stream)).state as MedCase;
    const review = (approve: boolean) =>
      answerCase(needs)(
        { accountId, mode: 'test' },
        caseId,
        { kind: 'review', approve },
        { actor: 'operator:test', requestId: null },
      );
    return { paymentId, needs, caseId, stream, txid, settle, report, medCase, review };
  };
  const paid = async () => {
    const charge = await issued();
    await charge.settle();
    return charge;
  };

  it('apply a report that arrived during a review once the review is refused', async () => {
    const { report, review, medCase } = await paid();
    expect((await report({ rulings: [AGREED] })).review).to.include({ result: 'agreed' });
    expect(await report({ rulings: [AGREED, WITHDRAWN] })).to.include({ status: 'open', reports: 2 });
    await review(false);
    expect(await medCase()).to.include({ status: 'closed', ending: 'withdrawn', reports: 3, review: null });
  });
  it('record a report that contradicts an approved review, and alert once', async () => {
    const { report, review, medCase } = await paid();
    await report({ rulings: [AGREED, WITHDRAWN] });
    await review(true);
    expect(await medCase()).to.include({ status: 'rejected', ending: 'agreed', reports: 3 });
    expect((await medCase()).contradiction).to.include({ report: 3, result: 'withdrawn' });
    expect(await report({ rulings: [AGREED, WITHDRAWN] })).to.include({ status: 'rejected', reports: 3 });
    expect(alerted).to.deep.equal(['contradicting']);
  });
  it('record in the payment the case as it was at each step, however late the steps are recorded', async () => {
    const { report, stream, caseId, paymentId } = await paid();
    await report();
    const { accountId } = core.account;
    const steps = [
      requestEvidence(SETTLED_AT),
      appealCase('It came.', SETTLED_AT),
      ruleCase({ ...AGREED, review: false }, true, SETTLED_AT),
    ];
    for (const step of steps) await core.commands.execute(MED_CASE, stream, step, why(accountId));
    await tellPaymentOf(core)({ caseId });
    const told: unknown[] = [];
    for await (const { event } of core.commands.loadSteps(PAYMENT, PAYMENT.stream(paymentId)))
      if (event.type === 'TransactionDisputeUpdated')
        told.push([
          event.data.change,
          event.data.medCase.status,
          event.data.medCase.evidenceRequestedAt,
          event.data.ruledAt,
        ]);
    expect(told).to.deep.equal([
      ['opened', 'open', null, null],
      ['evidence_requested', 'open', SETTLED_AT, null],
      ['appealed', 'appealed', SETTLED_AT, null],
      ['rejected', 'rejected', SETTLED_AT, at('16:30:00')],
    ]);
  });
  describe('if the payment can’t accept the report (Q10)', () => {
    const second = { ...REPORTED, providerCaseId: 'bank-2' };
    const secondOf = (paymentId: PaymentId) => MED_CASE.stream(medCaseIdOf(core.account, 'test', paymentId, 'bank-2'));
    const stateOf = async (paymentId: PaymentId) =>
      (await core.commands.load(MED_CASE, secondOf(paymentId))).state as MedCaseState;
    const twoReports = async (rulings: readonly BankRuling[]) => {
      const charge = await paid();
      const take = async (...of: readonly BankRuling[]) => {
        core.provider.cases.set(charge.txid, [{ ...REPORTED, rulings: of }, second]);
        await takeProviderCases(charge.needs)(charge.paymentId);
        return stateOf(charge.paymentId);
      };
      await take(...rulings);
      return { ...charge, take };
    };
    it('record it once while another case is open, and open it after that case ends without a loss', async () => {
      const { take, paymentId } = await twoReports([]);
      const owed = await stateOf(paymentId);
      expect([owed.status, 'notTaken' in owed && owed.notTaken?.because]).to.deep.equal(['absent', 'case_open']);
      expect(await take()).to.deep.equal(owed);
      expect(alerted).to.deep.equal([]);
      const won = { ...AGREED, review: false, ruling: 'withdrawn' as const };
      // The second report was read before the first case’s end was recorded, so the process looks again.
      await take(won);
      expect(await take(won)).to.include({ status: 'open' });
    });
    it('never open a case after a lost one: the report is recorded and alerts once', async () => {
      const { take } = await twoReports([]);
      const lost = { ...AGREED, review: false };
      await take(lost);
      for (let n = 0; n < 2; n++) {
        const state = await take(lost);
        expect('notTaken' in state && state.notTaken).to.include({ because: 'lost_before', isFinal: true });
      }
      expect(alerted).to.deep.equal(['lost_before']);
    });
    it('wait until a mismatch is settled, and then open the case; the mismatch alerts once', async () => {
      const charge = await paid();
      const mismatch = { ...REPORTED, amount: toMinor(5) };
      core.provider.cases.set(charge.txid, [mismatch, second]);
      for (let n = 0; n < 2; n++) await takeProviderCases(charge.needs)(charge.paymentId);
      const owed = await stateOf(charge.paymentId);
      expect('notTaken' in owed && owed.notTaken?.because).to.equal('mismatch_not_settled');
      expect(alerted).to.deep.equal(['amount_mismatch']);
      const by = { actor: 'operator:test', requestId: null };
      const settled = await settleCase(charge.needs)(charge.caseId, { verdict: 'nothing', amount: ZERO }, 'x', by);
      expect(settled).to.include({ status: 'closed', moneyOutcome: 'refunded_to_merchant' });
      await takeOwedReportsOf(charge.needs)({ paymentId: charge.paymentId });
      expect(await stateOf(charge.paymentId)).to.include({ status: 'open' });
    });
    it('open no case for a dismissed report', async () => {
      const { take, paymentId, needs } = await twoReports([]);
      const lost = { ...AGREED, review: false };
      await take(lost);
      await take(lost);
      const caseId = medCaseIdOf(core.account, 'test', paymentId, 'bank-2');
      const by = { actor: 'operator:test', requestId: null };
      expect(await dismissCaseReport(needs)(caseId, 'x', by)).to.equal('dismissed');
      expect(await take(lost)).to.deep.include({ status: 'absent', isDismissed: true });
      expect(await dismissCaseReport(needs)(caseId, 'x', by)).to.include({ code: 'case_not_open' });
    });
    it('hold nothing for a report that the bank abandoned, even if the payment could accept it', async () => {
      const charge = await paid();
      await core.commands.execute(MED_CASE, charge.stream, giveUpReport(SETTLED_AT), why(core.account.accountId));
      expect(await charge.report()).to.deep.equal({ status: 'absent', isDismissed: true });
      const { state } = await core.commands.load(PAYMENT, PAYMENT.stream(charge.paymentId));
      expect(state.transaction.status === 'settled' && state.transaction.dispute).to.equal(null);
    });
    it('complete a settlement by its job, once, if the process crashed before its end', async () => {
      const charge = await paid();
      await charge.report({ amount: toMinor(5) });
      const how = { verdict: 'lost', amount: toMinor(7), reason: 'x', by: 'operator:test', announced: true } as const;
      const stream = PAYMENT.stream(charge.paymentId);
      const decide = settleDispute({ ...how, caseId: charge.caseId }, SETTLED_AT);
      const { revision } = (await core.commands.execute(PAYMENT, stream, decide, why(core.account.accountId))) as {
        revision: number;
      };
      for (let n = 0; n < 2; n++) await followSettlingOf(core)({ paymentId: charge.paymentId, revision });
      expect(await charge.medCase()).to.include({ status: 'rejected', moneyOutcome: 'lost' });
      const { state } = await core.commands.load(PAYMENT, stream);
      const { transaction } = state;
      expect(transaction.status === 'settled' && transaction.dispute).to.include({ moneyOutcome: 'lost', amount: 7 });
    });
  });
  it('throw UnknownAtProvider for a report that arrives before its payment, and open the case after the payment', async () => {
    const { settle, report, medCase } = await issued();
    const failed = await report().catch((error: unknown) => error);
    expect(failed).to.be.instanceOf(UnknownAtProvider);
    expect(await medCase()).to.deep.equal({ status: 'absent' });
    await settle();
    expect(await report()).to.include({ status: 'open', reports: 1 });
  });
  it('record whether the reported amount equals the charge’s', async () => {
    for (const [amount, amountMismatch] of [
      [null, false],
      [toMinor(12_345), false],
      [toMinor(12_344), true],
    ] as const) {
      const { terms } = await (await paid()).report({ amount });
      expect(terms).to.deep.include({ amount: amount ?? toMinor(12_345), amountMismatch });
    }
  });
  it('use the provider’s deadline, none if it reports “unknown”, and three days if it reports nothing', () => {
    const told = parseTimestamp('2026-11-22T10:00:00.000Z');
    expect(deadlineOf({ ...REPORTED, responseDeadline: told })).to.equal(told);
    expect(deadlineOf({ ...REPORTED, responseDeadline: 'unknown' })).to.equal(null);
    expect(deadlineOf(REPORTED)).to.equal('2026-11-24T15:59:00.000Z');
  });
  it('announce outcomes by webhook according to the settings of the mode (Q5)', () => {
    for (const live of [true, false])
      for (const test of [true, false]) {
        const { settings, sandbox } = core.account;
        const account = {
          ...core.account,
          settings: { ...settings, disputeNotifications: live },
          sandbox: { ...sandbox, disputeNotifications: test },
        };
        expect([announcesOutcomes(account, 'live'), announcesOutcomes(account, 'test')]).to.deep.equal([live, test]);
      }
  });

  it('lose the files of expired grants without a confirmation, but never confirmed files', async () => {
    const { report, caseId, stream } = await paid();
    await report();
    const [left, kept] = [newId<EvidenceId>(), newId<EvidenceId>()];
    const file = { fileName: 'a.png', fileSize: 1, mimeType: 'image/png' } as const;
    const { accountId } = core.account;
    const times = { at: SETTLED_AT, expiresAt: at('17:00:00'), endsAt: at('17:00:00') };
    const grants = [left, kept].map((evidenceId) => ({
      ...{ accountId, mode: 'test' as const, evidenceId, caseId, verdict: null, isRemoved: false },
      ...file,
      ...times,
    }));
    const evidenceId = kept;
    const shown = { evidenceId, uploadedBy: 'merchant' as const, sha256: 'ab'.repeat(32), grantedAt: SETTLED_AT };
    const confirm = confirmEvidence({ ...file, ...shown, at: SETTLED_AT });
    await core.commands.execute(MED_CASE, stream, confirm, why(accountId));
    const done: string[] = [];
    await removeUnconfirmed({
      commands: core.commands,
      clock: { now: () => toMillis(at('17:00:45')) },
      evidence: { remove: async (of: { evidenceId: string }) => void done.push(`remove ${of.evidenceId}`) },
      grants: {
        ended: async (before: Timestamp) => (before === at('17:00:05') ? grants : []),
        markRemoved: async (id: string) => void done.push(`mark ${id}`),
        forget: async (id: string) => void done.push(`forget ${id}`),
        forgetEnded: async (before: Timestamp) => void done.push(`forget those before ${before}`),
      },
    } as unknown as Parameters<typeof removeUnconfirmed>[0]);
    expect(done.toSorted()).to.deep.equal(
      [
        `remove ${left}`,
        `mark ${left}`,
        `forget ${kept}`,
        `forget those before ${addMillis(at('17:00:45'), -DAY_MS)}`,
      ].toSorted(),
    );
  });

  it('lose these files although a page of others can’t be removed, which are tried again after the last page', async () => {
    const kept = Array.from({ length: 250 }, (_, n) => ({
      evidenceId: String(n).padStart(3, '0'),
      caseId: newId(),
      endsAt: '',
    }));
    const tried: number[] = [];
    const sweep = { after: null };
    const needs = {
      commands: core.commands,
      clock: { now: () => toMillis(at('17:00:45')) },
      evidence: {
        remove: async ({ evidenceId }: { evidenceId: string }) => {
          tried.push(Number(evidenceId));
          if (Number(evidenceId) < 100) throw new Error('not removable');
        },
      },
      grants: {
        ended: async (_: Timestamp, limit: number, after: { evidenceId: string } | null) =>
          kept.filter(({ evidenceId }) => evidenceId > (after?.evidenceId ?? '')).slice(0, limit),
        markRemoved: async (id: string) =>
          void kept.splice(
            kept.findIndex(({ evidenceId }) => evidenceId === id),
            1,
          ),
        forgetEnded: async () => undefined,
      },
    } as unknown as Parameters<typeof removeUnconfirmed>[0];
    const run = async () => {
      tried.length = 0;
      const failed = await removeUnconfirmed(needs, sweep).catch(({ errors }: AggregateError) => errors);
      return [tried.toSorted((a, b) => a - b).join(), failed?.length];
    };
    const ids = Array.from({ length: 250 }, (_, n) => n);
    expect(await run()).to.deep.equal([ids.slice(0, 100).join(), 100]);
    expect(await run()).to.deep.equal([ids.slice(100).join(), undefined]);
    expect(await run()).to.deep.equal([ids.slice(0, 100).join(), 100]);
  });
});
