// A return outside Quita that counts as that of a lost dispute gives the merchant its money back. It is no second payment (M12, V10).
import { expect } from 'chai';
import { openCase, ruleCase } from '../../../domain/dispute/decisions.ts';
import { type MedCase, type MedCaseEvent, medCase, sumOfReturns } from '../../../domain/dispute/medCase.ts';
import { caseChange } from '../../../domain/dispute/snapshot.ts';
import { type Decided, type Decision, fold } from '../../../domain/kernel/decider.ts';
import { toMinor } from '../../../domain/kernel/money.ts';
import { isRejection, type Rejection } from '../../../domain/kernel/rejection.ts';
import { openDispute, recordCaseStep } from '../../../domain/payment/dispute.ts';
import { type PaymentEvent, type PaymentState, payment } from '../../../domain/payment/payment.ts';
import { journalEntry } from '../../../domain/payment/postings.ts';
import { recordReturnedOutside } from '../../../domain/payment/returnedOutside.ts';
import { type MovementAmounts, movementAmounts } from '../../../domain/presentation/statement.ts';
import { at, CASE_ID, created, disputeReport, incoming, issued, settled } from '../../support/samples.ts';
import { caseTerms } from '../../world/medCases.ts';

const AT = at('17:00:00');
const LOST = toMinor(12_345);

const eventsOf = <Event>(decided: Decided<Event, unknown> | Rejection): readonly Event[] => {
  if (isRejection(decided)) throw new Error(decided.message);
  return decided.events;
};

const movementsOf = (events: readonly PaymentEvent[]): readonly MovementAmounts[] =>
  events.flatMap((event) => {
    const sums: Record<string, number> = {};
    for (const { account, amount } of journalEntry(event)?.postings ?? [])
      sums[account] = (sums[account] ?? 0) + amount;
    const isOfMerchant = Object.keys(sums).some((account) => account.startsWith('merchant_'));
    return isOfMerchant ? [movementAmounts({ category: 'payment', amounts: sums as never })] : [];
  });

describe('the statement of a lost dispute whose money the merchant had returned itself', () => {
  it('lists one payment, and the return of what was lost', () => {
    const events: PaymentEvent[] = [created(), issued(), settled()];
    const onPayment = (decide: Decision<PaymentState, PaymentEvent, unknown>) =>
      events.push(...eventsOf(decide(fold(payment, events))));
    onPayment(openDispute(disputeReport({ amount: LOST }), AT));

    // The bank rules for the payer, who is said to have got everything.
    const steps: MedCaseEvent[] = [
      ...eventsOf(openCase(caseTerms({ amount: LOST, held: LOST }), AT)(fold(medCase, []))),
    ];
    const ruling = { result: 'agreed', returned: true, returnedToPayer: LOST } as const;
    const rule = ruleCase({ report: 2, ruling, review: false, at: AT }, true, AT);
    steps.push(...eventsOf(rule(fold(medCase, steps))));
    for (const [revision, step] of steps.entries()) {
      const change = revision === 0 ? null : caseChange(step);
      const after = fold(medCase, steps.slice(0, revision + 1)) as MedCase;
      if (change !== null) onPayment(recordCaseStep({ revision, change, medCase: after, at: AT }));
    }

    const { providerPaymentId } = incoming();
    const made = { providerPaymentId, id: 'app-1', returnId: null, nature: 'ordinary', amount: LOST } as const;
    const returned = sumOfReturns(fold(medCase, steps) as MedCase);
    onPayment(recordReturnedOutside(made, { caseId: CASE_ID, revision: steps.length - 1, returned }, AT));

    expect(movementsOf(events).map(({ kind, gross }) => [kind, gross])).to.deep.equal([
      ['payment', LOST],
      ['dispute_hold', 0],
      ['dispute_loss', -LOST],
      ['bank_return', -LOST],
      ['dispute_return', LOST],
    ]);
  });
});
