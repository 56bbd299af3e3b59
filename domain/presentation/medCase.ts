// The public view of a dispute case, its block in a charge's metadata, and its webhook messages (rules Q5, Q8).

import { MED_CASE } from '../dispute/aggregate.ts';
import type { CaseStatus, CaseType, MedCase, MoneyOutcome } from '../dispute/medCase.ts';
import { type CaseChange, type CaseSnapshot, snapshotOf } from '../dispute/snapshot.ts';
import { type PaymentId, PREFIX } from '../kernel/ids.ts';
import type { Json } from '../kernel/json.ts';
import type { Message } from '../kernel/publisher.ts';
import type { DisputeRecord, TransactionDisputeResolved, TransactionDisputeUpdated } from '../transaction/disputes.ts';
import { canonicalEvents, canonicalMessage } from './envelope.ts';

export interface MedCaseView {
  readonly id: string;
  readonly object: 'med_case';
  readonly type: CaseType;
  readonly status: CaseStatus;
  readonly amount: number;
  readonly currency: string;
  readonly charge_id: string;
  readonly reason: string | null;
  readonly response_deadline: string | null;
  readonly evidence_requested_at: string | null;
  readonly appeal_reason: string | null;
  readonly appealed_at: string | null;
  readonly evidence_count: number;
  readonly money_outcome: MoneyOutcome | null;
  readonly opened_at: string;
  readonly closed_at: string | null;
  readonly created_at: string;
  readonly updated_at: string;
}

const viewOf = (seen: CaseSnapshot, paymentId: PaymentId): MedCaseView => ({
  id: MED_CASE.idPrefix + seen.caseId,
  object: 'med_case',
  type: seen.type,
  status: seen.status,
  amount: seen.amount,
  currency: seen.currency,
  charge_id: PREFIX.charge + paymentId,
  reason: seen.reason,
  response_deadline: seen.responseDeadline,
  evidence_requested_at: seen.evidenceRequestedAt,
  appeal_reason: seen.appealReason,
  appealed_at: seen.appealedAt,
  evidence_count: seen.evidenceCount,
  money_outcome: seen.moneyOutcome,
  opened_at: seen.openedAt,
  closed_at: seen.closedAt,
  created_at: seen.createdAt,
  updated_at: seen.updatedAt,
});

export const medCaseView = (medCase: MedCase): MedCaseView => viewOf(snapshotOf(medCase), medCase.terms.paymentId);

/** Returns `metadata.med` for a dispute of the charge. `referenceId`: the provider's id of the payment. Unknown fields are omitted. */
export const medMetadata = (dispute: DisputeRecord, referenceId: string): { readonly [key: string]: Json } => {
  const { method, reason, payer, openedAt, ending, ruledAt, lastEventAt, amountMismatch } = dispute;
  return {
    referenceId,
    status: ending === null ? 'delivered' : ending === 'withdrawn' ? 'canceled' : 'closed',
    ...((ending === 'agreed' || ending === 'disagreed') && { result: ending }),
    ...(method !== null && { method }),
    ...(reason !== null && { reason }),
    ...(payer.name !== null && { payerName: payer.name }),
    ...(payer.document !== null && { payerDocument: payer.document }),
    openedAt,
    updatedAt: ruledAt ?? openedAt,
    ...(ruledAt !== null && { closedAt: ruledAt }),
    lastEventAt,
    amountMismatch,
  };
};

export const CASE_EVENTS = canonicalEvents({
  'med_case.created': 'A dispute case opened. Carries the full case.',
  'med_case.updated': 'A dispute case changed its status, or evidence was requested. Carries the full case.',
  'med.resolved': 'Final destination of the disputed money.',
});

/** Returns `med_case.created`, or `.updated` for each later change, unless notifications of outcomes are off. */
export const caseMessages = (
  { change, medCase, announced, at }: TransactionDisputeUpdated['data'],
  paymentId: PaymentId,
): readonly Message[] =>
  announced && isTold(change, medCase)
    ? [
        canonicalMessage(change === 'opened' ? 'med_case.created' : 'med_case.updated', at, () =>
          viewOf(medCase, paymentId),
        ),
      ]
    : [];

/** Returns whether a change is visible outside. Settling a mismatch as held and reports after the end are not. */
const isTold = (change: CaseChange, { moneyOutcome }: CaseSnapshot): boolean =>
  change !== 'reported' && (change !== 'settled' || moneyOutcome !== null);

/** Returns `med.resolved`, which reports where the disputed money went, unless notifications of outcomes are off. */
export const resolutionMessages = (
  { caseId, moneyOutcome, reportedAmount, currency, announced, at }: TransactionDisputeResolved['data'],
  paymentId: PaymentId,
): readonly Message[] =>
  announced
    ? [
        canonicalMessage('med.resolved', at, () => ({
          object: 'med_resolution',
          case_id: MED_CASE.idPrefix + caseId,
          charge_id: PREFIX.charge + paymentId,
          amount: reportedAmount,
          currency,
          money_outcome: moneyOutcome,
          resolved_at: at,
        })),
      ]
    : [];
