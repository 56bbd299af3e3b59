// POST /v1/sandbox/charges/{id}/med, /v1/sandbox/med/cases/{id}/decide and /withdraw (rule X4): simulates payers' banks, through the same
// notifications and processes as live mode.

import type { OpenAccount } from '../../domain/account/account.ts';
import { MED_CASE } from '../../domain/dispute/aggregate.ts';
import { type BankRuling, giveUpReport, notRulable } from '../../domain/dispute/decisions.ts';
import type { DisputeMethod } from '../../domain/dispute/medCase.ts';
import type { MedCaseId, PaymentId, Tenant } from '../../domain/kernel/ids.ts';
import type { Minor } from '../../domain/kernel/money.ts';
import { isRejection, type Rejection, reject } from '../../domain/kernel/rejection.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import { PAYMENT } from '../../domain/payment/aggregate.ts';
import { openDispute } from '../../domain/payment/dispute.ts';
import { NO_PAYER } from '../../domain/payment/erasure.ts';
import type { ExistingPayment } from '../../domain/payment/payment.ts';
import { medCaseIdOf, sandboxCaseIdOf } from '../core/derivedIds.ts';
import { metadataForProcess } from '../core/eventMetadata.ts';
import type { UseCaseNeeds } from '../core/useCase.ts';
import { ownCase } from '../disputes/ownCase.ts';
import { isOwn, NO_PAYMENT } from '../payments/ownPayment.ts';
import type { ProviderCase } from '../ports/paymentProvider.ts';
import type { SandboxBankPort } from '../ports/sandboxBank.ts';
import type { Randomness } from '../ports/system.ts';

interface Needs extends UseCaseNeeds {
  readonly bank: SandboxBankPort;
}

export interface SandboxDispute {
  /** null: the charge's amount. */
  readonly amount: Minor | null;
  readonly method: DisputeMethod;
  readonly reason: string | null;
  readonly responseDeadline: ProviderCase['responseDeadline'];
  /** null: the bank generates one. */
  readonly providerCaseId: string | null;
  readonly payer: ProviderCase['payer'];
}

/** Returns how many disputes of the payment were opened so far. */
export const casesSoFar = ({ transaction }: ExistingPayment): number =>
  transaction.status === 'settled' && transaction.dispute !== null ? transaction.dispute.earlier.length + 1 : 0;

/**
 * Returns the bank's id for the payment's next dispute, if the request has none. Concurrent requests get the same id. `outOfTurn`: see
 * `casesOutOfTurn`. It grows when the gateway refuses a case, so the next case gets another id.
 */
export const nextCaseName = (payment: ExistingPayment, outOfTurn = 0): string =>
  sandboxCaseIdOf(payment.charge.terms.paymentId, casesSoFar(payment) + outOfTurn);

/** Returns what the bank books of a dispute. Of an erased charge, no search would find the payer in the books (L4). */
const bookable = ({ charge }: ExistingPayment, dispute: Omit<SandboxDispute, 'providerCaseId'>) =>
  charge.erasedAt === undefined ? dispute : { ...dispute, reason: null, payer: NO_PAYER };

/** Each dispute and decision adds events to the streams of the charge and the case (rule E10). */
export const TOO_MANY_CASES = reject(
  'change_limit_reached',
  'The sandbox’s bank takes at most 20 disputes of a charge.',
);
const TOO_MANY_RULINGS = reject('change_limit_reached', 'The sandbox’s bank takes at most 20 decisions on a case.');

const caseIdsOf =
  (account: OpenAccount, { mode }: Tenant) =>
  (paymentId: PaymentId, name: string) => ({ caseId: medCaseIdOf(account, mode, paymentId, name), paymentId });

/** A dispute recorded by the bank. */
export interface BookedDispute {
  readonly caseId: MedCaseId;
  readonly paymentId: PaymentId;
  readonly providerCaseId: string;
  /** False: it was recorded before. */
  readonly isNew: boolean;
}

