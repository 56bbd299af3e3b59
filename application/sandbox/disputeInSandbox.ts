// POST /v1/sandbox/charges/{id}/med, /v1/sandbox/med/cases/{id}/decide and /withdraw (rule X4): what payers' banks do, through the same
// notifications and processes as live.
import { notRulable } from '../../domain/dispute/decisions.ts';
import type { DisputeMethod } from '../../domain/dispute/medCase.ts';
import { streamName } from '../../domain/kernel/event.ts';
import type { MedCaseId, PaymentId } from '../../domain/kernel/ids.ts';
import type { Minor } from '../../domain/kernel/money.ts';
import { isRejection, type Rejection, reject } from '../../domain/kernel/rejection.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import { openDispute } from '../../domain/payment/dispute.ts';
import type { ExistingPayment } from '../../domain/payment/payment.ts';
import type { Accounts } from '../core/accounts.ts';
import { MED_CASE, PAYMENT } from '../core/aggregates.ts';
import type { CommandHandler } from '../core/commandHandler.ts';
import { medCaseIdOf, sandboxCaseIdOf } from '../core/derivedIds.ts';
import { ownCase } from '../disputes/ownCase.ts';
import { isOwn, NO_PAYMENT } from '../payments/ownPayment.ts';
import type { ProviderCase, Tenant } from '../ports/paymentProvider.ts';
import type { SandboxBankPort } from '../ports/sandboxBank.ts';

interface Needs {
  readonly commands: CommandHandler;
  readonly accounts: Accounts;
  readonly bank: SandboxBankPort;
}

export interface SandboxDispute {
  /** null: the charge's. */
  readonly amount: Minor | null;
  readonly method: DisputeMethod;
  readonly reason: string | null;
  readonly responseDeadline: ProviderCase['responseDeadline'];
  /** null: the bank makes one up. */
  readonly providerCaseId: string | null;
  readonly payer: ProviderCase['payer'];
}

const casesSoFar = ({ transaction }: ExistingPayment): number =>
  transaction.status === 'settled' && transaction.dispute !== null ? transaction.dispute.earlier.length + 1 : 0;

/** The bank's name of the next dispute of the payment, where nobody named it: two at once are one. */
export const nextCaseName = (payment: ExistingPayment): string =>
  sandboxCaseIdOf(payment.charge.terms.paymentId, casesSoFar(payment));

/**
 * Has the payer's bank open a dispute; returns the id of its case, and of the charge that it is about. One of that name was opened before:
 * that one, whatever charge it is about. Otherwise `not_found`, then `charge_not_disputable`.
 */
export const disputeInSandbox =
  ({ commands, accounts, bank }: Needs) =>
  async (
    tenant: Tenant,
    id: PaymentId,
    { providerCaseId: named, ...dispute }: SandboxDispute,
  ): Promise<{ readonly caseId: MedCaseId; readonly paymentId: PaymentId } | Rejection> => {
    const { state: payment } = await commands.load(PAYMENT, streamName.payment(id));
    if (!isOwn(payment, tenant)) return NO_PAYMENT;
    const { idSeed } = await accounts.get(tenant.accountId);
    const caseOf = (paymentId: PaymentId, name: string) => ({
      caseId: medCaseIdOf(idSeed, tenant.mode, paymentId, name),
      paymentId,
    });
    const before = named === null ? null : await bank.findCase(tenant, named);
    if (before !== null && named !== null) return caseOf(before.paymentId, named);
    const openedAt = await accounts.now(tenant.accountId, tenant.mode);
    const providerCaseId = named ?? nextCaseName(payment);
    const opened = { ...dispute, type: 'med' as const, openedAt };
    const judged = openDispute({ ...opened, caseId: caseOf(id, providerCaseId).caseId }, openedAt)(payment);
    if (isRejection(judged)) return judged;
    await bank.openCase(tenant, id, payment.charge.terms.txid, { ...opened, providerCaseId });
    const booked = await bank.findCase(tenant, providerCaseId);
    return caseOf(booked?.paymentId ?? id, providerCaseId);
  };

export type SandboxRuling =
  | {
      readonly kind: 'decide';
      readonly result: 'agreed' | 'disagreed';
      readonly returned: boolean;
      readonly review: boolean;
    }
  | { readonly kind: 'withdraw' };

/** Has the bank rule, or the payer withdraw; returns the number of the bank's report. `not_found`, `case_not_open`, `case_under_review`. */
export const ruleInSandbox =
  ({ commands, accounts, bank }: Needs) =>
  async (tenant: Tenant, id: MedCaseId, ruling: SandboxRuling): Promise<{ readonly report: number } | Rejection> => {
    const medCase = await ownCase(commands, tenant, id);
    if (isRejection(medCase)) return medCase;
    const refusal = notRulable(medCase);
    if (refusal !== null) return refusal;
    const { paymentId, providerCaseId } = medCase.terms;
    const { state: payment } = await commands.load(PAYMENT, streamName.payment(paymentId));
    if (!isOwn(payment, tenant)) return NO_PAYMENT;
    const at: Timestamp = await accounts.now(tenant.accountId, tenant.mode);
    const report = await bank.rule(tenant, paymentId, payment.charge.terms.txid, providerCaseId, {
      ruling: ruling.kind === 'withdraw' ? 'withdrawn' : { result: ruling.result, returned: ruling.returned },
      review: ruling.kind === 'decide' && ruling.review,
      at,
    });
    return { report };
  };

/** `taken`: the case took the report up; `pending`: it is being taken up; a rejection: something else came first. */
export const reportTaken =
  ({ commands }: Pick<Needs, 'commands'>) =>
  async (id: MedCaseId, report: number): Promise<'taken' | 'pending' | Rejection> => {
    const { state } = await commands.load(MED_CASE, streamName.medCase(id));
    if (state.status === 'absent') return 'pending';
    if (state.reports >= report) return 'taken';
    return notRulable(state) === null ? 'pending' : OVERTAKEN;
  };

const OVERTAKEN = reject('case_not_open', 'Something else came first: the case takes this no more.');
