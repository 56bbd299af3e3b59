// Operators settle a mismatch: a case whose amount fits neither the charge nor its refundable remainder (Q1).

import Type from 'typebox';
import { MED_CASE } from '../../domain/dispute/aggregate.ts';
import { NO_CASE, notSettleable, recordSettled } from '../../domain/dispute/decisions.ts';
import type { MedCase, SettlingVerdict } from '../../domain/dispute/medCase.ts';
import { announcesOutcomes } from '../../domain/dispute/settings.ts';
import type { MedCaseId, PaymentId } from '../../domain/kernel/ids.ts';
import { isRejection, type Rejection } from '../../domain/kernel/rejection.ts';
import { PAYMENT } from '../../domain/payment/aggregate.ts';
import { settleDispute } from '../../domain/payment/dispute.ts';
import { idOf, jobKind, payloadOf } from '../core/capability.ts';
import type { CommandHandler } from '../core/commandHandler.ts';
import { type Changer, metadataForChange, metadataForProcess } from '../core/eventMetadata.ts';
import { enqueue, nothing, paymentOf, processManager, reacting } from '../core/reactions.ts';
import type { UseCaseNeeds } from '../core/useCase.ts';
import type { PayloadOf } from '../ports/jobs.ts';
import { takeOwedReports } from './owedReports.ts';
import { tellPaymentOf } from './tellPayment.ts';

/**
 * Settles a mismatch, first in the payment, because refunds reduce the same amount, then in the case. Rejects with `not_found`,
 * `case_not_open` or `invalid_amount`.
 */
export const settleCase =
  (needs: UseCaseNeeds) =>
  async (id: MedCaseId, verdict: SettlingVerdict, reason: string, by: Changer): Promise<MedCase | Rejection> => {
    const { commands, accounts } = needs;
    const { state } = await commands.load(MED_CASE, MED_CASE.stream(id));
    const refusal = notSettleable(state, verdict.verdict);
    if (refusal !== null) return refusal;
    if (state.status === 'absent') return NO_CASE;
    const { accountId, mode, paymentId } = state.terms;
    const announced = announcesOutcomes(await accounts.get(accountId), mode);
    const settling = { ...verdict, caseId: id, reason, by: by.actor, announced };
    const at = await accounts.now(accountId, mode);
    const metadata = { ...metadataForChange(by, accountId, paymentId), mode };
    const done = await commands.execute(PAYMENT, PAYMENT.stream(paymentId), settleDispute(settling, at), metadata);
    if (isRejection(done)) return done;
    await followSettlingOf(needs)({ paymentId, revision: done.revision });
    return (await commands.load(MED_CASE, MED_CASE.stream(id))).state as MedCase;
  };

export const followSettling = jobKind({
  name: 'followSettling',
  /** `revision` is the event's revision. */
  payload: payloadOf({ paymentId: idOf<PaymentId>(), revision: Type.Integer() }),
  subjectOf: ({ paymentId, revision }) => `${paymentId} ${revision}`,
});

/** Records the payment's settlement in the case, then the case's end in the payment. Idempotent. */
export const followSettlingOf =
  ({ commands }: { readonly commands: CommandHandler }) =>
  async ({ paymentId, revision }: PayloadOf<typeof followSettling>): Promise<void> => {
    const step = await commands.loadStep(PAYMENT, PAYMENT.stream(paymentId), revision);
    if (step?.event.type !== 'TransactionDisputeSettled') return;
    const { caseId, verdict, amount, reason, by, announced, at } = step.event.data;
    const { state } = await commands.load(MED_CASE, MED_CASE.stream(caseId));
    if (state.status === 'absent') return;
    const metadata = metadataForProcess('caseSettling', state.terms, paymentId, caseId);
    const settled = recordSettled({ verdict, amount, reason, by, announced, at });
    await commands.record(MED_CASE, MED_CASE.stream(caseId), settled, metadata);
    await tellPaymentOf({ commands })({ caseId });
  };

const take = (logged: { readonly subject: string }) => [enqueue(takeOwedReports, { paymentId: paymentOf(logged) })];
/** A case's events name their payment as correlation id. */
const takeWaiting = ({ correlationId }: { readonly correlationId: string }) => [
  enqueue(takeOwedReports, { paymentId: correlationId as PaymentId }),
];

/**
 * Records a payment's settlement in its case. Also processes owed reports when the payment can be disputed again, and reports that waited
 * for the end of a review.
 */
export const caseSettling = processManager({
  name: 'caseSettling',
  movesMoney: true,
  from: 'beginning',
  reactions: {
    payment: reacting(PAYMENT.groups, {
      reads: {
        TransactionDisputeSettled: (logged) => [
          enqueue(followSettling, { paymentId: paymentOf(logged), revision: logged.revision }),
        ],
        TransactionDisputeResolved: take,
        TransactionHeldReleased: take,
      },
      ignores: ['demand', 'methods', 'money', 'hold', 'rejection', 'returns', 'refund', 'case', 'given', 'erasure'],
    }),
    medCase: reacting(MED_CASE.groups, {
      reads: {
        MedCaseReviewRequested: nothing,
        MedCaseReviewApproved: takeWaiting,
        MedCaseReviewRefused: takeWaiting,
      },
      ignores: ['course', 'deadline', 'evidence', 'end', 'erasure', 'reports'],
    }),
  },
});
