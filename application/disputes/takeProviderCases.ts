// Takes up what the provider reports of a payment's disputes. A notification only starts this: the reports are read from the provider.

import { MED_CASE } from '../../domain/dispute/aggregate.ts';
import { openCase, recordNotTaken, ruleCase } from '../../domain/dispute/decisions.ts';
import type { CaseTerms } from '../../domain/dispute/medCase.ts';
import { announcesOutcomes } from '../../domain/dispute/settings.ts';
import type { MedCaseId, PaymentId } from '../../domain/kernel/ids.ts';
import { ZERO } from '../../domain/kernel/money.ts';
import { isRejection } from '../../domain/kernel/rejection.ts';
import { addMillis, DAY_MS, type Timestamp } from '../../domain/kernel/time.ts';
import { PAYMENT } from '../../domain/payment/aggregate.ts';
import { type NotTaken, notTaken, openDispute } from '../../domain/payment/dispute.ts';
import { assertExists, type ExistingPayment, type PaymentState } from '../../domain/payment/payment.ts';
import type { Accounts } from '../core/accounts.ts';
import type { CommandHandler } from '../core/commandHandler.ts';
import { medCaseIdOf } from '../core/derivedIds.ts';
import { metadataForProcess } from '../core/eventMetadata.ts';
import type { EventMetadata } from '../ports/loggedEvent.ts';
import type { OperatorAlerts } from '../ports/operatorAlerts.ts';
import type { PaymentProviders, ProviderCase } from '../ports/paymentProvider.ts';
import { UnknownAtProvider } from '../ports/paymentProvider.ts';
import { tellPaymentOf } from './tellPayment.ts';

export interface TakeCasesNeeds {
  readonly commands: CommandHandler;
  readonly accounts: Accounts;
  readonly providers: PaymentProviders;
  readonly alerts: Pick<OperatorAlerts, 'disputeReport'>;
}

/** How long the merchant has to answer where the provider says nothing of it (Q2). */
const RESPONSE_MS = 3 * DAY_MS;

export const deadlineOf = ({ responseDeadline, openedAt }: ProviderCase): Timestamp | null => {
  if (responseDeadline === 'unknown') return null;
  return responseDeadline ?? addMillis(openedAt, RESPONSE_MS);
};

/**
 * Idempotent. A report that the payment can't take now is recorded as owed, one that it can never take for the operators (Q10). Throws
 * UnknownAtProvider.
 */
export const takeProviderCases =
  (needs: TakeCasesNeeds) =>
  async (paymentId: PaymentId): Promise<void> => {
    const { commands, providers } = needs;
    const { terms } = assertExists((await commands.loadRecent(PAYMENT, PAYMENT.stream(paymentId))).state).charge;
    const cases = await providers.of(terms.mode)?.casesOf(terms, terms.txid);
    if (cases?.kind !== 'known') throw new UnknownAtProvider(`disputes of ${paymentId}`);
    for (const reported of cases.value) await takeCase(needs, terms, reported);
  };

type Terms = ExistingPayment['charge']['terms'];

/** One report, and what is fixed about it. */
interface Taking {
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
  const taking: Taking = { terms, reported, caseId, metadata, at };
  const disputed = await openedDispute(needs, taking);
  if (disputed === null) return;
  const opening = openCase(caseTermsOf(taking, disputed), at);
  const { appended } = await commands.record(MED_CASE, MED_CASE.stream(caseId), opening, metadata);
  if (appended > 0 && disputed.amountMismatch) alert(needs, taking, 'amount_mismatch');
  await takeRulings(needs, taking);
  await tellPaymentOf({ commands })({ caseId });
};

const alert = ({ alerts }: TakeCasesNeeds, { terms, caseId, reported }: Taking, because: string): void =>
  alerts.disputeReport(terms, {
    paymentId: terms.paymentId,
    caseId,
    providerCaseId: reported.providerCaseId,
    because,
  });

