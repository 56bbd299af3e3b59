// Mails about a dispute case, in Portuguese: the news, the facts of the case, and a link to the guide (Q7).
import { MED_CASE } from '../../domain/dispute/aggregate.ts';
import type { MedCase, MedCaseEvent, MoneyOutcome } from '../../domain/dispute/medCase.ts';
import { reading } from '../../domain/kernel/eventGroups.ts';
import { type Timestamp, toMillis } from '../../domain/kernel/time.ts';
import { formatAmount } from '../../domain/presentation/amount.ts';
import type { Mail } from '../ports/mail.ts';
import { caseFacts, type DisputedCharge } from './caseFacts.ts';

type Words = Pick<Mail, 'subject' | 'text' | 'html'>;

const OUTCOME: { readonly [O in MoneyOutcome]: string } = {
  refunded_to_merchant: 'a disputa terminou a seu favor e o valor retido voltou ao seu saldo disponível',
  closed_without_refund: 'a disputa foi encerrada e o valor retido não foi devolvido',
  lost: 'a disputa terminou a favor do pagador e o valor retido foi devolvido a ele',
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

const held = ({ held: amount, terms: { currency } }: MedCase): readonly [string, string] => [
  'Valor retido por uma disputa',
  `Após uma análise, ${formatAmount(amount, currency, 'pt')} foram retidos até o resultado da disputa.`,
];

/** The events that are mailed. */
export const isMailed = reading(MED_CASE.groups, {
  reads: ['course', 'deadline', 'end'],
  nothing: ['MedCaseAppealed'],
  ignores: ['evidence', 'review', 'reports', 'erasure'],
});

/** Returns subject and sentence of the mail about an event, or null if the event is not mailed. */
const newsOf = (type: MedCaseEvent['type'], medCase: MedCase): readonly [string, string] | null => {
  if (!isMailed.isRead(type)) return null;
  switch (type) {
    case 'MedCaseOpened':
      return [
        'Nova disputa aberta',
        `${
          medCase.terms.amountMismatch
            ? 'O valor informado difere do valor da cobrança; por isso nada foi retido.'
            : 'O valor restante da cobrança foi retido até o resultado da disputa.'
        } ${deadline(medCase)} Você pode contestar, aceitar e anexar provas.`,
      ];
    case 'MedCaseEvidenceRequested':
      return ['Provas solicitadas em uma disputa', `Pedimos que você anexe provas à disputa. ${deadline(medCase)}`];
    case 'MedCaseDeadlineNeared':
      return ['Prazo de uma disputa próximo do fim', `Falta um dia para responder à disputa. ${deadline(medCase)}`];
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
  const news = newsOf(type, medCase);
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
