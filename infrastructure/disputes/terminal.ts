// CLI commands and triggers of disputes.

import type { CaseReviewItem } from '../../application/disputes/reviews.ts';
import type { NeverBecause, SettlingVerdict } from '../../domain/dispute/medCase.ts';
import { AMOUNT_MIN, type Minor, toMinor, ZERO } from '../../domain/kernel/money.ts';
import { accepted, byOf, type CliCommand, type CliInput, caseIdOf, paymentIdOf, UsageError } from '../cli/command.ts';
import { amountText, type Screen, table } from '../cli/output.ts';
import type { Scenario, Triggers } from '../cli/scenario.ts';
import { paid } from '../payments/terminal.ts';

// --- Reviews and settles dispute cases that need an operator's decision (rules Q3, O1) ---

const LISTED_MAX = 1_000;

const HEAD = ['SINCE', 'CASE', 'BANK ID', 'CHARGE', 'ACCOUNT', 'MODE', 'STATUS', 'AMOUNT', 'WHY'];
const NEVER: { readonly [B in NeverBecause]: string } = {
  not_paid: 'the charge was not paid',
  other_method: 'the charge was paid by another method',
  returned: 'the payment was returned',
  refunded: 'the charge is fully refunded',
  lost_before: 'the charge was lost in an earlier dispute',
  exceeds_rest: 'the amount exceeds the rest of the charge',
};
const ruled = ({ result, returned, returnedToPayer }: CaseReviewItem): string => {
  if (result === 'withdrawn') return 'withdrawn';
  if (result === 'agreed')
    return `agreed: lost${returnedToPayer === null ? '' : `, ${returnedToPayer} returned to the payer`}`;
  return `disagreed: ${returned ? 'the money is returned' : 'no money is returned'}`;
};
const whyOf = (one: CaseReviewItem): string => {
  const { because, reason, result } = one;
  if (because === 'amount_mismatch') return 'the reported amount does not match: run med settle';
  if (because === 'report_not_taken') return `can’t open a case: ${reason === null ? '' : NEVER[reason]}`;
  if (because === 'report_contradicts') return `contradicts the case’s outcome: ${ruled(one)}`;
  return result === null ? '' : ruled(one);
};
const cells = (one: CaseReviewItem): readonly string[] => [
  one.since,
  one.caseId,
  one.providerCaseId,
  one.chargeId,
  one.accountId,
  one.mode,
  one.status ?? 'none',
  `${one.currency} ${amountText(one.amount, one.currency)}`,
  whyOf(one),
];

const list: CliCommand = {
  name: 'med review list',
  summary: `List dispute cases and reports that need an operator’s decision, oldest first (at most ${LISTED_MAX})`,
  reads: ['disputes'],
  run: async (world) => {
    const { waiting } = await world.platform.listCaseReviews(LISTED_MAX);
    const text = (screen: Screen) => table(screen, HEAD, waiting.map(cells));
    return { json: { waiting }, text: waiting.length === 0 ? 'nothing to review' : text };
  },
};

const command = (verdict: 'approve' | 'reject', summary: string): CliCommand => ({
  name: `med review ${verdict}`,
  summary,
  args: [{ name: 'case' }],
  changes: 'always',
  run: async (world, { args }) => {
    const id = caseIdOf(args[0] as string);
    const reviewed = accepted(await world.platform.reviewCase(id, verdict === 'approve', byOf(world)));
    return decided(reviewed);
  },
});

interface Decided {
  readonly caseId: string;
  readonly status: string;
  readonly moneyOutcome: string | null;
}
const decided = ({ caseId, status, moneyOutcome }: Decided) => {
  const outcome = moneyOutcome === null ? '' : `, ${moneyOutcome.replaceAll('_', ' ')}`;
  return { json: { caseId, status, moneyOutcome }, text: `${caseId} is ${status}${outcome}` };
};

const REASON = { description: 'reason, for the records', required: true } as const;
const reasonOf = (options: CliInput['options']): string => {
  const reason = String(options['reason']).trim();
  if (reason === '' || reason.length > 500) throw new UsageError('--reason must have 1 to 500 characters');
  return reason;
};

/** Throws UsageError unless exactly one of the three options is given. */
const verdictOf = (options: CliInput['options']): SettlingVerdict => {
  const typed = (['held', 'lost', 'nothing'] as const).filter((name) => options[name] !== undefined);
  const [verdict] = typed;
  if (verdict === undefined || typed.length > 1)
    throw new UsageError('give exactly one of --held <amount>, --lost <amount> and --nothing');
  if (verdict === 'nothing') return { verdict, amount: ZERO };
  const text = String(options[verdict]);
  const amount = /^\d{1,11}$/.test(text) ? Number(text) : 0;
  if (amount < AMOUNT_MIN)
    throw new UsageError(`--${verdict} must be an amount in minor units, at least ${AMOUNT_MIN}`);
  return { verdict, amount: toMinor(amount) };
};

