// What the mails about a dispute case say, and of what (Q7).
import { expect } from 'chai';
import { caseMail } from '../../../application/disputes/caseMail.ts';
import type { CaseTerms, MedCase, MedCaseEvent, MoneyOutcome } from '../../../domain/dispute/medCase.ts';
import { toMinor } from '../../../domain/kernel/money.ts';
import { parseTimestamp } from '../../../domain/kernel/time.ts';
import { caseAfter, caseOpened } from '../../support/medCases.ts';
import { CASE_ID, PAYMENT_ID } from '../../support/samples.ts';

const OF_OTHER_AMOUNT: Partial<CaseTerms> = { amountMismatch: true };
const opened = (over: Partial<CaseTerms> = {}): MedCase => caseAfter(caseOpened(over));
/** Its first sentences: what follows the greeting. */
const sentenceOf = (type: MedCaseEvent['type'], medCase: MedCase): string | undefined =>
  caseMail(type, medCase)?.text.split('\n\n')[1];
const FACTS = `Disputa: med_${CASE_ID}\nCobrança: ch_${PAYMENT_ID}\nValor: R$ 123,45`;

describe('a mail about a dispute case', () => {
  it('has subject, sentence and facts, as text and as HTML', () => {
    const { subject, text, html } = caseMail('MedCaseOpened', opened())!;
    const sentence =
      'O valor que resta da cobrança foi retido até o resultado. O prazo de resposta não é conhecido. Você pode contestar, aceitar e anexar provas.';
    expect(subject).to.equal('[teste] Nova disputa aberta: R$ 123,45');
    expect(text).to.equal(`Olá,\n\n${sentence}\n\n${FACTS}\n\nQuita\n`);
    expect(html).to.include(`<p>Olá,</p><p>${sentence}</p>`);
    expect(html).to.include(`Disputa: <strong>med_${CASE_ID}</strong><br>`);
  });
  it('is marked as a test in the test mode alone', () => {
    expect(caseMail('MedCaseOpened', opened({ mode: 'live' }))?.subject).to.equal('Nova disputa aberta: R$ 123,45');
  });
  it('shows large amounts grouped, and other currencies by their code', () => {
    const amount = toMinor(123_456_789);
    expect(caseMail('MedCaseOpened', opened({ amount }))?.subject).to.match(/: R\$ 1\.234\.567,89$/);
    expect(caseMail('MedCaseOpened', opened({ amount, currency: 'EUR' }))?.subject).to.match(/: EUR 1\.234\.567,89$/);
  });
  it('of a reported amount that is not the charge’s says that nothing was held', () => {
    expect(sentenceOf('MedCaseOpened', opened(OF_OTHER_AMOUNT))).to.match(
      /^O valor informado difere do valor da cobrança; por isso nada foi retido\. /,
    );
  });
  it('tells the deadline in the time of Brasília', () => {
    const medCase = opened({ responseDeadline: parseTimestamp('2026-11-25T02:30:00.000Z') });
    const deadline = 'Prazo de resposta: 24/11/2026, 23:30 (horário de Brasília).';
    expect(sentenceOf('MedCaseDeadlineNeared', medCase)).to.equal(`Falta um dia para responder à disputa. ${deadline}`);
    expect(sentenceOf('MedCaseEvidenceRequested', medCase)).to.equal(
      `Pedimos que você anexe provas à disputa. ${deadline}`,
    );
  });

  const outcomes: readonly (readonly [MoneyOutcome, string, string])[] = [
    [
      'refunded_to_merchant',
      'a disputa terminou a seu favor e o valor retido voltou ao seu saldo disponível',
      'a disputa terminou a seu favor',
    ],
    [
      'closed_without_refund',
      'a disputa foi encerrada e o valor retido não foi devolvido',
      'a disputa foi encerrada sem devolução',
    ],
    [
      'lost',
      'a disputa terminou a favor do pagador e o valor retido foi devolvido a ele',
      'a disputa terminou a favor do pagador',
    ],
  ];
  for (const [moneyOutcome, held, notHeld] of outcomes)
    it(`of the outcome ${moneyOutcome} says where the money went, if any was held`, () => {
      for (const type of ['MedCaseAccepted', 'MedCaseRejected', 'MedCaseClosed'] as const) {
        const ended = { ...opened(), moneyOutcome };
        expect(caseMail(type, ended)?.subject).to.equal('[teste] Resultado da disputa: R$ 123,45');
        expect(sentenceOf(type, ended)).to.equal(`Há um resultado: ${held}.`);
        expect(sentenceOf(type, { ...opened(OF_OTHER_AMOUNT), moneyOutcome })).to.equal(`Há um resultado: ${notHeld}.`);
      }
    });
  it('is sent of nothing else', () => {
    for (const type of [
      'MedCaseAppealed',
      'MedCaseEvidenceGranted',
      'MedCaseEvidenceConfirmed',
      'MedCaseReviewRequested',
      'MedCaseReviewApproved',
      'MedCaseReviewRefused',
    ] as const)
      expect(caseMail(type, opened()), type).to.equal(null);
  });
});
