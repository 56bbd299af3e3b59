// Records operators' decisions on reports: settles mismatches (Q1) and dismisses reports (Q11).

import Type from 'typebox';
import { MED_CASE } from '../../domain/dispute/aggregate.ts';
import { dismissReport, NO_CASE, notSettleable, recordSettled } from '../../domain/dispute/decisions.ts';
import type { MedCase, SettlingVerdict } from '../../domain/dispute/medCase.ts';
import { announcesOutcomes } from '../../domain/dispute/settings.ts';
import type { MedCaseId, PaymentId } from '../../domain/kernel/ids.ts';
import { isRejection, type Rejection } from '../../domain/kernel/rejection.ts';
import { PAYMENT } from '../../domain/payment/aggregate.ts';
import { settleDispute } from '../../domain/payment/dispute.ts';
import { jobKind } from '../core/capability.ts';
import type { CommandHandler } from '../core/commandHandler.ts';
import { type Changer, metadataForChange, metadataForProcess } from '../core/eventMetadata.ts';
import { idOf, payloadOf } from '../core/payloads.ts';
import type { UseCaseNeeds } from '../core/useCaseNeeds.ts';
import type { PayloadOf } from '../ports/jobs.ts';
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
    const around = await commands.loadAround(PAYMENT, PAYMENT.stream(paymentId), revision);
    if (around?.event.type !== 'TransactionDisputeSettled') return;
    const { caseId, verdict, amount, reason, by, announced, at } = around.event.data;
    const { state } = await commands.load(MED_CASE, MED_CASE.stream(caseId));
    if (state.status === 'absent') return;
    const metadata = metadataForProcess('caseSettling', state.terms, paymentId, caseId);
    const settled = recordSettled({ verdict, amount, reason, by, announced, at });
    await commands.record(MED_CASE, MED_CASE.stream(caseId), settled, metadata);
    await tellPaymentOf({ commands })({ caseId });
  };

/** Removes a report from the operators’ list. Rejects with `not_found` or `case_not_open`. */
export const dismissCaseReport =
  ({ commands, accounts }: UseCaseNeeds) =>
  async (id: MedCaseId, reason: string, by: Changer): Promise<'dismissed' | Rejection> => {
    const stream = MED_CASE.stream(id);
    const { state } = await commands.load(MED_CASE, stream);
    const about = state.status === 'absent' ? state.notTaken : state.terms;
    if (about === undefined) return NO_CASE;
    const { accountId, mode, paymentId } = about;
    const metadata = { ...metadataForChange(by, accountId, paymentId), mode };
    const at = await accounts.now(accountId, mode);
    const done = await commands.execute(MED_CASE, stream, dismissReport(by.actor, reason, at), metadata);
    return isRejection(done) ? done : 'dismissed';
  };
