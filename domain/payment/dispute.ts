// How disputes affect the money (rules M9, Q1–Q4). A dispute opens in the payment's stream, so that refunds and disputes share one
// refundable remainder. The case has its own stream, and the payment records each of its changes once, in order. So every race has one
// winner: refund against dispute in this stream; appeal, acceptance, ruling and withdrawal in the case's stream (ADR 0011).

import { ENDED, NOT_AWAITED } from '../dispute/decisions.ts';
import {
  type MedCase,
  type NEVER_BECAUSE,
  type NotTakenBecause,
  type OWED_BECAUSE,
  type SettlingVerdict,
  sumOfReturns,
} from '../dispute/medCase.ts';
import { type CaseChange, type CaseSnapshot, snapshotOf } from '../dispute/snapshot.ts';
import type { Decision } from '../kernel/decider.ts';
import type { MedCaseId } from '../kernel/ids.ts';
import { add, least, type Minor, most, negate, subtract, ZERO } from '../kernel/money.ts';
import { reject } from '../kernel/rejection.ts';
import type { Timestamp } from '../kernel/time.ts';
import { type Allegation, type DisputeKind, isDisputed, lostBefore, moneyOfCase } from '../transaction/disputes.ts';
import { isAllBack, leftAtBank, leftOfPaid, refundableRest, reservedAmount } from '../transaction/refunds.ts';
import { latestDispute, type SettledTransaction } from '../transaction/transaction.ts';
import { assertExists, type ExistingPayment, type PaymentEvent, type PaymentState } from './payment.ts';

/** The provider's report that opens a dispute. */
export interface DisputeReport extends Allegation {
  readonly caseId: MedCaseId;
  readonly type: MedCase['terms']['type'];
  /** null for the payment's full amount. */
  readonly amount: Minor | null;
}

const DISPUTE_KIND_OF: { readonly [T in DisputeReport['type']]: DisputeKind } = {
  med: 'DISPUTE',
  dispute: 'DISPUTE',
  fraud: 'DISPUTE',
  chargeback: 'CHARGEBACK',
};

/** Why a payment refuses the report (Q10). `isFinal`: it will never accept it. */
export interface NotTaken {
  readonly because: NotTakenBecause;
  readonly isFinal: boolean;
}
const never = (because: (typeof NEVER_BECAUSE)[number]): NotTaken => ({ because, isFinal: true });
const notNow = (because: (typeof OWED_BECAUSE)[number]): NotTaken => ({ because, isFinal: false });

const MESSAGE_OF: { readonly [B in NotTakenBecause]: string } = {
  not_paid: 'Only a paid charge can be disputed.',
  held_for_review: 'The payment is held for review and can be disputed only after it is paid.',
  being_returned: 'The payment is being returned to the payer.',
  case_open: 'This charge has a dispute case that is still open.',
  mismatch_not_settled: 'This charge has a dispute case that awaits review.',
  other_method: 'Payments by this method don’t support this kind of dispute.',
  returned: 'The payment was returned to the payer.',
  exceeds_rest: 'The amount exceeds the remaining refundable amount of the charge.',
  refunded: 'This charge is fully refunded.',
  lost_before: 'This charge was lost in an earlier dispute.',
};

/** Returns why the payment refuses the dispute now, or null if it accepts it. */
export const notTaken = ({ charge, transaction }: ExistingPayment, type: DisputeReport['type']): NotTaken | null => {
  switch (transaction.status) {
    case 'settled':
      return notTakenSettled(transaction, type);
    case 'held':
      return notNow('held_for_review');
    case 'returning':
      return notNow('being_returned');
    case 'returned':
      return never('returned');
    case 'refused':
      return never('not_paid');
    case 'none':
    case 'processing':
      return charge.status === 'cancelled' || charge.status === 'failed' ? never('not_paid') : notNow('not_paid');
    default:
      return transaction satisfies never;
  }
};

const notTakenSettled = (transaction: SettledTransaction, type: DisputeReport['type']): NotTaken | null => {
  const { settlement, dispute } = transaction;
  if (settlement.method !== (type === 'med' ? 'PIX' : 'CREDIT_CARD')) return never('other_method');
  if (dispute?.settling === 'awaited') return notNow('mismatch_not_settled');
  if (dispute?.moneyOutcome === null) return notNow('case_open');
  if (isDisputed(dispute)) return never('lost_before');
  if (leftOfPaid(transaction) === 0) return never('returned');
  return isAllBack(transaction) ? never('refunded') : null;
};

