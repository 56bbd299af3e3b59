// Mails the account's contact when a case opens, when evidence is requested, when the deadline is near, and when the case ends: one mail
// per event (Q7).

import Type from 'typebox';
import type { ChargeTerms } from '../../domain/charge/charge.ts';
import { MED_CASE } from '../../domain/dispute/aggregate.ts';
import type { DisputeMethod, MedCase, MedCaseEvent, MoneyOutcome } from '../../domain/dispute/medCase.ts';
import { reading } from '../../domain/kernel/eventGroups.ts';
import { type MedCaseId, PREFIX } from '../../domain/kernel/ids.ts';
import { type Timestamp, toMillis } from '../../domain/kernel/time.ts';
import { PAYMENT } from '../../domain/payment/aggregate.ts';
import { assertExists } from '../../domain/payment/payment.ts';
import { formatAmount } from '../../domain/presentation/amount.ts';
import { latestDispute } from '../../domain/transaction/transaction.ts';
import type { Accounts } from '../core/accounts.ts';
import { idOf, jobKind, payloadOf } from '../core/capability.ts';
import type { CommandHandler } from '../core/commandHandler.ts';
import { caseMailIdOf } from '../core/derivedIds.ts';
import { enqueue, following, processManager, reacting } from '../core/reactions.ts';
import type { PayloadOf } from '../ports/jobs.ts';
import type { Mail, MailSender } from '../ports/mail.ts';

// --- The facts of a case: case, order, amount and reason. Order and reason are foreign text, so each is cut to one short line. ---

/** Facts about the disputed charge and its case. */
export interface DisputedCharge {
  readonly metadata: ChargeTerms['metadata'];
  /** The payer's claim; null if the bank did not report it. */
  readonly method: DisputeMethod | null;
  /** The case has ended, possibly after the event. */
  readonly hasEnded: boolean;
}

const METHOD: { readonly [M in DisputeMethod]: string | null } = {
  scam: 'golpe',
  unauthorized: 'transação não autorizada',
  coercion: 'coação',
  invasion: 'invasão de conta',
  other: null,
};

/** Keys of `metadata` under which merchants keep the number of an order; the first one with a value counts. */
const ORDER_KEYS = ['order_id', 'orderId', 'order'];
/** In graphemes. */
const LENGTH_MAX = 200;

const graphemes = new Intl.Segmenter('pt-BR', { granularity: 'grapheme' });

/** Returns the text on one line, without control and format characters. */
const oneLine = (text: string): string => {
  const line = text
    // Bounds the work: metadata may be long, and a grapheme may have any length.
    .slice(0, 8 * LENGTH_MAX)
    .toWellFormed()
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .replaceAll(/\p{Cf}/gu, '')
    .trim();
  const shown = [...graphemes.segment(line)].map(({ segment }) => segment);
  return shown.length > LENGTH_MAX ? `${shown.slice(0, LENGTH_MAX).join('')}…` : shown.join('');
};

const written = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? oneLine(String(value)) : '';

const orderOf = (metadata: ChargeTerms['metadata']): string =>
  ORDER_KEYS.map((key) => written(metadata[key])).find((text) => text !== '') ?? '';

const reasonOf = (reason: string | null, method: DisputeMethod | null): string =>
  [method === null ? null : METHOD[method], written(reason)].filter(Boolean).join(': ') || 'não informado';

/** Returns labels and values in display order. A missing order or description is left out. */
const caseFacts = (
  { terms }: MedCase,
  { metadata, method }: DisputedCharge,
): readonly (readonly [label: string, value: string])[] => {
  const { caseId, paymentId, amount, currency, reason } = terms;
  const facts: readonly (readonly [string, string])[] = [
    ['Disputa', MED_CASE.idPrefix + caseId],
    ['Cobrança', PREFIX.charge + paymentId],
    ['Pedido', orderOf(metadata)],
    ['Descrição', written(metadata['description'])],
    ['Valor', formatAmount(amount, currency, 'pt')],
    ['Motivo', reasonOf(reason, method)],
  ];
  return facts.filter(([, value]) => value !== '');
};

