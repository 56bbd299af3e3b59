// Operators' use cases for disputes: list, review and dismiss (rules Q3, Q10, Q11).

import { ACCOUNT } from '../../domain/account/account.ts';
import { MED_CASE } from '../../domain/dispute/aggregate.ts';
import { dismissReport, NO_CASE } from '../../domain/dispute/decisions.ts';
import type { CaseStatus, MedCase, MoneyOutcome, NeverBecause, SettlingVerdict } from '../../domain/dispute/medCase.ts';
import { type CaseWaitsBecause, waitsOf } from '../../domain/dispute/waiting.ts';
import { type MedCaseId, type Mode, type PaymentId, PREFIX, parsePrefixedId } from '../../domain/kernel/ids.ts';
import { isRejection, type Rejection, reject } from '../../domain/kernel/rejection.ts';
import { type Changer, metadataForChange } from '../core/eventMetadata.ts';
import type { UseCaseNeeds } from '../core/useCase.ts';
import type { OperatorAlerts } from '../ports/operatorAlerts.ts';
import type { PaymentProviders } from '../ports/paymentProvider.ts';
import type { CaseReads, WaitingCase } from '../ports/readModels/cases.ts';
import { answerCase } from './answerCase.ts';
import { openCaseByHand, ruleCaseByHand } from './casesByHand.ts';
import { settleCase } from './settleCase.ts';

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

export interface ReviewNeeds extends UseCaseNeeds {
  readonly providers: PaymentProviders;
  readonly alerts: Pick<OperatorAlerts, 'disputeReport'>;
  readonly cases: Pick<
    CaseReads,
    'waiting' | 'countWaiting' | 'countNearDeadline' | 'countForOperators' | 'nearDeadline' | 'waitingReports'
  >;
}

/** A case, or a report without a case, that needs an operator. There is one item per reason. */
export interface CaseReviewItem {
  readonly caseId: string;
  /** The bank's id. */
  readonly providerCaseId: string;
  readonly chargeId: string;
  readonly accountId: string;
  readonly mode: Mode;
  /** null if there is no case. */
  readonly status: CaseStatus | null;
  /** The reported amount. */
  readonly amount: number;
  readonly currency: string;
  readonly because: CaseWaitsBecause;
  /** Why the report can never open a case; null if the item waits for another reason. */
  readonly reason: NeverBecause | null;
  /** The ruling under review, or the one reported after the end; null if there is neither. */
  readonly result: 'agreed' | 'disagreed' | 'withdrawn' | null;
  /** Whether the bank reported a return of the money; null if `result` is null. */
  readonly returned: boolean | null;
  /** The amount that the payer got; null if the bank did not report it. */
  readonly returnedToPayer: number | null;
  readonly since: string;
}

const NOTHING_RULED = { reason: null, result: null, returned: null, returnedToPayer: null } as const;

/** Returns the bank's ruling for reasons that come from a report. */
const ruledOf = ({ state }: WaitingCase, because: CaseReviewItem['because']) => {
  // Reports that need an operator are final.
  if (state.status === 'absent')
    return { ...NOTHING_RULED, reason: (state.notTaken?.because ?? null) as NeverBecause | null };
  const said = { review: state.review, report_contradicts: state.contradiction }[because as string] ?? null;
  if (said === null) return NOTHING_RULED;
  const { result, returned, returnedToPayer } = said;
  return { reason: null, result, returned, returnedToPayer };
};