/**
 * Has the payer's bank open a dispute, and returns the ids of its case and charge. Returns the existing dispute if the bank has one with
 * this id, even of another charge. Rejects with `not_found`, `charge_not_disputable`, also if a concurrent request came first, or
 * `change_limit_reached`.
 */
export const disputeInSandbox =
  ({ commands, accounts, bank }: Needs) =>
  async (
    tenant: Tenant,
    id: PaymentId,
    { providerCaseId: named, ...dispute }: SandboxDispute,
  ): Promise<BookedDispute | Rejection> => {
    const { state: payment } = await commands.load(PAYMENT, PAYMENT.stream(id));
    if (!isOwn(payment, tenant)) return NO_PAYMENT;
    const caseOf = caseIdsOf(await accounts.get(tenant.accountId), tenant);
    const before = named === null ? null : await bank.findCase(tenant, named);
    if (before !== null && named !== null)
      return { ...caseOf(before.paymentId, named), providerCaseId: named, isNew: false };
    const openedAt = await accounts.now(tenant.accountId, tenant.mode);
    const { txid } = payment.charge.terms;
    const providerCaseId = named ?? nextCaseName(payment, await bank.casesOutOfTurn(tenant, txid));
    const opened = { ...bookable(payment, dispute), type: 'med' as const, openedAt };
    const judged = openDispute({ ...opened, caseId: caseOf(id, providerCaseId).caseId }, openedAt)(payment);
    if (isRejection(judged)) return judged;
    const result = await bank.openCase(tenant, id, txid, { ...opened, providerCaseId }, casesSoFar(payment));
    if (result === 'full') return TOO_MANY_CASES;
    const booked = await bank.findCase(tenant, providerCaseId);
    if (booked === null) return ANOTHER_DISPUTE_FIRST;
    return { ...caseOf(booked.paymentId, providerCaseId), providerCaseId, isNew: result === 'booked' };
  };

const ANOTHER_DISPUTE_FIRST = reject('charge_not_disputable', 'Another dispute of this charge was opened first.');

/** Has the bank report a dispute even if it can't be opened now (X4 `owed`). Rejects with `not_found` and `change_limit_reached`. */
export const reportDisputeInSandbox =
  ({ commands, accounts, bank, randomness }: Needs & { readonly randomness: Randomness }) =>
  async (
    tenant: Tenant,
    id: PaymentId,
    { providerCaseId: named, ...dispute }: SandboxDispute,
  ): Promise<{ readonly providerCaseId: string } | Rejection> => {
    const { state: payment } = await commands.load(PAYMENT, PAYMENT.stream(id));
    if (!isOwn(payment, tenant)) return NO_PAYMENT;
    const openedAt = await accounts.now(tenant.accountId, tenant.mode);
    const providerCaseId = named ?? `sbx_case_${randomness.bytes(16).toString('hex')}`;
    const opened = { ...bookable(payment, dispute), type: 'med' as const, openedAt, providerCaseId };
    const result = await bank.openCase(tenant, id, payment.charge.terms.txid, opened, null);
    return result === 'full' ? TOO_MANY_CASES : { providerCaseId };
  };

/**
 * Returns whether the gateway accepted the dispute: `taken`, `pending` or `refused`. A new dispute that is refused never opens a case
 * (Q10), and the charge can be disputed again. `isLast`: the caller stops waiting, so a pending dispute is refused.
 */
export const disputeTaken =
  ({ commands, accounts, bank }: Needs) =>
  async (
    tenant: Tenant,
    { caseId, paymentId, providerCaseId, isNew }: BookedDispute,
    isLast: boolean,
  ): Promise<'taken' | 'pending' | 'refused'> => {
    const stream = MED_CASE.stream(caseId);
    const { state } = await commands.load(MED_CASE, stream);
    if (state.status !== 'absent') return 'taken';
    if (!state.isDismissed) {
      if (state.notTaken === undefined && !isLast) return 'pending';
      if (!isNew) return 'refused';
    }
    // First, so that a process that ends here leaves a charge that can be disputed.
    await bank.releaseTurn(tenant, providerCaseId);
    const at = await accounts.now(tenant.accountId, tenant.mode);
    const metadata = metadataForProcess('sandbox', tenant, paymentId, caseId);
    const { reply } = await commands.record(MED_CASE, stream, giveUpReport(at), metadata);
    return reply === 'opened' ? 'taken' : 'refused';
  };