/** The dispute in the payment, opened now or before; null: the payment does not take it, or the report was dismissed. */
const openedDispute = async (needs: TakeCasesNeeds, taking: Taking): Promise<Disputed | null> => {
  const { commands } = needs;
  const { terms, reported, caseId, metadata, at } = taking;
  const { type } = reported;
  const stream = PAYMENT.stream(terms.paymentId);
  const { state: medCase } = await commands.load(MED_CASE, MED_CASE.stream(caseId));
  if (medCase.status === 'absent' && medCase.isDismissed) return null;
  for (;;) {
    const opened = await commands.execute(PAYMENT, stream, openDispute({ ...reported, caseId }, at), metadata);
    if (!isRejection(opened)) return disputedOf(opened.state, caseId);
    const payment = assertExists((await commands.load(PAYMENT, stream)).state);
    const refusal = notTaken(payment, type);
    // Something changed in between.
    if (refusal === null) continue;
    if (refusal.because === 'not_paid' && !refusal.isFinal) {
      // A dispute that overtook its payment waits for it; that of a card is looked at again with the payment.
      if (type === 'med') throw new UnknownAtProvider(`payment ${terms.paymentId}`);
      return null;
    }
    // What was recorded as owed is tried once more: the payment may have changed meanwhile.
    if (!(await recordRefusal(needs, taking, refusal)) || refusal.isFinal) return null;
  }
};

type Disputed = Pick<CaseTerms, 'held' | 'currency' | 'amount' | 'amountMismatch'>;

/** null: of a case that is not the payment's latest, which ended and needs no opening. */
const disputedOf = (state: PaymentState, caseId: MedCaseId): Disputed | null => {
  const { transaction } = assertExists(state);
  const dispute = transaction.status === 'settled' ? transaction.dispute : null;
  if (transaction.status !== 'settled' || dispute === null) return null;
  const { currency } = transaction.settlement;
  const { amount: held, reportedAmount: amount, amountMismatch } = dispute;
  return { currency, amount, amountMismatch, held: dispute.caseId === caseId ? held : ZERO };
};

const caseTermsOf = ({ terms, reported, caseId }: Taking, disputed: Disputed): CaseTerms => {
  const { paymentId, accountId, mode } = terms;
  const { providerCaseId, type, reason, openedAt } = reported;
  const responseDeadline = deadlineOf(reported);
  return { caseId, paymentId, accountId, mode, providerCaseId, type, reason, responseDeadline, openedAt, ...disputed };
};

/** Returns whether it is news. */
const recordRefusal = async (needs: TakeCasesNeeds, taking: Taking, refusal: NotTaken): Promise<boolean> => {
  const { terms, reported, caseId, metadata, at } = taking;
  const { paymentId, accountId, mode, currency } = terms;
  const { providerCaseId, amount } = reported;
  const report = { caseId, paymentId, accountId, mode, providerCaseId, amount: amount ?? terms.amount, currency };
  const decide = recordNotTaken({ ...report, ...refusal }, at);
  const { appended } = await needs.commands.record(MED_CASE, MED_CASE.stream(caseId), decide, metadata);
  if (appended > 0 && refusal.isFinal) alert(needs, taking, refusal.because);
  return appended > 0;
};

const takeRulings = async (needs: TakeCasesNeeds, taking: Taking): Promise<void> => {
  const { commands, accounts } = needs;
  const { terms, reported, caseId, metadata, at } = taking;
  const announced = announcesOutcomes(await accounts.get(terms.accountId), terms.mode);
  for (const ruling of reported.rulings) {
    const decide = ruleCase(ruling, announced, at);
    const ruled = await commands.execute(MED_CASE, MED_CASE.stream(caseId), decide, metadata);
    // What follows a ruling under review waits for the end of the review.
    if (isRejection(ruled)) break;
    const { state, appended } = ruled;
    if (appended > 0 && state.status !== 'absent' && state.contradiction?.report === ruling.report)
      alert(needs, taking, 'contradicting');
  }
};
