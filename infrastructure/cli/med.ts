// Outcomes of dispute cases that wait for an operator (rules Q3, O1).

import { MED_CASE } from '../../application/core/aggregates.ts';
import { answerCase } from '../../application/disputes/answerCase.ts';
import type { PaymentProviders } from '../../application/ports/paymentProvider.ts';
import type { WaitingCase } from '../../application/ports/readModels/cases.ts';
import type { MedCase } from '../../domain/dispute/medCase.ts';
import { streamName } from '../../domain/kernel/event.ts';
import { PREFIX } from '../../domain/kernel/ids.ts';
import { isRejection } from '../../domain/kernel/rejection.ts';
import { caseReads } from '../../projections/disputes/queries.ts';
import { type CliCommand, UsageError } from './command.ts';
import { amountText, type Screen, table } from './output.ts';
import { caseIdOf } from './typed.ts';

const LISTED_MAX = 1_000;

const shown = ({ medCase, because }: WaitingCase) => {
  const { caseId, paymentId, accountId, mode, amount, currency } = medCase.terms;
  const { review, status, createdAt } = medCase;
  return {
    caseId: PREFIX.medCase + caseId,
    chargeId: PREFIX.charge + paymentId,
    accountId: PREFIX.account + accountId,
    mode,
    status,
    amount,
    currency,
    because,
    result: review?.result ?? null,
    returned: review === null ? null : review.returned,
    since: review?.since ?? createdAt,
  };
};

const HEAD = ['SINCE', 'CASE', 'CHARGE', 'ACCOUNT', 'MODE', 'STATUS', 'AMOUNT', 'WHY'];
const whyOf = ({ because, result, returned }: ReturnType<typeof shown>): string => {
  if (because === 'amount_mismatch') return 'the reported amount is not the charge’s';
  return result === 'agreed'
    ? 'agreed: lost'
    : `disagreed: ${returned ? 'the money comes back' : 'nothing comes back'}`;
};

const list: CliCommand = {
  name: 'med review list',
  summary: `Dispute cases that wait for an operator, oldest first (at most ${LISTED_MAX})`,
  args: [],
  options: {},
  run: async ({ storage }) => {
    const waiting = (await caseReads(storage.reads).waiting(LISTED_MAX)).map(shown);
    const cells = waiting.map((one) => [
      one.since,
      one.caseId,
      one.chargeId,
      one.accountId,
      one.mode,
      one.status,
      `${one.currency} ${amountText(one.amount, one.currency)}`,
      whyOf(one),
    ]);
    const text = (screen: Screen) => table(screen, HEAD, cells);
    return { json: { waiting }, text: waiting.length === 0 ? 'nothing waits for a review' : text };
  },
};

/** A provider is not asked from here: what it reports next is taken up by the program. */
const NO_PROVIDERS: PaymentProviders = { of: () => null };

const command = (verdict: 'approve' | 'reject', summary: string): CliCommand => ({
  name: `med review ${verdict}`,
  summary,
  args: [{ name: 'case' }],
  options: {},
  changes: 'always',
  run: async ({ commands, accounts, operator }, { args }) => {
    const id = caseIdOf(args[0] as string);
    const { state } = await commands.load(MED_CASE, streamName.medCase(id));
    if (state.status === 'absent') throw new UsageError(`there is no case ${PREFIX.medCase}${id}`);
    const { accountId, mode } = state.terms;
    const answer = { kind: 'review', approve: verdict === 'approve' } as const;
    const by = { actor: operator, requestId: null };
    const done = await answerCase({ commands, accounts, providers: NO_PROVIDERS })({ accountId, mode }, id, answer, by);
    if (isRejection(done)) throw new UsageError(done.message);
    const { status, moneyOutcome }: MedCase = done;
    const caseId = PREFIX.medCase + id;
    const outcome = moneyOutcome === null ? '' : `, ${moneyOutcome.replaceAll('_', ' ')}`;
    return { json: { caseId, status, moneyOutcome }, text: `${caseId} is ${status}${outcome}` };
  },
});

export const medCommands: readonly CliCommand[] = [
  list,
  command('approve', 'Let the outcome of a dispute case count'),
  command('reject', 'Refuse the outcome of a dispute case: it goes on as it was'),
];
