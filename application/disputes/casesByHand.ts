// Operators open and rule dispute cases of connections that report no disputes. The merchant answers such a case like any other.

import { MED_CASE } from '../../domain/dispute/aggregate.ts';
import { NO_CASE, notRulable, openCase, ruleCase } from '../../domain/dispute/decisions.ts';
import { type CaseTerms, type MedCase, RESPONSE_MS } from '../../domain/dispute/medCase.ts';
import { announcesOutcomes } from '../../domain/dispute/settings.ts';
import type { MedCaseId, PaymentId } from '../../domain/kernel/ids.ts';
import type { Minor } from '../../domain/kernel/money.ts';
import { isRejection, type Rejection, reject } from '../../domain/kernel/rejection.ts';
import { addMillis } from '../../domain/kernel/time.ts';
import { PAYMENT } from '../../domain/payment/aggregate.ts';
import { openDispute } from '../../domain/payment/dispute.ts';
import { type ExistingPayment, exists } from '../../domain/payment/payment.ts';
import { latestDispute } from '../../domain/transaction/transaction.ts';
import { medCaseIdOf } from '../core/derivedIds.ts';
import { type Changer, metadataForChange } from '../core/eventMetadata.ts';
import type { UseCaseNeeds } from '../core/useCase.ts';
import { NO_PAYMENT } from '../payments/ownPayment.ts';
import type { PaymentProviders } from '../ports/paymentProvider.ts';
import { tellPaymentOf } from './tellPayment.ts';

interface Needs extends UseCaseNeeds {
  readonly providers: Pick<PaymentProviders, 'of'>;
}

const NOT_LIVE = reject(
  'mode_not_allowed',
  'Only live payments take cases by hand. Use the sandbox routes for test payments.',
);
const HAS_FEED = reject('invalid_request', 'The provider of this payment reports disputes itself.');

/**
 * Returns why cases of the payment can't be opened and ruled by hand, or null if they can. A disabled connection reports nothing, and the
 * command line knows no providers.
 */
const refusalOf = async ({ providers }: Needs, { charge: { terms } }: ExistingPayment): Promise<Rejection | null> => {
  if (terms.mode !== 'live') return NOT_LIVE;
  const feed = (await providers.of(terms))?.disputes ?? null;
  return feed === null ? null : HAS_FEED;
};

const loadPayment = async ({ commands }: Needs, id: PaymentId): Promise<ExistingPayment | Rejection> => {
  const { state } = await commands.load(PAYMENT, PAYMENT.stream(id));
  return exists(state) ? state : NO_PAYMENT;
};

/** Returns the id of a payment's n-th case, in place of the bank's. */
const nameOf = (paymentId: PaymentId, number: number): string => `operator-${paymentId}-${number}`;

interface OpenByHand {
  readonly amount: Minor;
  readonly reason: string;
}

/**
 * Opens a case for a payment and holds the money, as if the bank had reported it (Q1). Completes an opening that was interrupted. Rejects
 * with `not_found`, `mode_not_allowed`, `invalid_request` if the provider reports disputes, or `charge_not_disputable`.
 */
