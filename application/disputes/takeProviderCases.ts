// Processes the provider's reports about a payment's disputes. A notification only triggers it; the reports are read from the provider.

import { MED_CASE } from '../../domain/dispute/aggregate.ts';
import { openCase, recordNotTaken, ruleCase } from '../../domain/dispute/decisions.ts';
import { type CaseTerms, RESPONSE_MS } from '../../domain/dispute/medCase.ts';
import { announcesOutcomes } from '../../domain/dispute/settings.ts';
import type { MedCaseId, PaymentId } from '../../domain/kernel/ids.ts';
import { ZERO } from '../../domain/kernel/money.ts';
import { isRejection } from '../../domain/kernel/rejection.ts';
import { addMillis, type Timestamp } from '../../domain/kernel/time.ts';
import { PAYMENT } from '../../domain/payment/aggregate.ts';
import { type NotTaken, notTaken, openDispute } from '../../domain/payment/dispute.ts';
import { assertExists, type ExistingPayment, type PaymentState } from '../../domain/payment/payment.ts';
import { latestDispute } from '../../domain/transaction/transaction.ts';
import { medCaseIdOf } from '../core/derivedIds.ts';
import { metadataForProcess } from '../core/eventMetadata.ts';
import type { UseCaseNeeds } from '../core/useCase.ts';
import type { EventMetadata } from '../ports/loggedEvent.ts';
import type { OperatorAlerts } from '../ports/operatorAlerts.ts';
import type { PaymentProviders, ProviderCase } from '../ports/paymentProvider.ts';
import { UnknownAtProvider } from '../ports/paymentProvider.ts';
import { tellPaymentOf } from './tellPayment.ts';

export interface TakeCasesNeeds extends UseCaseNeeds {
  readonly providers: PaymentProviders;
  readonly alerts: Pick<OperatorAlerts, 'disputeReport'>;
}

export const deadlineOf = ({ responseDeadline, openedAt }: ProviderCase): Timestamp | null => {
  if (responseDeadline === 'unknown') return null;
  return responseDeadline ?? addMillis(openedAt, RESPONSE_MS);
};

/**
 * Processes all reports about a payment. Idempotent. A report that can't open a case now is recorded as owed; one that never can is
 * recorded for the operators (Q10). Throws UnknownAtProvider.
 */
export const takeProviderCases =
  (needs: TakeCasesNeeds) =>
  async (paymentId: PaymentId): Promise<void> => {
    const { commands, providers } = needs;
    const { charge, transaction } = assertExists((await commands.loadRecent(PAYMENT, PAYMENT.stream(paymentId))).state);
    const { terms } = charge;
    const provider = await providers.of(terms);
    if (provider !== null && provider.disputes === null) return;
    const cases = await provider?.disputes?.casesOf(terms, terms.txid);
    if (cases?.kind !== 'known') throw new UnknownAtProvider(`disputes of ${paymentId}`);
    // Another case holds what the steps of the latest one leave.
    const latest = latestDispute(transaction);
    if (latest !== null) await tellPaymentOf(needs)({ caseId: latest.caseId });
    for (const reported of cases.value) await takeCase(needs, terms, reported);
  };

type Terms = ExistingPayment['charge']['terms'];

/** One report, with its case id, metadata and time. */
interface Intake {
  readonly terms: Terms;
  readonly reported: ProviderCase;
  readonly caseId: MedCaseId;
  readonly metadata: EventMetadata;
  readonly at: Timestamp;
}

const takeCase = async (needs: TakeCasesNeeds, terms: Terms, reported: ProviderCase): Promise<void> => {
  const { commands, accounts } = needs;
  const { paymentId, accountId, mode } = terms;
  const { providerCaseId } = reported;
  const caseId = medCaseIdOf(await accounts.get(accountId), mode, paymentId, providerCaseId);
  const at = await accounts.now(accountId, mode);
  const metadata = metadataForProcess('providerCases', terms, paymentId, providerCaseId);
  const intake: Intake = { terms, reported, caseId, metadata, at };
  const disputed = await openedDispute(needs, intake);
  if (disputed === null) return;
  const opening = openCase(caseTermsOf(intake, disputed), at);
  const { appended } = await commands.record(MED_CASE, MED_CASE.stream(caseId), opening, metadata);
  if (appended > 0 && disputed.amountMismatch) alert(needs, intake, 'amount_mismatch');
  await takeRulings(needs, intake);
  await tellPaymentOf({ commands })({ caseId });
};

