// A lost dispute costs the merchant its amount once, whether the banks returned the money or somebody did in the bank’s own app (V10).
import { expect } from 'chai';
import fc from 'fast-check';
import { acceptCase, openCase, recordMoneyReturned, ruleCase } from '../../domain/dispute/decisions.ts';
import {
  type MedCase,
  type MedCaseEvent,
  type MedCaseState,
  medCase,
  sumOfReturns,
} from '../../domain/dispute/medCase.ts';
import { caseChange } from '../../domain/dispute/snapshot.ts';
import { type Decision, fold } from '../../domain/kernel/decider.ts';
import { toMinor } from '../../domain/kernel/money.ts';
import { isRejection } from '../../domain/kernel/rejection.ts';
import { openDispute, recordCaseStep } from '../../domain/payment/dispute.ts';
import { type PaymentEvent, type PaymentState, payment } from '../../domain/payment/payment.ts';
import { journalEntry } from '../../domain/payment/postings.ts';
import { completeRefund, reserveRefund } from '../../domain/payment/refund.ts';
import { type CaseReturns, recordReturnedOutside } from '../../domain/payment/returnedOutside.ts';
import { at, CASE_ID, created, disputeReport, incoming, issued, REFUND_ID, settled } from '../support/samples.ts';
import { caseTerms } from '../world/medCases.ts';

const AT = at('17:00:00');
const PAID = 12_345;
const NET = 12_212;
/** Refunded by Pix payout, so that the bank can return more than the case takes. */
const REFUNDED = 5_000;
const LOST = PAID - REFUNDED;

class Streams {
  readonly payment: PaymentEvent[] = [created(), issued(), settled()];
  readonly case: MedCaseEvent[] = [];
  /** The case as a process last read it, possibly outdated. */
  seen: CaseReturns | null = null;
  ordinary = 0;

  onPayment<R>(decide: Decision<PaymentState, PaymentEvent, R>): R {
    const decided = decide(fold(payment, this.payment));
    if (isRejection(decided)) throw new Error(decided.message);
    this.payment.push(...decided.events);
    return decided.reply;
  }
  onCase(decide: Decision<MedCaseState, MedCaseEvent, unknown>): void {
    const decided = decide(this.caseState());
    if (isRejection(decided)) throw new Error(decided.message);
    this.case.push(...decided.events);
  }
  caseState(): MedCase {
    return fold(medCase, this.case) as MedCase;
  }
  look(): void {
    this.seen = { caseId: CASE_ID, revision: this.case.length - 1, returned: sumOfReturns(this.caseState()) };
  }
  /** Applies the next events of the case to the payment. */
  tell(count: number): void {
    const { transaction } = fold(payment, this.payment);
    const known = transaction.status === 'settled' ? (transaction.dispute?.revision ?? -1) : -1;
    for (const [revision, event] of [...this.case.entries()].slice(known + 1, known + 1 + count)) {
      const after = fold(medCase, this.case.slice(0, revision + 1)) as MedCase;
      const change = caseChange(event);
      if (change !== null) this.onPayment(recordCaseStep({ revision, change, medCase: after, at: AT }));
    }
  }
  balances(): { readonly [account: string]: number } {
    const sums: { [account: string]: number } = {};
    for (const event of this.payment)
      for (const { account: of, amount } of journalEntry(event)?.postings ?? []) sums[of] = (sums[of] ?? 0) + amount;
    return sums;
  }
}

const opened = (): Streams => {
  const streams = new Streams();
  const wish = { refundId: REFUND_ID, amount: toMinor(REFUNDED), reason: null, strategy: 'cashout' as const };
  const payout = { passFeeToTenant: false, destinationKey: '52998224725', paysOut: true, allowedDestinations: null };
  streams.onPayment(reserveRefund({ ...wish, ...payout, fingerprintUnder: () => 'f', fingerprintVersion: 1 }, AT));
  streams.onPayment(completeRefund(REFUND_ID, null, AT));
  streams.onPayment(openDispute(disputeReport({ amount: toMinor(LOST) }), AT));
  streams.onCase(openCase(caseTerms({ amount: toMinor(LOST), held: toMinor(LOST) }), AT));
  streams.look();
  return streams;
};