export type SandboxRuling =
  | {
      readonly kind: 'decide';
      readonly result: 'agreed' | 'disagreed';
      readonly returned: boolean;
      /** null: the whole held amount (Q11). */
      readonly returnedToPayer: Minor | null;
      readonly review: boolean;
      /** Report the ruling even if it does not apply now. */
      readonly owed: boolean;
    }
  | { readonly kind: 'withdraw' };

/**
 * Has the bank decide a case, or the payer withdraw it. Returns the number of the bank's report and the bank's id of the case. Rejects with
 * `not_found`, `invalid_amount`, `case_not_open`, `case_under_review` or `change_limit_reached`.
 */
export const ruleInSandbox =
  ({ commands, accounts, bank }: Needs) =>
  async (
    tenant: Tenant,
    id: MedCaseId,
    ruling: SandboxRuling,
  ): Promise<{ readonly report: number; readonly providerCaseId: string } | Rejection> => {
    const medCase = await ownCase(commands, tenant, id);
    if (isRejection(medCase)) return medCase;
    const { paymentId, providerCaseId } = medCase.terms;
    const { state: payment } = await commands.load(PAYMENT, PAYMENT.stream(paymentId));
    if (!isOwn(payment, tenant)) return NO_PAYMENT;
    const { amount } = payment.charge.terms;
    const isOwed = ruling.kind === 'decide' && ruling.owed;
    if (ruling.kind === 'decide' && (ruling.returnedToPayer ?? 0) > amount)
      return reject('invalid_amount', `\`returned_to_payer\` must not exceed the charge’s amount (${amount}).`, {
        param: 'returned_to_payer',
      });
    const refusal = isOwed ? null : notRulable(medCase);
    if (refusal !== null) return refusal;
    const at: Timestamp = await accounts.now(tenant.accountId, tenant.mode);
    const bankRuling = { ruling: bankRulingOf(ruling), review: ruling.kind === 'decide' && ruling.review, at };
    const expected = isOwed ? null : medCase.reports + 1;
    const report = await bank.rule(tenant, paymentId, providerCaseId, bankRuling, expected);
    if (report === 'full') return TOO_MANY_RULINGS;
    return report === null ? OVERTAKEN : { report, providerCaseId };
  };

const bankRulingOf = (ruling: SandboxRuling): BankRuling['ruling'] => {
  if (ruling.kind === 'withdraw') return 'withdrawn';
  const { result, returned, returnedToPayer } = ruling;
  return { result, returned, returnedToPayer };
};

/** Returns `taken` if the case applied the report, or `pending`. Rejects with `case_not_open` if the report no longer applies. */
export const reportTaken =
  ({ commands }: Pick<Needs, 'commands'>) =>
  async (id: MedCaseId, report: number): Promise<'taken' | 'pending' | Rejection> => {
    const { state } = await commands.load(MED_CASE, MED_CASE.stream(id));
    if (state.status === 'absent') return 'pending';
    if (state.reportsInTime >= report) return 'taken';
    return notRulable(state) === null ? 'pending' : OVERTAKEN;
  };

const OVERTAKEN = reject('case_not_open', 'The case changed in the meantime; this step no longer applies.');

/** Every sandbox action on disputes. */
export const sandboxDisputes = (needs: Needs & { readonly randomness: Randomness }) => ({
  disputeInSandbox: disputeInSandbox(needs),
  reportDisputeInSandbox: reportDisputeInSandbox(needs),
  disputeTaken: disputeTaken(needs),
  ruleInSandbox: ruleInSandbox(needs),
  reportTaken: reportTaken(needs),
});