// --- The mail, in Portuguese: the news, the facts of the case, and a link to the guide ---

type Words = Pick<Mail, 'subject' | 'text' | 'html'>;

const OUTCOME: { readonly [O in MoneyOutcome]: string } = {
  refunded_to_merchant: 'a disputa terminou a seu favor e o valor retido voltou ao seu saldo disponível',
  closed_without_refund: 'a disputa foi encerrada e o valor retido não foi devolvido',
  lost: 'a disputa terminou a favor do pagador e o valor retido não volta ao seu saldo',
};
/** For a mismatch without held money. */
const OUTCOME_WITHOUT_HOLD: { readonly [O in MoneyOutcome]: string } = {
  refunded_to_merchant: 'a disputa terminou a seu favor',
  closed_without_refund: 'a disputa foi encerrada sem devolução',
  lost: 'a disputa terminou a favor do pagador',
};

const INSTANT = new Intl.DateTimeFormat('pt-BR', {
  timeZone: 'America/Sao_Paulo',
  dateStyle: 'short',
  timeStyle: 'short',
});
const instant = (at: Timestamp): string => `${INSTANT.format(toMillis(at))} (horário de Brasília)`;
const amountOf = ({ amount, currency }: MedCase['terms']): string => formatAmount(amount, currency, 'pt');

const deadline = ({ terms: { responseDeadline } }: MedCase): string =>
  responseDeadline === null
    ? 'O prazo de resposta não foi informado.'
    : `Prazo de resposta: ${instant(responseDeadline)}.`;

const ended = (medCase: MedCase): readonly [string, string] => {
  const outcome = medCase.moneyOutcome ?? 'lost';
  const sentence = (medCase.held === 0 || medCase.settling === 'lost' ? OUTCOME_WITHOUT_HOLD : OUTCOME)[outcome];
  return ['Resultado da disputa', `Resultado: ${sentence}.`];
};

const heldOf = ({ held, terms: { currency } }: MedCase): string => formatAmount(held, currency, 'pt');

const held = (medCase: MedCase): readonly [string, string] => [
  'Valor retido por uma disputa',
  `Após uma análise, ${heldOf(medCase)} foram retidos até o resultado da disputa.`,
];

const opened = (medCase: MedCase, hasEnded: boolean): readonly [string, string] => [
  'Nova disputa aberta',
  [
    `O pagador contesta ${amountOf(medCase.terms)} da cobrança.`,
    medCase.terms.amountMismatch
      ? 'O valor informado difere do valor da cobrança; por isso nada foi retido.'
      : `O valor retido até o resultado da disputa é de ${heldOf(medCase)}.`,
    // The banks may have returned the money before they reported the dispute.
    ...(hasEnded ? [] : [deadline(medCase), 'Você pode contestar, aceitar e anexar provas.']),
  ].join(' '),
];

/** The events that are mailed. */
const isMailed = reading(MED_CASE.groups, {
  reads: ['course', 'deadline', 'end'],
  nothing: ['MedCaseAppealed'],
  ignores: ['evidence', 'review', 'reports', 'erasure'],
});

/** Returns subject and sentence of the mail about an event, or null if the event is not mailed. */
const newsOf = (
  type: MedCaseEvent['type'],
  medCase: MedCase,
  { hasEnded }: DisputedCharge,
): readonly [string, string] | null => {
  if (!isMailed.isRead(type)) return null;
  switch (type) {
    case 'MedCaseOpened':
      return opened(medCase, hasEnded);
    case 'MedCaseEvidenceRequested':
      return ['Provas solicitadas em uma disputa', `Pedimos que você anexe provas à disputa. ${deadline(medCase)}`];
    case 'MedCaseDeadlineNeared':
      return [
        'Prazo de uma disputa próximo do fim',
        `Falta um dia ou menos para responder à disputa de ${amountOf(medCase.terms)}. ${deadline(medCase)}`,
      ];
    case 'MedCaseAccepted':
    case 'MedCaseRejected':
    case 'MedCaseClosed':
      // For a mismatch, an operator has yet to decide about the money.
      return medCase.moneyOutcome === null ? null : ended(medCase);
    case 'MedCaseSettled':
      return medCase.moneyOutcome === null ? held(medCase) : ended(medCase);
    default:
      return type satisfies never;
  }
};

