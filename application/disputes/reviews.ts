// Dispute cases that wait for an operator, and what operators do with them (rules Q1, Q3, Q10).
import { ACCOUNT } from '../../domain/account/account.ts';
import { MED_CASE } from '../../domain/dispute/aggregate.ts';
import { NO_CASE } from '../../domain/dispute/decisions.ts';
import type { CaseStatus, MedCase, MoneyOutcome, NeverBecause, SettlingVerdict } from '../../domain/dispute/medCase.ts';
import { type MedCaseId, type Mode, PREFIX, parsePrefixedId } from '../../domain/kernel/ids.ts';
import { isRejection, type Rejection, reject } from '../../domain/kernel/rejection.ts';
import type { Accounts } from '../core/accounts.ts';
import type { CommandHandler } from '../core/commandHandler.ts';
import type { Changer } from '../core/eventMetadata.ts';
import type { OperatorAlerts } from '../ports/operatorAlerts.ts';
import type { PaymentProviders } from '../ports/paymentProvider.ts';
import type { CaseReads, CaseWaitsBecause, WaitingCase } from '../ports/readModels/cases.ts';
import { answerCase } from './answerCase.ts';
import { dismissCaseReport, settleCase } from './settleCase.ts';

export interface ReviewNeeds {
  readonly commands: CommandHandler;
  readonly accounts: Accounts;
  readonly providers: PaymentProviders;
  readonly alerts: Pick<OperatorAlerts, 'disputeReport'>;
  readonly cases: Pick<CaseReads, 'waiting' | 'countWaiting' | 'waitingReports'>;
}

/** A dispute case, or a report that opened none, that waits for an operator; once for each reason. */
export interface CaseReviewItem {
  readonly caseId: string;
  /** The bank's id. */
  readonly providerCaseId: string;
  readonly chargeId: string;
  readonly accountId: string;
  readonly mode: Mode;
  /** null: there is no case. */
  readonly status: CaseStatus | null;
  /** As it was reported. */
  readonly amount: number;
  readonly currency: string;
  readonly because: CaseWaitsBecause;
  /** Why no payment can take the report; null: for another reason it waits. */
  readonly reason: NeverBecause | null;
  /** What was ruled, or reported after the end; null: neither waits. */
  readonly result: 'agreed' | 'disagreed' | 'withdrawn' | null;
  /** Whether the bank said that the money comes back; null like `result`. */
  readonly returned: boolean | null;
  /** How much the payer got, as the bank said; null: it did not say so. */
  readonly returnedToPayer: number | null;
  readonly since: string;
}

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

const SEVERAL_CASES = reject('invalid_request', 'Several cases have this id at their bank: use the med_ id.');

interface Reviewed {
  readonly caseId: string;
  readonly status: CaseStatus;
  readonly moneyOutcome: MoneyOutcome | null;
}

const reviewedOf = (id: MedCaseId, done: MedCase | Rejection): Reviewed | Rejection =>
  isRejection(done) ? done : { caseId: MED_CASE.idPrefix + id, status: done.status, moneyOutcome: done.moneyOutcome };

export const caseReviews = (needs: ReviewNeeds) => ({
  /** Dispute cases that wait for an operator, oldest first. `total` counts those beyond `limit` too. */
  listCaseReviews: async (
    limit: number,
  ): Promise<{ readonly waiting: readonly CaseReviewItem[]; readonly total: number }> => ({
    waiting: (await needs.cases.waiting(limit)).flatMap(caseReviewItems),
    total: await needs.cases.countWaiting(),
  }),
  /** Has the outcome that is reviewed count, or refuses it. `not_found`; `case_not_open`: none waits. */
  reviewCase: async (id: MedCaseId, approve: boolean, by: Changer): Promise<Reviewed | Rejection> => {
    const { state } = await needs.commands.load(MED_CASE, MED_CASE.stream(id));
    if (state.status === 'absent') return NO_CASE;
    return reviewedOf(id, await answerCase(needs)(state.terms, id, { kind: 'review', approve }, by));
  },
  /** Settles a mismatch (Q1). `not_found`, `case_not_open`, `invalid_amount`. */
  settleCase: async (
    id: MedCaseId,
    verdict: SettlingVerdict,
    reason: string,
    by: Changer,
  ): Promise<Reviewed | Rejection> => reviewedOf(id, await settleCase(needs)(id, verdict, reason, by)),
  /**
   * Takes a report off the list, named by its case or the bank's id of it. `not_found`; `case_not_open`: none waits; `invalid_request`:
   * several cases have that id.
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
