// Processes the returns of a received Pix as its provider lists them. Those that Quita requested are left to their jobs. All others are
// recorded: as a dispute if the banks made them after one, else as money that was returned outside Quita (rules V9, V10).

import { MED_CASE } from '../../domain/dispute/aggregate.ts';
import { openCase, recordMoneyReturned, recordNotTaken } from '../../domain/dispute/decisions.ts';
import { type CaseTerms, type MedCase, sumOfReturns } from '../../domain/dispute/medCase.ts';
import { announcesOutcomes } from '../../domain/dispute/settings.ts';
import type { MedCaseId, PaymentId } from '../../domain/kernel/ids.ts';
import { add, subtract, ZERO } from '../../domain/kernel/money.ts';
import { isRejection } from '../../domain/kernel/rejection.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import { PAYMENT } from '../../domain/payment/aggregate.ts';
import { leavesNoCase, type NotTaken, openReturnedDispute, waitsForRefund } from '../../domain/payment/dispute.ts';
import { recordReturn } from '../../domain/payment/lifecycle.ts';
import { type ExistingPayment, exists } from '../../domain/payment/payment.ts';
import { type CaseReturns, recordReturnedOutside } from '../../domain/payment/returnedOutside.ts';
import type { IncomingPaymentRecord } from '../../domain/transaction/incomingPayment.ts';
import { latestDispute } from '../../domain/transaction/transaction.ts';
import { medCaseIdOf, returnIdOf } from '../core/derivedIds.ts';
import { metadataForProcess } from '../core/eventMetadata.ts';
import type { UseCaseNeeds } from '../core/useCase.ts';
import type { EventMetadata } from '../ports/loggedEvent.ts';
import type { OperatorAlerts } from '../ports/operatorAlerts.ts';
import {
  type ProviderReturn,
  type ReceivedPayment,
  UnknownAtProvider,
  unlessUnknown,
} from '../ports/paymentProvider.ts';
import type { ConnectionPayment } from '../ports/readModels/connectionPayments.ts';
import { tellPaymentOf } from './tellPayment.ts';

/**
 * Takes the returns that the institution reports for a payment, which may not be settled yet. Idempotent. Throws UnknownAtProvider to be
 * called again later.
 */
export type TakeReturns = (payment: ConnectionPayment, received: ReceivedPayment) => Promise<void>;

export interface TakeReturnsNeeds extends UseCaseNeeds {
  readonly alerts: Pick<OperatorAlerts, 'disputeReport' | 'returnedOutside'>;
}

/**
 * Records all returns of a Pix that Quita did not request, and confirmations of returns that the provider had refused. Idempotent by the
 * return's id. No-op for a payment that never recorded the Pix. Throws UnknownAtProvider if a return must wait for a refund under way.
 */
export const takeReturns =
  (needs: TakeReturnsNeeds) =>
  async (
    { paymentId }: { readonly paymentId: PaymentId },
    { incoming: { providerPaymentId }, returns }: Pick<ReceivedPayment, 'incoming' | 'returns'>,
  ): Promise<void> => {
    let waiting: UnknownAtProvider | null = null;
    for (const made of returns) {
      if (made.status !== 'done') continue;
      const { state } = await needs.commands.load(PAYMENT, PAYMENT.stream(paymentId));
      const seen = state.transaction.incomingPayments.find((one) => one.providerPaymentId === providerPaymentId);
      if (!exists(state) || seen === undefined) return;
      const intake = await intakeOf(needs, state, seen, made);
      // A return that has to wait, such as for a refund in progress, must not delay the others, whose money is gone, too.
      waiting = (await takeReturn(needs, intake).catch(unlessUnknown)) ?? waiting;
    }
    if (waiting !== null) throw waiting;
  };

/** One return, with the payment to which it belongs. */
interface Intake {
  readonly payment: ExistingPayment;
  readonly seen: IncomingPaymentRecord;
  readonly made: ProviderReturn;
  readonly announced: boolean;
  readonly caseIdOf: (providerCaseId: string) => MedCaseId;
  readonly metadata: EventMetadata;
  readonly at: Timestamp;
}

const intakeOf = async (
  { accounts }: TakeReturnsNeeds,
  payment: ExistingPayment,
  seen: IncomingPaymentRecord,
  made: ProviderReturn,
): Promise<Intake> => {
  const { terms } = payment.charge;
  const { paymentId, accountId, mode } = terms;
  const account = await accounts.get(accountId);
  const at = await accounts.now(accountId, mode);
  const metadata = metadataForProcess('providerReturns', terms, paymentId, made.id);
  const caseIdOf = (providerCaseId: string) => medCaseIdOf(account, mode, paymentId, providerCaseId);
  return { payment, seen, made, announced: announcesOutcomes(account, mode), caseIdOf, metadata, at };
};