const ENTITY: { readonly [character: string]: string } = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
const escaped = (text: string): string => text.replaceAll(/[&<>"']/g, (character) => ENTITY[character] as string);

const GUIDE = 'Como responder a uma disputa';

/**
 * Returns the mail about an event, or null if the event is not mailed. `medCase` is the case after the event. `publicUrl` is the base of
 * links, without a slash at the end.
 */
export const caseMail = (
  type: MedCaseEvent['type'],
  medCase: MedCase,
  charge: DisputedCharge,
  publicUrl: string,
): Words | null => {
  const news = newsOf(type, medCase, charge);
  if (news === null) return null;
  const [title, sentence] = news;
  const mark = medCase.terms.mode === 'test' ? '[teste] ' : '';
  const facts = caseFacts(medCase, charge);
  const guide = `${publicUrl}/docs/disputes?lang=pt`;
  return {
    subject: `${mark}${title}: ${amountOf(medCase.terms)}`,
    text: `Olá,\n\n${sentence}\n\n${facts.map(([name, value]) => `${name}: ${value}`).join('\n')}\n\n${GUIDE}: ${guide}\n\nQuita\n`,
    html: `<!doctype html>
<html lang="pt-BR"><body style="font:16px/1.5 system-ui,sans-serif;color:#14201b">
<p>Olá,</p><p>${sentence}</p>
<p>${facts.map(([name, value]) => `${name}: <strong>${escaped(value)}</strong>`).join('<br>')}</p>
<p><a href="${escaped(guide)}">${GUIDE}</a></p><p>Quita</p>
</body></html>
`,
  };
};

export const mailCase = jobKind({
  name: 'mailCase',
  /** `revision` is the event's revision. */
  payload: payloadOf({ caseId: idOf<MedCaseId>(), revision: Type.Integer() }),
  subjectOf: ({ caseId, revision }) => `${caseId} ${revision}`,
});

const mail = ({ subject, revision }: { readonly subject: string; readonly revision: number }) => [
  enqueue(mailCase, { caseId: subject as MedCaseId, revision }),
];

export const caseMailing = processManager({
  name: 'caseMailing',
  movesMoney: false,
  from: 'beginning',
  reactions: {
    medCase: reacting(MED_CASE.groups, {
      reads: following(isMailed, mail),
      ignores: ['evidence', 'review', 'reports', 'erasure'],
    }),
  },
});

/** Sends the mail about an event. Idempotent: the mail's id derives from the event. */
export const sendCaseMail =
  ({
    commands,
    accounts,
    mail: sender,
    publicUrl,
  }: {
    readonly commands: CommandHandler;
    readonly accounts: Accounts;
    readonly mail: MailSender;
    /** The base of links, without a slash at the end. */
    readonly publicUrl: string;
  }) =>
  async ({ caseId, revision }: PayloadOf<typeof mailCase>): Promise<void> => {
    const stream = MED_CASE.stream(caseId);
    const step = await commands.loadStep(MED_CASE, stream, revision);
    if (step === null || step.after.status === 'absent') return;
    const medCase: MedCase = step.after;
    const { paymentId, accountId } = medCase.terms;
    const { charge, transaction } = assertExists((await commands.load(PAYMENT, PAYMENT.stream(paymentId))).state);
    const dispute = latestDispute(transaction);
    const method = dispute?.caseId === caseId ? dispute.method : null;
    const { state } = await commands.load(MED_CASE, stream);
    const hasEnded = state.status !== 'absent' && state.closedAt !== null;
    const about = { metadata: charge.terms.metadata, method, hasEnded };
    const words = caseMail(step.event.type, medCase, about, publicUrl);
    if (words === null) return;
    const { email } = await accounts.get(accountId);
    await sender.send({ id: caseMailIdOf(caseId, revision), to: email, ...words });
  };