type Move = (streams: Streams) => void;
const ordinary =
  (id: number, amount: number): Move =>
  (streams) => {
    if (streams.ordinary + sumOfReturns(streams.caseState()) + amount > PAID) return;
    const { providerPaymentId } = incoming();
    const about = { providerPaymentId, id: `app-${id}`, returnId: null, nature: 'ordinary' } as const;
    const made = { ...about, amount: toMinor(amount) };
    const record = () => streams.onPayment(recordReturnedOutside(made, streams.seen, AT));
    let reply = record();
    if (reply === 'changed') {
      streams.look();
      reply = record();
    }
    if (reply === 'recorded') streams.ordinary += amount;
  };
const returned =
  (id: number, amount: number): Move =>
  (streams) => {
    if (streams.ordinary + sumOfReturns(streams.caseState()) + amount > PAID) return;
    streams.onCase(recordMoneyReturned({ id: `med-${id}`, amount: toMinor(amount), at: AT }, true, AT));
  };
const ruled =
  (got: number | null): Move =>
  (streams) => {
    if (streams.caseState().reports > 1) return; // It is ruled once, perhaps after the end.
    const ruling = { result: 'agreed', returned: true, returnedToPayer: got === null ? null : toMinor(got) } as const;
    streams.onCase(ruleCase({ report: 2, ruling, review: false, at: AT }, true, AT));
  };
const accepted: Move = (streams) => {
  if (streams.caseState().status === 'open') streams.onCase(acceptCase(true, AT));
};

const amount = fc.oneof(fc.constantFrom(LOST, REFUNDED, 345), fc.integer({ min: 1, max: PAID }));
const move: fc.Arbitrary<Move> = fc.oneof(
  fc.tuple(fc.nat(3), amount).map(([id, of]) => ordinary(id, of)),
  fc.tuple(fc.nat(3), amount).map(([id, of]) => returned(id, of)),
  fc.option(fc.nat(LOST)).map(ruled),
  fc.constant(accepted),
  fc.nat(3).map(
    (count): Move =>
      (streams) =>
        streams.tell(count),
  ),
  fc.constant<Move>((streams) => streams.look()),
);

describe('returns after a lost dispute', () => {
  it('in any order cost the merchant the larger of the dispute and all returns that fit, and clearing matches what left', () => {
    let beyond = 0;
    let exceeding = 0;
    let counted = 0;
    fc.assert(
      fc.property(fc.array(move, { minLength: 4, maxLength: 20, size: 'max' }), (moves) => {
        const streams = opened();
        for (const next of moves) next(streams);
        accepted(streams);
        streams.tell(Number.POSITIVE_INFINITY);
        const { returnedToPayer } = streams.caseState();
        const byBanks = sumOfReturns(streams.caseState());
        const out = streams.ordinary + byBanks;
        const ofCase = Math.max(returnedToPayer ?? 0, Math.min(out, LOST));
        // Nothing is left to refund, so the platform pays what the banks return beyond the case.
        const more = Math.max(0, out - Math.max(byBanks, LOST));
        exceeding += byBanks > LOST ? 1 : 0;
        const { disputes = 0, merchant_available, merchant_retained, provider_clearing } = streams.balances();
        expect({ disputes, merchant_available, merchant_retained, provider_clearing }).to.deep.equal({
          disputes: LOST - ofCase,
          merchant_available: NET - PAID - more,
          merchant_retained: 0,
          provider_clearing: -PAID + REFUNDED + ofCase + more,
        });
        const sums = streams.payment.flatMap(({ type, data }) =>
          type === 'TransactionDisputeReturnCounted' ? [data.amount] : [],
        );
        counted += sums.filter((one) => one > 0).length;
        beyond += sums.filter((one) => one < 0).length;
      }),
      { numRuns: 1_000 },
    );
    expect([counted > 50, beyond > 50, exceeding > 50]).to.deep.equal([true, true, true]);
  });
});
