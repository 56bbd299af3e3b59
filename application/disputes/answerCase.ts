// Records a merchant's answer to a case, or a step of the platform. The payment is updated in the same call, so that the response shows
// its money correctly. If that fails, a process updates it later.

import { MED_CASE } from '../../domain/dispute/aggregate.ts';
import { acceptCase, appealCase, requestEvidence, reviewCase } from '../../domain/dispute/decisions.ts';
import type { MedCase, MedCaseEvent, MedCaseState } from '../../domain/dispute/medCase.ts';
import { announcesOutcomes } from '../../domain/dispute/settings.ts';
import type { Decision } from '../../domain/kernel/decider.ts';
import type { MedCaseId, Tenant } from '../../domain/kernel/ids.ts';
import { isRejection, type Rejection } from '../../domain/kernel/rejection.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import { type Changer, metadataForRequest } from '../core/eventMetadata.ts';
import { limitsOf, type UseCaseNeeds } from '../core/useCase.ts';
import { AppendOutcomeUnknown, EventStoreUnavailable } from '../ports/eventStore.ts';
import type { OperatorAlerts } from '../ports/operatorAlerts.ts';
import { type PaymentProviders, unlessUnknown } from '../ports/paymentProvider.ts';
import { ownCase } from './ownCase.ts';
import { takeProviderCases } from './takeProviderCases.ts';
import { tellPaymentOf } from './tellPayment.ts';

export type CaseAnswer =
  | { readonly kind: 'appeal'; readonly reason: string }
  | { readonly kind: 'accept' }
  /** By the platform. */
  | { readonly kind: 'requestEvidence' }
  /** By an operator. */
  | { readonly kind: 'review'; readonly approve: boolean };

interface Needs extends UseCaseNeeds {
  readonly providers: PaymentProviders;
  readonly alerts: Pick<OperatorAlerts, 'disputeReport'>;
}

/** Returns the case after the answer. Rejects with `not_found`, `change_limit_reached`, or like the decision. */
export const answerCase =
  (needs: Needs) =>
  async (tenant: Tenant, id: MedCaseId, answer: CaseAnswer, by: Changer): Promise<MedCase | Rejection> => {
    const { commands, accounts } = needs;
    const own = await ownCase(commands, tenant, id);
    if (isRejection(own)) return own;
    const { accountId, mode, paymentId } = own.terms;
    const account = await accounts.get(accountId);
    const at = await accounts.now(accountId, mode);
    const decide = decisionOf(answer, announcesOutcomes(account, mode), at);
    const actor = { actor: by.actor, requestId: by.requestId ?? id };
    const metadata = metadataForRequest(actor, { accountId, mode }, paymentId);
    // Only a request for evidence could be repeated for ever.
    const isLimited = answer.kind === 'requestEvidence' && limitsOf(by).isLimited;
    const done = await commands.execute(MED_CASE, MED_CASE.stream(id), decide, metadata, { isLimited });
    if (isRejection(done)) return done;
    // The answer is recorded. If the store fails now, the process updates the payment, and the merchant still gets a success.
    await tellPaymentOf(needs)({ caseId: id }).catch(leaveToProcess);
    // Reports that the provider sent during the review had to wait for its end. The command line reaches no provider.
    if (answer.kind === 'review') await takeProviderCases(needs)(paymentId).catch(unlessUnknown);
    return done.state as MedCase;
  };

const leaveToProcess = (error: unknown): void => {
  if (!(error instanceof EventStoreUnavailable || error instanceof AppendOutcomeUnknown)) throw error;
};

const decisionOf = (
  answer: CaseAnswer,
  announced: boolean,
  at: Timestamp,
): Decision<MedCaseState, MedCaseEvent, 'recorded'> => {
  switch (answer.kind) {
    case 'appeal':
      return appealCase(answer.reason, at);
    case 'accept':
      return acceptCase(announced, at);
    case 'requestEvidence':
      return requestEvidence(at);
    case 'review':
      return reviewCase(answer.approve, announced, at);
    default:
      return answer satisfies never;
  }
};