const caseReviewItems = (waiting: WaitingCase): readonly CaseReviewItem[] => {
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

const SEVERAL_CASES = reject('invalid_request', 'Several cases have this bank id: use the med_ id.');

interface Reviewed {
  readonly caseId: string;
  readonly status: CaseStatus;
  readonly moneyOutcome: MoneyOutcome | null;
}

const reviewedOf = (id: MedCaseId, done: MedCase | Rejection): Reviewed | Rejection =>
  isRejection(done) ? done : { caseId: MED_CASE.idPrefix + id, status: done.status, moneyOutcome: done.moneyOutcome };

export const caseReviews = (needs: ReviewNeeds) => ({
  /** Returns the items that need an operator, oldest first. `total` also counts items beyond `limit`. */
  listCaseReviews: async (
    limit: number,
  ): Promise<{ readonly waiting: readonly CaseReviewItem[]; readonly total: number }> => ({
    waiting: (await needs.cases.waiting(limit)).flatMap(caseReviewItems),
    total: await needs.cases.countWaiting(),
  }),
  /** Returns the number of cases and reports that need an operator, and of open cases near their deadline. */
  countCases: (hours: number) => needs.cases.countForOperators(hours),
  /** Returns the number of open cases of all accounts whose deadline comes within `hours`, or has passed. */
  countCasesNearDeadline: (hours: number): Promise<number> => needs.cases.countNearDeadline(hours),
  /** Returns up to `limit` of them, the nearest deadline first. */
  listCasesNearDeadline: (hours: number, limit: number) => needs.cases.nearDeadline(hours, limit),
  /** Returns a case, or a report without a case, from its stream, and why it needs an operator. Rejects with `not_found`. */
  showCaseReview: async (id: MedCaseId) => {
    const { state } = await needs.commands.load(MED_CASE, MED_CASE.stream(id));
    if (state.status === 'absent' && state.notTaken === undefined) return NO_CASE;
    return { state, waiting: caseReviewItems({ id, state, waits: waitsOf(state) }) };
  },
  /** Accepts or rejects the outcome under review. Rejects with `not_found`, or with `case_not_open` if there isn't one. */
  reviewCase: async (id: MedCaseId, approve: boolean, by: Changer): Promise<Reviewed | Rejection> => {
    const { state } = await needs.commands.load(MED_CASE, MED_CASE.stream(id));
    if (state.status === 'absent') return NO_CASE;
    return reviewedOf(id, await answerCase(needs)(state.terms, id, { kind: 'review', approve }, by));
  },
  /** Settles a mismatch (Q1). Rejects with `not_found`, `case_not_open` or `invalid_amount`. */
  settleCase: async (
    id: MedCaseId,
    verdict: SettlingVerdict,
    reason: string,
    by: Changer,
  ): Promise<Reviewed | Rejection> => reviewedOf(id, await settleCase(needs)(id, verdict, reason, by)),
  /** Opens a case that no bank reports. Rejects as `openCaseByHand` does. */
  openCase: async (
    id: PaymentId,
    opening: Parameters<ReturnType<typeof openCaseByHand>>[1],
    by: Changer,
  ): Promise<Reviewed | Rejection> => {
    const done = await openCaseByHand(needs)(id, opening, by);
    return isRejection(done) ? done : reviewedOf(done.terms.caseId, done);
  },
  /** Rules a case that no bank reports. Rejects as `ruleCaseByHand` does. */
  ruleCase: async (
    id: MedCaseId,
    ruling: Parameters<ReturnType<typeof ruleCaseByHand>>[1],
    by: Changer,
  ): Promise<Reviewed | Rejection> => reviewedOf(id, await ruleCaseByHand(needs)(id, ruling, by)),
  /**
   * Removes a report from the list. `name` is the case's id or the bank's id. Rejects with `not_found`, with `case_not_open` if no report
   * waits, and with `invalid_request` if several cases have the bank's id.
   */
  dismissReport: async (
    name: string,
    reason: string,
    by: Changer,
  ): Promise<{ readonly caseId: string } | Rejection> => {
    const named = parsePrefixedId<MedCaseId>(name, MED_CASE.idPrefix);
    const [id, ...others] = named === null ? await needs.cases.waitingReports(name) : [named];
    if (id === undefined) return NO_CASE;
    if (others.length > 0) return SEVERAL_CASES;
    const done = await dismissCaseReport(needs)(id, reason, by);
    return isRejection(done) ? done : { caseId: MED_CASE.idPrefix + id };
  },
});