const alert = ({ alerts }: TakeCasesNeeds, { terms, caseId, reported }: Intake, because: string): void =>
  alerts.disputeReport(terms, {
    paymentId: terms.paymentId,
    caseId,
    providerCaseId: reported.providerCaseId,
    because,
  });

/** Returns the payment's dispute, opened now or earlier, or null if it can't be opened or the report was dismissed. */
const openedDispute = async (needs: TakeCasesNeeds, intake: Intake): Promise<Disputed | null> => {
  const { commands } = needs;
  const { terms, reported, caseId, metadata, at } = intake;
  const { type } = reported;
  const stream = PAYMENT.stream(terms.paymentId);
  const { state: medCase } = await commands.load(MED_CASE, MED_CASE.stream(caseId));
  if (medCase.status === 'absent' && medCase.isDismissed) return null;
  for (;;) {
    const opened = await commands.execute(PAYMENT, stream, openDispute({ ...reported, caseId }, at), metadata);
    if (!isRejection(opened)) return disputedOf(opened.state, caseId);
    const payment = assertExists((await commands.load(PAYMENT, stream)).state);
    const refusal = notTaken(payment, type);
    // The payment changed in the meantime.
    if (refusal === null) continue;
    if (refusal.because === 'not_paid' && !refusal.isFinal) {
      // A MED report that arrives before its payment is retried; a card's report is processed again with the payment.
      if (type === 'med') throw new UnknownAtProvider(`payment ${terms.paymentId}`);
      return null;
    }
    // Try again after recording it as owed, because the payment may have changed meanwhile.
    if (!(await recordRefusal(needs, intake, refusal)) || refusal.isFinal) return null;
  }
};

type Disputed = Pick<CaseTerms, 'held' | 'currency' | 'amount' | 'amountMismatch'>;

/** Returns null if the payment has no dispute. If the case is not the payment's latest, nothing is held for it. */
const disputedOf = (state: PaymentState, caseId: MedCaseId): Disputed | null => {
  const { transaction } = assertExists(state);
  const dispute = latestDispute(transaction);
  if (transaction.status !== 'settled' || dispute === null) return null;
  const { currency } = transaction.settlement;
  const { reportedAmount: amount, amountMismatch } = dispute;
  return { currency, amount, amountMismatch, held: dispute.caseId === caseId ? dispute.taken : ZERO };
};

const caseTermsOf = ({ terms, reported, caseId }: Intake, disputed: Disputed): CaseTerms => {
  const { paymentId, accountId, mode } = terms;
  const { providerCaseId, type, reason, openedAt } = reported;
  const responseDeadline = deadlineOf(reported);
  return { caseId, paymentId, accountId, mode, providerCaseId, type, reason, responseDeadline, openedAt, ...disputed };
};

/** Records that the report can't open a case. Returns false if that was already recorded. */
const recordRefusal = async (needs: TakeCasesNeeds, intake: Intake, refusal: NotTaken): Promise<boolean> => {
  const { terms, reported, caseId, metadata, at } = intake;
  const { paymentId, accountId, mode, currency } = terms;
  const { providerCaseId, amount } = reported;
  const report = { caseId, paymentId, accountId, mode, providerCaseId, amount: amount ?? terms.amount, currency };
  const decide = recordNotTaken({ ...report, ...refusal }, at);
  const { appended } = await needs.commands.record(MED_CASE, MED_CASE.stream(caseId), decide, metadata);
  if (appended > 0 && refusal.isFinal) alert(needs, intake, refusal.because);
  return appended > 0;
};

const takeRulings = async (needs: TakeCasesNeeds, intake: Intake): Promise<void> => {
  const { commands, accounts } = needs;
  const { terms, reported, caseId, metadata, at } = intake;
  const announced = announcesOutcomes(await accounts.get(terms.accountId), terms.mode);
  for (const ruling of reported.rulings) {
    const decide = ruleCase(ruling, announced, at);
    const ruled = await commands.execute(MED_CASE, MED_CASE.stream(caseId), decide, metadata);
    // Later rulings wait for the end of a review.
    if (isRejection(ruled)) break;
    const { state, appended } = ruled;
    if (appended > 0 && state.status !== 'absent' && state.contradiction?.report === ruling.report)
      alert(needs, intake, 'contradicting');
  }
};