const settle: CliCommand = {
  name: 'med settle',
  summary: 'Settle a dispute case whose reported amount does not match: hold, debit or leave the money',
  args: [{ name: 'case' }],
  options: {
    held: { description: 'hold this amount, in minor units, until the case ends' },
    lost: { description: 'debit this amount, in minor units, and close the case as lost' },
    nothing: { description: 'leave the money to the merchant and close the case', flag: true },
    reason: REASON,
  },
  changes: 'always',
  run: async (world, { args, options }) => {
    const id = caseIdOf(args[0] as string);
    const verdict = verdictOf(options);
    const settled = accepted(await world.platform.settleCase(id, verdict, reasonOf(options), byOf(world)));
    return decided(settled);
  },
};

const dismiss: CliCommand = {
  name: 'med review dismiss',
  summary: 'Remove a dispute report from the list: it can never open a case, or contradicts a closed one',
  args: [{ name: 'case or provider case id' }],
  options: { reason: REASON },
  changes: 'always',
  reads: ['disputes'],
  run: async (world, { args, options }) => {
    const done = await world.platform.dismissReport(args[0] as string, reasonOf(options), byOf(world));
    const { caseId } = accepted(done);
    return { json: { caseId }, text: `the report about ${caseId} was removed from the list` };
  },
};

/** Returns the amount of an option in minor units. Throws UsageError below `least`. */
const minorOf = (options: CliInput['options'], name: string, least: number): Minor => {
  const text = String(options[name]);
  const amount = /^\d{1,11}$/.test(text) ? Number(text) : -1;
  if (amount < least) throw new UsageError(`--${name} must be an amount in minor units, at least ${least}`);
  return toMinor(amount);
};

const open: CliCommand = {
  name: 'med open',
  summary: 'Open a dispute case of a live charge whose provider reports no disputes, and hold the money',
  args: [{ name: 'charge' }],
  options: {
    amount: { description: 'the disputed amount, in minor units', required: true },
    reason: REASON,
  },
  changes: 'always',
  run: async (world, { args, options }) => {
    const id = paymentIdOf(args[0] as string);
    const opening = { amount: minorOf(options, 'amount', AMOUNT_MIN), reason: reasonOf(options) };
    return decided(accepted(await world.platform.openCase(id, opening, byOf(world))));
  },
};

const rule: CliCommand = {
  name: 'med rule',
  summary: 'Record how the banks decided a dispute case that was opened with med open',
  args: [{ name: 'case' }],
  options: {
    result: { description: 'agreed (the payer won) or disagreed', required: true },
    'returned-to-payer': {
      description:
        'the amount that the payer got, in minor units, if not the whole hold; a mismatch needs it until it is settled',
    },
  },
  changes: 'always',
  run: async (world, { args, options }) => {
    const id = caseIdOf(args[0] as string);
    const { result } = options;
    if (result !== 'agreed' && result !== 'disagreed') throw new UsageError('--result must be agreed or disagreed');
    const isGiven = options['returned-to-payer'] !== undefined;
    if (isGiven && result === 'disagreed') throw new UsageError('--returned-to-payer applies only to agreed');
    const ruling = { result, returnedToPayer: isGiven ? minorOf(options, 'returned-to-payer', 0) : null } as const;
    return decided(accepted(await world.platform.ruleCase(id, ruling, byOf(world))));
  },
};

export const commands: readonly CliCommand[] = [
  open,
  rule,
  list,
  command('approve', 'Accept the outcome of a dispute case'),
  command('reject', 'Reject the outcome of a dispute case: the case continues as before'),
  dismiss,
  settle,
];

const disputed =
  (answer: 'accept' | 'withdraw' | null): Scenario =>
  async (merchant) => {
    const { chargeId } = await paid(merchant);
    const { id } = await merchant.call<{ id: string }>('POST', `/v1/sandbox/charges/${chargeId}/med`, {});
    if (answer === 'accept') await merchant.call('POST', `/v1/med/cases/${id}/accept`, {});
    if (answer === 'withdraw') await merchant.call('POST', `/v1/sandbox/med/cases/${id}/withdraw`, {});
    return { chargeId };
  };

export const triggers: Triggers = {
  scenarios: {
    'med_case.created': disputed(null),
    'med_case.updated': disputed('accept'),
    'med.resolved': disputed('withdraw'),
  },
};