/**
 * Opens a dispute and holds the refundable remainder, if the reported amount equals the remainder or the payment's amount (Q1). Replies
 * `known` if it is already open. Rejects with `charge_not_disputable` if the payment refuses it.
 */
export const openDispute =
  (report: DisputeReport, at: Timestamp): Decision<PaymentState, PaymentEvent, 'opened' | 'known'> =>
  (state) => {
    const existing = assertExists(state);
    const { transaction } = existing;
    const { caseId, type, method, reason, payer, openedAt } = report;
    if (moneyOfCase(latestDispute(transaction), caseId) !== null) return { events: [], reply: 'known' };
    const refusal = notTaken(existing, type);
    if (transaction.status !== 'settled' || refusal !== null)
      return reject('charge_not_disputable', MESSAGE_OF[refusal?.because ?? 'not_paid']);
    const { settlement } = transaction;
    const paid = settlement.incoming.amount;
    const rest = refundableRest(transaction);
    const reportedAmount = report.amount ?? paid;
    const amountMismatch = reportedAmount !== paid && reportedAmount !== rest;
    const { currency } = settlement;
    const allegation = { method, reason, payer, openedAt };
    const amount = amountMismatch ? ZERO : rest;
    const data = {
      caseId,
      kind: DISPUTE_KIND_OF[type],
      amount,
      currency,
      amountMismatch,
      reportedAmount,
      ...allegation,
      at,
    };
    return { events: [{ type: 'TransactionDisputeOpened', data }], reply: 'opened' };
  };

/** Why a payment can't lose anything for a return of this amount. `waits`: a refund is under way, whose failure may leave the amount. */
const notReturnable = (transaction: SettledTransaction, amount: Minor): NotTaken | 'waits' | null => {
  const { settlement, refunds, dispute } = transaction;
  if (settlement.method !== 'PIX') return never('other_method');
  if (dispute?.settling === 'awaited') return notNow('mismatch_not_settled');
  if (dispute !== null && dispute.moneyOutcome === null) return notNow('case_open');
  const rest = refundableRest(transaction);
  if (amount <= rest) return null;
  if (reservedAmount(refunds) > 0) return 'waits';
  if (rest > 0) return null;
  // If a Pix-out refunded it, the bank still had the Pix itself, also after other returns, which are part of the latest case.
  const lost = isDisputed(dispute) ? most(dispute.amount, dispute.returnedToPayer) : ZERO;
  if (add(amount, add(lostBefore(dispute), lost)) <= leftAtBank(transaction)) return null;
  return never(isDisputed(dispute) ? 'lost_before' : 'refunded');
};

/** Returns whether a return that exceeds its case by this amount must wait, because a refund in progress may fail and free the amount. */
export const waitsForRefund = ({ transaction }: ExistingPayment, excess: Minor): boolean =>
  transaction.status === 'settled' && excess > refundableRest(transaction) && reservedAmount(transaction.refunds) > 0;

/**
 * Returns whether a return belongs to the latest case, although that is fully returned, because the payment has nothing left for another
 * one. `returned`: the returns of that case including this one. A sum that the bank can't have returned is left to the operators (Q10).
 */
export const leavesNoCase = ({ transaction }: ExistingPayment, returned: Minor): boolean => {
  if (transaction.status !== 'settled' || refundableRest(transaction) > 0) return false;
  return add(returned, lostBefore(transaction.dispute)) <= leftAtBank(transaction);
};

type ReturnedReply = 'opened' | 'known' | 'waits' | NotTaken;

/**
 * Opens a dispute for a return that the banks made without announcing one, and holds its amount up to the refundable remainder (V10); the
 * platform bears anything more (Q11). Replies `known` if it is already open, `waits` until a refund under way has ended, or why the payment
 * can't take it.
 */
export const openReturnedDispute =
  (
    report: DisputeReport & { readonly amount: Minor },
    at: Timestamp,
  ): Decision<PaymentState, PaymentEvent, ReturnedReply> =>
  (state) => {
    const { transaction } = assertExists(state);
    if (transaction.status !== 'settled') return { events: [], reply: never('not_paid') };
    const { dispute, settlement } = transaction;
    const { caseId, amount, type, method, reason, payer, openedAt } = report;
    if (moneyOfCase(dispute, caseId) !== null) return { events: [], reply: 'known' };
    const refusal = notReturnable(transaction, amount);
    if (refusal !== null) return { events: [], reply: refusal };
    const allegation = { method, reason, payer, openedAt };
    const about = { caseId, kind: DISPUTE_KIND_OF[type], currency: settlement.currency, ...allegation };
    const held = least(amount, refundableRest(transaction));
    const data = { ...about, amount: held, amountMismatch: false, reportedAmount: amount, at };
    return { events: [{ type: 'TransactionDisputeOpened', data }], reply: 'opened' };
  };