const takeReturn = (needs: TakeReturnsNeeds, intake: Intake): Promise<void> => {
  const { payment, seen, made } = intake;
  if (isRefund(payment, made.id)) return Promise.resolve();
  if (isOwnReturn(payment, seen, made.id)) return takeOwnReturn(needs, intake);
  // A payment that was never credited can't be disputed. The return only reduces the debt to its payer.
  return seen.outcome === 'settled' && made.nature.startsWith('med') && !isOutside(seen, made)
    ? takeMedReturn(needs, intake)
    : takeOutside(needs, intake);
};

const isRefund = ({ transaction }: ExistingPayment, id: string): boolean =>
  transaction.status === 'settled' && transaction.refunds.some(({ refundId }) => refundId === id);

/** Each refusal leads to a new id, and the provider may still confirm an earlier one. */
const isOwnReturn = (
  { charge }: ExistingPayment,
  { providerPaymentId, refusal, returnId }: IncomingPaymentRecord,
  id: string,
): boolean => {
  if (id === returnId) return true;
  const ids = Array.from({ length: (refusal?.number ?? 0) + 1 }, (_, refusals) =>
    returnIdOf(charge.terms.paymentId, providerPaymentId, refusals),
  );
  return returnId !== null && ids.includes(id);
};

/** Returns whether the return was recorded before an operator released the payment. */
const isOutside = ({ outside = [] }: IncomingPaymentRecord, { id }: ProviderReturn): boolean =>
  outside.some((one) => one.id === id);

/** A return in progress is left to its job. One that was refused has none, so its confirmation is recorded here. */
const takeOwnReturn = async ({ commands }: TakeReturnsNeeds, { payment, seen, made, metadata, at }: Intake) => {
  if (seen.outcome === 'rejected' && seen.returnId === made.id) return;
  const stream = PAYMENT.stream(payment.charge.terms.paymentId);
  await commands.record(PAYMENT, stream, recordReturn(seen.providerPaymentId, made.id, at), metadata);
};

const takeOutside = async ({ commands, alerts }: TakeReturnsNeeds, { payment, seen, made, metadata, at }: Intake) => {
  const { terms } = payment.charge;
  const { paymentId } = terms;
  const { providerPaymentId: endToEndId } = seen;
  const { id, returnId, nature, amount } = made;
  const outside = { providerPaymentId: endToEndId, id, returnId, nature, amount };
  const decide = recordReturnedOutside(outside, await latestCase(commands, payment), at);
  const { appended, reply } = await commands.record(PAYMENT, PAYMENT.stream(paymentId), decide, metadata);
  if (reply === 'changed') throw new UnknownAtProvider(`dispute case of payment ${paymentId}`);
  if (appended > 0) alerts.returnedOutside(terms, { paymentId, endToEndId, id, amount });
};

const latestCase = async (
  commands: TakeReturnsNeeds['commands'],
  { transaction }: ExistingPayment,
): Promise<CaseReturns | null> => {
  const dispute = latestDispute(transaction);
  if (dispute === null) return null;
  const { caseId } = dispute;
  const { state, revision } = await commands.load(MED_CASE, MED_CASE.stream(caseId));
  return { caseId, revision, returned: state.status === 'absent' ? ZERO : sumOfReturns(state) };
};

const takeMedReturn = async (needs: TakeReturnsNeeds, intake: Intake): Promise<void> => {
  const { payment, made, caseIdOf } = intake;
  const dispute = latestDispute(payment.transaction);
  const own = caseIdOf(made.id);
  const cases = dispute === null ? [] : [dispute, ...dispute.earlier].filter(({ caseId }) => caseId !== own);
  // A return that an earlier case has recorded must not end the latest one.
  for (const { caseId } of cases) if (await isKnownTo(needs, intake, caseId)) return;
  if (dispute === null || dispute.caseId === own || !(await isOfLatest(needs, intake, dispute.caseId)))
    await openReturned(needs, intake, own);
};

const loadCase = async ({ commands }: TakeReturnsNeeds, caseId: MedCaseId): Promise<MedCase> => {
  const { state } = await commands.load(MED_CASE, MED_CASE.stream(caseId));
  if (state.status === 'absent') throw new UnknownAtProvider(`dispute case ${caseId}`);
  return state;
};

/** Returns whether the case has recorded the return. Then tells the payment, in case that was interrupted. */
const isKnownTo = async (needs: TakeReturnsNeeds, { made }: Intake, caseId: MedCaseId): Promise<boolean> => {
  const { returns = [] } = await loadCase(needs, caseId);
  if (!returns.some(({ id }) => id === made.id)) return false;
  await tellPaymentOf(needs)({ caseId });
  return true;
};

