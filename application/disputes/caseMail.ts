// The mails about a dispute case, in Portuguese. Nothing that somebody typed stands in them (Q7).
import type { MedCase, MedCaseEvent, MoneyOutcome } from '../../domain/dispute/medCase.ts';
import { PREFIX } from '../../domain/kernel/ids.ts';
import { decimalText } from '../../domain/kernel/money.ts';
import { type Timestamp, toMillis } from '../../domain/kernel/time.ts';
import type { Mail } from '../ports/mail.ts';

type Words = Pick<Mail, 'subject' | 'text' | 'html'>;

const OUTCOME: { readonly [O in MoneyOutcome]: string } = {
  refunded_to_merchant: 'a disputa terminou a seu favor e o valor retido voltou ao seu saldo disponível',
  closed_without_refund: 'a disputa foi encerrada e o valor retido não foi devolvido',
  lost: 'a disputa terminou a favor do pagador e o valor retido foi devolvido a ele',
};
/** Of a case whose reported amount is not the charge's: nothing was held. */
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
const SYMBOL: { readonly [currency: string]: string } = { BRL: 'R$' };
const amountOf = ({ amount, currency }: MedCase['terms']): string =>
  `${SYMBOL[currency] ?? currency} ${decimalText(amount, 2, { point: ',', group: '.' })}`;

const deadline = ({ terms: { responseDeadline } }: MedCase): string =>
  responseDeadline === null
    ? 'O prazo de resposta não é conhecido.'
    : `Prazo de resposta: ${instant(responseDeadline)}.`;

const ended = (medCase: MedCase): readonly [string, string] => {
  const outcome = medCase.moneyOutcome ?? 'lost';
  const sentence = (medCase.terms.amountMismatch ? OUTCOME_WITHOUT_HOLD : OUTCOME)[outcome];
  return ['Resultado da disputa', `Há um resultado: ${sentence}.`];
};

/** Subject and sentence of what happened; null: no mail tells of it. */
const newsOf = (type: MedCaseEvent['type'], medCase: MedCase): readonly [string, string] | null => {
  switch (type) {
    case 'MedCaseOpened':
      return [
        'Nova disputa aberta',
        `${
          medCase.terms.amountMismatch
            ? 'O valor informado difere do valor da cobrança; por isso nada foi retido.'
            : 'O valor que resta da cobrança foi retido até o resultado.'
        } ${deadline(medCase)} Você pode contestar, aceitar e anexar provas.`,
      ];
    case 'MedCaseEvidenceRequested':
      return ['Provas solicitadas em uma disputa', `Pedimos que você anexe provas à disputa. ${deadline(medCase)}`];
    case 'MedCaseDeadlineNeared':
      return ['Prazo de uma disputa perto do fim', `Falta um dia para responder à disputa. ${deadline(medCase)}`];
    case 'MedCaseAccepted':
    case 'MedCaseRejected':
    case 'MedCaseClosed':
      return ended(medCase);
    case 'MedCaseAppealed':
    case 'MedCaseEvidenceGranted':
    case 'MedCaseEvidenceConfirmed':
    case 'MedCaseReviewRequested':
    case 'MedCaseReviewApproved':
    case 'MedCaseReviewRefused':
      return null;
    default:
      return type satisfies never;
  }
};

/** `medCase`: as it is after the event. null: no mail tells of such an event. */
export const caseMail = (type: MedCaseEvent['type'], medCase: MedCase): Words | null => {
  const news = newsOf(type, medCase);
  if (news === null) return null;
  const { caseId, paymentId, mode } = medCase.terms;
  const [title, sentence] = news;
  const mark = mode === 'test' ? '[teste] ' : '';
  const facts = [
    ['Disputa', PREFIX.medCase + caseId],
    ['Cobrança', PREFIX.charge + paymentId],
    ['Valor', amountOf(medCase.terms)],
  ] as const;
  return {
    subject: `${mark}${title}: ${amountOf(medCase.terms)}`,
    text: `Olá,\n\n${sentence}\n\n${facts.map(([name, value]) => `${name}: ${value}`).join('\n')}\n\nQuita\n`,
    html: `<!doctype html>
<html lang="pt-BR"><body style="font:16px/1.5 system-ui,sans-serif;color:#14201b">
<p>Olá,</p><p>${sentence}</p>
<p>${facts.map(([name, value]) => `${name}: <strong>${value}</strong>`).join('<br>')}</p><p>Quita</p>
</body></html>
`,
  };
};
