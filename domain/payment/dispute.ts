// Disputes and the money (rules M9, Q1–Q4). A dispute opens here, in the same stream as refunds, so that both draw on one rest; its case
// lives in a stream of its own, and each of its changes is told here once, in order. So every race has one winner: refund against
// dispute in this stream, appeal, acceptance, ruling and withdrawal in the stream of the case (ADR 0011).

import type { MedCase } from '../dispute/medCase.ts';
import { type CaseChange, type CaseSnapshot, snapshotOf } from '../dispute/snapshot.ts';
import type { Decision } from '../kernel/decider.ts';
import type { MedCaseId } from '../kernel/ids.ts';
import { type Minor, ZERO } from '../kernel/money.ts';
import { type Rejection, reject } from '../kernel/rejection.ts';
import type { Timestamp } from '../kernel/time.ts';
import { type Allegation, type DisputeKind, isDisputed } from '../transaction/disputes.ts';
import { refundableRest, refundedAmount } from '../transaction/refunds.ts';
import { assertExists, type PaymentEvent, type PaymentState } from './payment.ts';

/** What a provider reports when a dispute opens. */
export interface DisputeReport extends Allegation {
  readonly caseId: MedCaseId;
  readonly type: MedCase['terms']['type'];
  /** null: the payment's. */
  readonly amount: Minor | null;
}

export const DISPUTE_KIND_OF: { readonly [T in DisputeReport['type']]: DisputeKind } = {
  med: 'DISPUTE',
  dispute: 'DISPUTE',
  fraud: 'DISPUTE',
  chargeback: 'CHARGEBACK',
};

const notDisputable = (message: string): Rejection => reject('charge_not_disputable', message);

/**
 * A dispute opens: what is left of the payment is held. Opened before: `known`. Everything else that it can't be is
 * `charge_not_disputable`: not settled by Pix (`med`) or card (the others), in a case or lost in one, fully refunded.
 */
export const openDispute =
  (report: DisputeReport, at: Timestamp): Decision<PaymentState, PaymentEvent, 'opened' | 'known'> =>
  (state) => {
    const { transaction } = assertExists(state);
    if (transaction.status !== 'settled') return notDisputable('Only a paid charge can be disputed.');
    const { settlement, refunds, dispute } = transaction;
    const { caseId, type, method, reason, payer, openedAt } = report;
    if (dispute !== null && (dispute.caseId === caseId || dispute.earlier.includes(caseId)))
      return { events: [], reply: 'known' };
    const disputedBy = type === 'med' ? 'PIX' : 'CREDIT_CARD';
    if (settlement.method !== disputedBy)
      return notDisputable(`A payment by ${settlement.method} can’t be disputed so.`);
    if (dispute !== null && (dispute.moneyOutcome === null || isDisputed(dispute)))
      return notDisputable('This charge is in a dispute case already, or was lost in one.');
    const paid = settlement.incoming.amount;
    if (refundedAmount(refunds) === paid) return notDisputable('This charge is refunded: nothing of it is left.');
    const amountMismatch = report.amount !== null && report.amount !== paid;
    const amount = amountMismatch ? ZERO : refundableRest(paid, refunds, dispute);
    const { currency } = settlement;
    const allegation = { method, reason, payer, openedAt };
    const kind = DISPUTE_KIND_OF[type];
    const data = { caseId, kind, amount, currency, amountMismatch, ...allegation, at };
    return { events: [{ type: 'TransactionDisputeOpened', data }], reply: 'opened' };
  };

/** One event of a case that the payment is told of, and the case as it is after it. */
export interface CaseStep {
  readonly revision: number;
  readonly change: CaseChange;
  readonly medCase: MedCase;
  /** When the case took it up. */
  readonly at: Timestamp;
}

/** Told before, or of a case that is not the payment's latest: nothing. The end of a case moves what was held, in the same append. */
export const recordCaseStep =
  ({ revision, change, medCase, at }: CaseStep): Decision<PaymentState, PaymentEvent, 'recorded' | 'nothing'> =>
  (state) => {
    const { transaction } = assertExists(state);
    const dispute = transaction.status === 'settled' ? transaction.dispute : null;
    if (dispute?.caseId !== medCase.terms.caseId || revision <= dispute.revision)
      return { events: [], reply: 'nothing' };
    const { ending, ruledAt, announced, moneyOutcome } = medCase;
    const snapshot: CaseSnapshot = snapshotOf(medCase);
    const updated: PaymentEvent = {
      type: 'TransactionDisputeUpdated',
      data: { revision, change, medCase: snapshot, ending, ruledAt, announced, at },
    };
    if (moneyOutcome === null || dispute.moneyOutcome !== null) return { events: [updated], reply: 'recorded' };
    const { caseId, currency, amount: reportedAmount } = medCase.terms;
    const resolved: PaymentEvent = {
      type: 'TransactionDisputeResolved',
      data: { caseId, moneyOutcome, amount: dispute.amount, currency, reportedAmount, announced, at },
    };
    return { events: [updated, resolved], reply: 'recorded' };
  };