/**
 * Returns whether the return belongs to the latest case: it ends the case, or is part of the case's amount. Throws UnknownAtProvider if it
 * must wait for a refund under way.
 */
const isOfLatest = async (
  needs: TakeReturnsNeeds,
  { payment, made, announced, caseIdOf, metadata, at }: Intake,
  caseId: MedCaseId,
): Promise<boolean> => {
  const { commands } = needs;
  // If a separate case was opened for this return before, only that case records it.
  const { state: own } = await commands.load(MED_CASE, MED_CASE.stream(caseIdOf(made.id)));
  if (own.status !== 'absent' || own.notTaken !== undefined) {
    await tellPaymentOf(needs)({ caseId }); // as below
    return false;
  }
  const state = await loadCase(needs, caseId);
  const sum = add(sumOfReturns(state), made.amount);
  if (waitsForRefund(payment, subtract(sum, state.held)))
    throw new UnknownAtProvider(`refund of payment ${state.terms.paymentId}`);
  const returned = { ...made, at: made.settledAt ?? made.requestedAt, leavesNoCase: leavesNoCase(payment, sum) };
  const decide = recordMoneyReturned(returned, announced, at);
  const { reply } = await commands.record(MED_CASE, MED_CASE.stream(caseId), decide, metadata);
  // Also before another case opens, because that one holds what the steps of this one leave.
  await tellPaymentOf(needs)({ caseId });
  return reply !== 'beyond';
};

/** Opens a case for the return and ends it as lost. If the payment can never take it, the return is listed for the operators (Q10). */
const openReturned = async (needs: TakeReturnsNeeds, intake: Intake, caseId: MedCaseId): Promise<void> => {
  const { commands } = needs;
  const { payment, made, announced, metadata, at } = intake;
  const stream = MED_CASE.stream(caseId);
  const before = (await commands.load(MED_CASE, stream)).state;
  if (before.status === 'absent' && before.isDismissed) return;
  const terms = caseTermsOf(intake, caseId);
  const allegation = { method: null, reason: null, payer: { name: null, document: null }, openedAt: terms.openedAt };
  const report = { caseId, type: terms.type, amount: terms.amount, ...allegation };
  const paymentStream = PAYMENT.stream(payment.charge.terms.paymentId);
  const { reply, state } = await commands.record(PAYMENT, paymentStream, openReturnedDispute(report, at), metadata);
  if (reply !== 'opened' && reply !== 'known') return refused(needs, intake, terms, reply);
  const dispute = latestDispute(state.transaction);
  // The hold is smaller than a return that exceeds the refundable remainder. A case that was opened before keeps its own hold.
  const held = dispute?.caseId === caseId ? dispute.taken : terms.held;
  await commands.record(MED_CASE, stream, openCase({ ...terms, held }, at), metadata);
  const returned = { ...made, at: terms.openedAt };
  const ended = await commands.execute(MED_CASE, stream, recordMoneyReturned(returned, announced, at), metadata);
  if (isRejection(ended)) throw new Error(`case ${caseId} was not opened`);
  await tellPaymentOf({ commands })({ caseId });
};

const caseTermsOf = ({ payment, made }: Intake, caseId: MedCaseId): CaseTerms => {
  const { paymentId, accountId, mode, currency } = payment.charge.terms;
  const { id: providerCaseId, amount, settledAt, requestedAt, reason } = made;
  const about = { caseId, paymentId, accountId, mode, providerCaseId, type: 'med', amount, currency, reason } as const;
  const openedAt = settledAt ?? requestedAt;
  return { ...about, responseDeadline: null, amountMismatch: false, held: amount, openedAt };
};

const refused = async (
  { commands, alerts }: TakeReturnsNeeds,
  { metadata, at }: Intake,
  terms: CaseTerms,
  refusal: NotTaken | 'waits',
): Promise<void> => {
  // Another process opened a case at the same moment, or a refund is under way.
  if (refusal === 'waits' || !refusal.isFinal) throw new UnknownAtProvider(`payment ${terms.paymentId} for its return`);
  const { caseId, paymentId, accountId, mode, providerCaseId, amount, currency } = terms;
  const report = { caseId, paymentId, accountId, mode, providerCaseId, amount, currency, ...refusal };
  const { appended } = await commands.record(MED_CASE, MED_CASE.stream(caseId), recordNotTaken(report, at), metadata);
  const { because } = refusal;
  if (appended > 0) alerts.disputeReport({ accountId, mode }, { paymentId, caseId, providerCaseId, because });
};
