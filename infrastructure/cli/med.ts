// Outcomes of dispute cases that wait for an operator (rules Q3, O1).
import type { CaseReviewItem } from '../../application/ports/platformWork.ts';
import type { CliCommand } from './command.ts';
import { amountText, type Screen, table } from './output.ts';
import { accepted, byOf, platformOf } from './platform.ts';
import { caseIdOf } from './typed.ts';

const LISTED_MAX = 1_000;

const HEAD = ['SINCE', 'CASE', 'CHARGE', 'ACCOUNT', 'MODE', 'STATUS', 'AMOUNT', 'WHY'];
const whyOf = ({ because, result, returned }: CaseReviewItem): string => {
  if (because === 'amount_mismatch') return 'the reported amount is not the charge’s';
  return result === 'agreed'
    ? 'agreed: lost'
    : `disagreed: ${returned ? 'the money comes back' : 'nothing comes back'}`;
};
const cells = (one: CaseReviewItem): readonly string[] => [
  one.since,
  one.caseId,
  one.chargeId,
  one.accountId,
  one.mode,
  one.status,
  `${one.currency} ${amountText(one.amount, one.currency)}`,
  whyOf(one),
];

const list: CliCommand = {
  name: 'med review list',
  summary: `Dispute cases that wait for an operator, oldest first (at most ${LISTED_MAX})`,
  args: [],
  options: {},
  run: async (world) => {
    const { waiting } = await platformOf(world).listCaseReviews(LISTED_MAX);
    const text = (screen: Screen) => table(screen, HEAD, waiting.map(cells));
    return { json: { waiting }, text: waiting.length === 0 ? 'nothing waits for a review' : text };
  },
};

const command = (verdict: 'approve' | 'reject', summary: string): CliCommand => ({
  name: `med review ${verdict}`,
  summary,
  args: [{ name: 'case' }],
  options: {},
  changes: 'always',
  run: async (world, { args }) => {
    const id = caseIdOf(args[0] as string);
    const reviewed = accepted(await platformOf(world).reviewCase(id, verdict === 'approve', byOf(world)));
    const { caseId, status, moneyOutcome } = reviewed;
    const outcome = moneyOutcome === null ? '' : `, ${moneyOutcome.replaceAll('_', ' ')}`;
    return { json: { caseId, status, moneyOutcome }, text: `${caseId} is ${status}${outcome}` };
  },
});

export const medCommands: readonly CliCommand[] = [
  list,
  command('approve', 'Let the outcome of a dispute case count'),
  command('reject', 'Refuse the outcome of a dispute case: it goes on as it was'),
];