/** An operator's settlement of a mismatch, with the reason. */
interface Settling extends SettlingVerdict {
  readonly caseId: MedCaseId;
  readonly reason: string;
  readonly by: string;
  /** Whether webhooks report the end of the case. */
  readonly announced: boolean;
}

/** Settles a mismatch (Q1). Rejects with `case_not_open` if none awaits it, or `invalid_amount` above the refundable remainder. */
export const settleDispute =
  (settling: Settling, at: Timestamp): Decision<PaymentState, PaymentEvent, 'settled'> =>
  (state) => {
    const { transaction } = assertExists(state);
    const dispute = latestDispute(transaction);
    if (transaction.status !== 'settled' || dispute?.caseId !== settling.caseId || dispute.settling !== 'awaited')
      return NOT_AWAITED;
    // The case may have ended in the meantime.
    if (settling.verdict === 'held' && dispute.ending !== null) return ENDED;
    const { currency } = transaction.settlement;
    const rest = refundableRest(transaction);
    if (settling.amount > rest)
      return reject(
        'invalid_amount',
        `${settling.verdict} exceeds the remaining refundable amount of the charge (${rest}).`,
        {
          param: settling.verdict,
        },
      );
    return { events: [{ type: 'TransactionDisputeSettled', data: { ...settling, currency, at } }], reply: 'settled' };
  };

/** One event of the case, with the state of the case after it. */
interface CaseStep {
  readonly revision: number;
  readonly change: CaseChange;
  readonly medCase: MedCase;
  /** When the case recorded it. */
  readonly at: Timestamp;
}

/**
 * Records a step of the case. No-op if it is recorded. The end of a case releases the hold. An ended case may still record returns while
 * the next one opens, so steps of earlier cases are recorded, too.
 */
export const recordCaseStep =
  ({ revision, change, medCase, at }: CaseStep): Decision<PaymentState, PaymentEvent, 'recorded' | 'nothing'> =>
  (state) => {
    const { transaction } = assertExists(state);
    const dispute = moneyOfCase(latestDispute(transaction), medCase.terms.caseId);
    if (transaction.status !== 'settled' || dispute === null || revision <= dispute.revision)
      return { events: [], reply: 'nothing' };
    const { ending, ruledAt, announced, moneyOutcome } = medCase;
    const snapshot: CaseSnapshot = snapshotOf(medCase);
    const updated: PaymentEvent = {
      type: 'TransactionDisputeUpdated',
      data: { revision, change, medCase: snapshot, ending, ruledAt, announced, at },
    };
    const events: PaymentEvent[] = [updated];
    const { caseId, currency, amount: reportedAmount } = medCase.terms;
    if (moneyOutcome !== null && dispute.moneyOutcome === null) {
      // An amount that an operator settled as lost left the balance at that time.
      const amount = dispute.settling === 'lost' ? ZERO : dispute.amount;
      const data = { caseId, moneyOutcome, amount, currency, reportedAmount, announced, at };
      events.push({ type: 'TransactionDisputeResolved', data });
    }
    // If the case is lost, the merchant pays returns by the banks beyond it: first what was returned outside Quita and counted for it, then
    // up to the refundable remainder. So the payer can't get it twice (V10). The platform bears the rest (Q11).
    const returned = sumOfReturns(medCase);
    const isLost = moneyOutcome !== null && moneyOutcome !== 'refunded_to_merchant';
    const counted = most(subtract(dispute.taken, dispute.amount), ZERO);
    const payable = isLost ? add(counted, refundableRest(transaction)) : ZERO;
    const beyond = least(most(subtract(returned, dispute.amount), ZERO), payable);
    if (beyond > 0) {
      const data = { caseId, amount: negate(beyond), posted: ZERO, currency, at };
      events.push({ type: 'TransactionDisputeReturnCounted', data });
    }
    // A ruling's amount includes the banks' returns and those outside Quita, which were posted when they were made.
    const ruled = subtract(medCase.returnedToPayer ?? ZERO, dispute.outside ?? ZERO);
    const amount = subtract(most(ruled, returned), dispute.returnedToPayer);
    if (amount > 0) events.push({ type: 'TransactionDisputeReturned', data: { caseId, amount, currency, at } });
    return { events, reply: 'recorded' };
  };
