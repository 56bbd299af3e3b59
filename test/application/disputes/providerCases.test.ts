// Disputes as a provider reports them, with reviews between its reports, deadlines that it tells or not, and files that were confirmed or
// not (Q1, Q2, Q5, Q6).
import { expect } from 'chai';
import { MED_CASE } from '../../../application/core/aggregates.ts';
import { medCaseIdOf } from '../../../application/core/derivedIds.ts';
import { announcesOutcomes } from '../../../application/disputes/announcements.ts';
import { answerCase } from '../../../application/disputes/answerCase.ts';
import { removeUnconfirmed } from '../../../application/disputes/evidenceSweep.ts';
import { deadlineOf, takeProviderCases } from '../../../application/disputes/takeProviderCases.ts';
import { Settler } from '../../../application/payments/settle.ts';
import { type ProviderCase, UnknownAtProvider } from '../../../application/ports/paymentProvider.ts';
import type { BankRuling } from '../../../domain/dispute/decisions.ts';
import { confirmEvidence, grantEvidence } from '../../../domain/dispute/evidence.ts';
import type { MedCase } from '../../../domain/dispute/medCase.ts';
import { streamName } from '../../../domain/kernel/event.ts';
import type { EvidenceId } from '../../../domain/kernel/ids.ts';
import { toMinor } from '../../../domain/kernel/money.ts';
import { parseTimestamp, toMillis } from '../../../domain/kernel/time.ts';
import { type Core, newId, openCore, why } from '../../support/core.ts';
import { ALLEGATION, at, incoming, SETTLED_AT } from '../../support/samples.ts';

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
  ruling: { result: 'agreed', returned: true },
  review: true,
  at: at('16:30:00'),
};
const WITHDRAWN: BankRuling = { report: 3, ruling: 'withdrawn', review: false, at: at('16:40:00') };

describe('disputes that a provider reports, on Postgres', () => {
  let core: Core;
  before(async () => {
    core = await openCore();
  });
  after(() => core.close());
  beforeEach(() => {
    core.clock.nowMs = toMillis(SETTLED_AT);
    core.provider.forget();
  });

  /** A charge with its pay code; what is reported of it, and its case then. */
  const issued = async () => {
    const txid = newId<string>();
    const paymentId = await core.openCharge({ txid });
    const needs = { commands: core.commands, accounts: core.accounts, providers: core.provider };
    const settle = () => new Settler(needs).settle(paymentId, incoming({ providerPaymentId: `E${txid}` }));
    const { accountId, idSeed } = core.account;
    const caseId = medCaseIdOf(idSeed, 'test', paymentId, REPORTED.providerCaseId);
    const stream = streamName.medCase(caseId);
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
    return { caseId, stream, txid, settle, report, medCase, review };
  };
  const paid = async () => {
    const charge = await issued();
    await charge.settle();
    return charge;
  };

  it('what is reported while an outcome is reviewed is taken up once the review is refused', async () => {
    const { report, review, medCase } = await paid();
    expect((await report({ rulings: [AGREED] })).review).to.include({ result: 'agreed' });
    expect(await report({ rulings: [AGREED, WITHDRAWN] })).to.include({ status: 'open', reports: 2 });
    await review(false);
    expect(await medCase()).to.include({ status: 'closed', ending: 'withdrawn', reports: 3, review: null });
  });
  it('and is nothing once the review is approved: the provider is not asked for it', async () => {
    const { report, review, medCase, txid } = await paid();
    await report({ rulings: [AGREED, WITHDRAWN] });
    core.provider.calls.length = 0;
    await review(true);
    expect(core.provider.calls).to.not.include(`casesOf ${txid}`);
    expect(await medCase()).to.include({ status: 'rejected', ending: 'agreed', reports: 2 });
    expect(await report({ rulings: [AGREED, WITHDRAWN] })).to.include({ status: 'rejected', reports: 2 });
  });
  it('one that overtook its payment is not taken up before that, and then is', async () => {
    const { settle, report, medCase } = await issued();
    const failed = await report().catch((error: unknown) => error);
    expect(failed).to.be.instanceOf(UnknownAtProvider);
    expect(await medCase()).to.deep.equal({ status: 'absent' });
    await settle();
    expect(await report()).to.include({ status: 'open', reports: 1 });
  });
  it('the case knows whether the reported amount is the charge’s', async () => {
    for (const [amount, amountMismatch] of [
      [null, false],
      [toMinor(12_345), false],
      [toMinor(12_344), true],
    ] as const) {
      const { terms } = await (await paid()).report({ amount });
      expect(terms).to.deep.include({ amount: amount ?? toMinor(12_345), amountMismatch });
    }
  });
  it('the deadline is the provider’s, unknown where it says so, and three days where it says nothing', () => {
    const told = parseTimestamp('2026-11-22T10:00:00.000Z');
    expect(deadlineOf({ ...REPORTED, responseDeadline: told })).to.equal(told);
    expect(deadlineOf({ ...REPORTED, responseDeadline: 'unknown' })).to.equal(null);
    expect(deadlineOf(REPORTED)).to.equal('2026-11-24T15:59:00.000Z');
  });
  it('webhooks tell of outcomes as the settings of the mode say (Q5)', () => {
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

  it('the sweep removes the file of a grant that was not confirmed, and never one that was', async () => {
    const { report, caseId, stream } = await paid();
    await report();
    const [left, kept] = [newId<EvidenceId>(), newId<EvidenceId>()];
    const file = { fileName: 'a.png', fileSize: 1, mimeType: 'image/png', uploadedBy: 'merchant' } as const;
    const { accountId } = core.account;
    for (const evidenceId of [left, kept]) {
      const grant = { ...file, evidenceId, expiresAt: at('17:00:00'), at: SETTLED_AT };
      await core.commands.execute(MED_CASE, stream, grantEvidence(grant), why(accountId));
    }
    const confirmed = { ...file, evidenceId: kept, sha256: 'ab'.repeat(32), grantedAt: SETTLED_AT, at: SETTLED_AT };
    await core.commands.execute(MED_CASE, stream, confirmEvidence(confirmed), why(accountId));
    const removed: unknown[] = [];
    const evidence = {
      uploadUrl: () => expect.fail('no upload'),
      read: () => expect.fail('no reading'),
      remove: async (of: unknown) => void removed.push(of),
      close: () => undefined,
    };
    const sweep = removeUnconfirmed({ commands: core.commands, evidence });
    for (const evidenceId of [kept, left]) await sweep({ caseId, evidenceId });
    expect(removed).to.deep.equal([{ accountId, mode: 'test', evidenceId: left }]);
  });
});