export const openCaseByHand =
  (needs: Needs) =>
  async (paymentId: PaymentId, { amount, reason }: OpenByHand, by: Changer): Promise<MedCase | Rejection> => {
    const { commands, accounts } = needs;
    const payment = await loadPayment(needs, paymentId);
    if (isRejection(payment)) return payment;
    const refusal = await refusalOf(needs, payment);
    if (refusal !== null) return refusal;
    const { accountId, mode } = payment.charge.terms;
    const account = await accounts.get(accountId);
    const before = latestDispute(payment.transaction);
    const count = before === null ? 0 : before.earlier.length + 1;
    const interrupted = count > 0 ? medCaseIdOf(account, mode, paymentId, nameOf(paymentId, count - 1)) : null;
    const isInterrupted =
      before?.caseId === interrupted &&
      (await commands.load(MED_CASE, MED_CASE.stream(before.caseId))).state.status === 'absent';
    const providerCaseId = nameOf(paymentId, isInterrupted ? count - 1 : count);
    const caseId = medCaseIdOf(account, mode, paymentId, providerCaseId);
    // The payment records steps of its latest case only, so it must know them all before another one opens.
    if (before !== null) await tellPaymentOf(needs)({ caseId: before.caseId });
    const at = await accounts.now(accountId, mode);
    const metadata = { ...metadataForChange(by, accountId, paymentId), mode };
    const allegation = { method: null, reason, payer: { name: null, document: null }, openedAt: at };
    const report = { caseId, type: 'med', amount, ...allegation } as const;
    const opened = await commands.execute(PAYMENT, PAYMENT.stream(paymentId), openDispute(report, at), metadata);
    if (isRejection(opened)) return opened;
    const dispute = exists(opened.state) ? latestDispute(opened.state.transaction) : null;
    if (dispute?.caseId !== caseId) throw new Error(`payment ${paymentId} has no dispute ${caseId}`);
    const { reportedAmount, amountMismatch, openedAt, reason: reported } = dispute;
    const about = { caseId, paymentId, accountId, mode, providerCaseId, type: 'med', reason: reported } as const;
    const money = {
      amount: reportedAmount,
      currency: payment.charge.terms.currency,
      amountMismatch,
      held: dispute.taken,
    };
    const terms: CaseTerms = { ...about, ...money, openedAt, responseDeadline: addMillis(openedAt, RESPONSE_MS) };
    const done = await commands.execute(MED_CASE, MED_CASE.stream(caseId), openCase(terms, at), metadata);
    if (isRejection(done)) return done;
    await tellPaymentOf({ commands })({ caseId });
    return done.state as MedCase;
  };

interface RuleByHand {
  readonly result: 'agreed' | 'disagreed';
  /** Applies to `agreed`: the amount that the payer got; null for the whole hold (Q11). */
  readonly returnedToPayer: Minor | null;
}

/** A ruling without an amount would count as nothing paid to the payer, whatever an operator settles later. */
const NOTHING_HELD = reject(
  'invalid_amount',
  '`returnedToPayer` is required until the mismatch is settled: the case holds nothing yet.',
  { param: 'returnedToPayer' },
);

/**
 * Rules a case as the bank decided it. Rejects with `not_found`, `mode_not_allowed`, `invalid_request` if the provider reports disputes,
 * `invalid_amount` above the charge's amount, or without an amount for a mismatch that is not settled, `case_not_open` or
 * `case_under_review`.
 */
export const ruleCaseByHand =
  (needs: Needs) =>
  async (id: MedCaseId, { result, returnedToPayer }: RuleByHand, by: Changer): Promise<MedCase | Rejection> => {
    const { commands, accounts } = needs;
    const stream = MED_CASE.stream(id);
    const { state } = await commands.load(MED_CASE, stream);
    if (state.status === 'absent') return NO_CASE;
    const { paymentId, accountId, mode } = state.terms;
    const payment = await loadPayment(needs, paymentId);
    if (isRejection(payment)) return payment;
    const refusal = await refusalOf(needs, payment);
    if (refusal !== null) return refusal;
    const { amount } = payment.charge.terms;
    if (returnedToPayer !== null && (result === 'disagreed' || returnedToPayer > amount))
      return reject(
        'invalid_amount',
        `\`returnedToPayer\` applies only to \`agreed\` and must not exceed the charge’s amount (${amount}).`,
        { param: 'returnedToPayer' },
      );
    const announced = announcesOutcomes(await accounts.get(accountId), mode);
    const at = await accounts.now(accountId, mode);
    const metadata = { ...metadataForChange(by, accountId, paymentId), mode };
    const ruling = { result, returned: true, returnedToPayer };
    const done = await commands.execute(
      MED_CASE,
      stream,
      (now) => {
        const closed = notRulable(now);
        if (closed !== null || now.status === 'absent') return closed ?? NO_CASE;
        if (result === 'agreed' && returnedToPayer === null && now.settling === 'awaited') return NOTHING_HELD;
        return ruleCase({ report: now.reports + 1, ruling, review: false, at }, announced, at)(now);
      },
      metadata,
    );
    if (isRejection(done)) return done;
    await tellPaymentOf({ commands })({ caseId: id });
    return done.state as MedCase;
  };
