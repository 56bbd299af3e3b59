// What operators are shown of a dispute case that waits for them: one item for each reason.

import type { CaseReviewItem } from '../../application/ports/platformWork.ts';
import type { WaitingCase } from '../../application/ports/readModels/cases.ts';
import { ACCOUNT } from '../../domain/account/account.ts';
import { MED_CASE } from '../../domain/dispute/aggregate.ts';
import type { NeverBecause } from '../../domain/dispute/medCase.ts';
import { PREFIX } from '../../domain/kernel/ids.ts';

const NOTHING_RULED = { reason: null, result: null, returned: null, returnedToPayer: null } as const;

/** What the bank said, of the reasons that come from a report of its own. */
const ruledOf = ({ state }: WaitingCase, because: CaseReviewItem['because']) => {
  // Those that wait are final.
  if (state.status === 'absent')
    return { ...NOTHING_RULED, reason: (state.notTaken?.because ?? null) as NeverBecause | null };
  const said = { review: state.review, report_contradicts: state.contradiction }[because as string] ?? null;
  if (said === null) return NOTHING_RULED;
  const { result, returned, returnedToPayer } = said;
  return { reason: null, result, returned, returnedToPayer };
};

export const caseReviewItems = (waiting: WaitingCase): readonly CaseReviewItem[] => {
  const { id, state, waits } = waiting;
  const about = state.status === 'absent' ? state.notTaken : state.terms;
  if (about === undefined) return [];
  const { paymentId, accountId, mode, amount, currency, providerCaseId } = about;
  return waits.map(([because, since]) => ({
    caseId: MED_CASE.idPrefix + id,
    providerCaseId,
    chargeId: PREFIX.charge + paymentId,
    accountId: ACCOUNT.idPrefix + accountId,
    mode,
    status: state.status === 'absent' ? null : state.status,
    amount,
    currency,
    because,
    ...ruledOf(waiting, because),
    since,
  }));
};
