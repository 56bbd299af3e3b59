// The text of the emails about a dispute case, and the events that send one (Q7).

import { expect } from 'chai';
import fc from 'fast-check';
import { caseMail, type DisputedCharge } from '../../../application/disputes/caseMails.ts';
import type { CaseTerms, MedCase, MedCaseEvent, MoneyOutcome } from '../../../domain/dispute/medCase.ts';
import { toMinor, ZERO } from '../../../domain/kernel/money.ts';
import { CASE_ID, PAYMENT_ID } from '../../support/samples.ts';
import { parseTimestamp } from '../../support/timestamp.ts';
import { caseAfter, caseOpened } from '../../world/medCases.ts';

const OF_OTHER_AMOUNT: Partial<CaseTerms> = { amountMismatch: true, held: ZERO };
const opened = (over: Partial<CaseTerms> = {}): MedCase => caseAfter(caseOpened(over));
const PUBLIC_URL = 'https://pay.example.com';
const CHARGE: DisputedCharge = { metadata: {}, method: null, hasEnded: false };
const mailOf = (type: MedCaseEvent['type'], medCase: MedCase, charge: Partial<DisputedCharge> = {}) =>
  caseMail(type, medCase, { ...CHARGE, ...charge }, PUBLIC_URL);
/** Returns the first sentences after the greeting. */
const sentenceOf = (type: MedCaseEvent['type'], medCase: MedCase): string | undefined =>
  mailOf(type, medCase)?.text.split('\n\n')[1];
/** Returns the lines of the email for an opened case that list the case’s facts. */
const factsOf = (terms: Partial<CaseTerms>, charge: Partial<DisputedCharge>): readonly string[] =>
  mailOf('MedCaseOpened', opened(terms), charge)!.text.split('\n\n')[2]!.split('\n');
const FACTS = `Disputa: med_${CASE_ID}\nCobrança: ch_${PAYMENT_ID}\nValor: R$ 123,45\nMotivo: fraud`;
const GUIDE = `${PUBLIC_URL}/docs/disputes?lang=pt`;

describe('an email about a dispute case', () => {
  it('has a subject, a sentence and facts, as text and as HTML', () => {
    const { subject, text, html } = mailOf('MedCaseOpened', opened())!;
    const sentence =
      'O pagador contesta R$ 123,45 da cobrança. O valor retido até o resultado da disputa é de R$ 123,45. O prazo de resposta não foi informado. Você pode contestar, aceitar e anexar provas.';
    expect(subject).to.equal('[teste] Nova disputa aberta: R$ 123,45');
    expect(text).to.equal(`Olá,\n\n${sentence}\n\n${FACTS}\n\nComo responder a uma disputa: ${GUIDE}\n\nQuita\n`);
    expect(html).to.include(`<p>Olá,</p><p>${sentence}</p>`);
    expect(html).to.include(`Disputa: <strong>med_${CASE_ID}</strong><br>`);
    expect(html).to.include(`<p><a href="${GUIDE}">Como responder a uma disputa</a></p>`);
  });
  it('shows the merchant’s order number and description', () => {
    const description = 'Two coffees';
    for (const [metadata, lines] of [
      [{ order_id: 'A-1001', description }, ['Pedido: A-1001', 'Descrição: Two coffees']],
      [{ order: 'C', orderId: 'B', order_id: 'A' }, ['Pedido: A']],
      [{ order: 'other', orderId: 1001 }, ['Pedido: 1001']],
      [{ order_id: '', order: 'A-7' }, ['Pedido: A-7']],
      [{ order_id: { nested: true }, description: 7 }, ['Descrição: 7']],
      [{}, []],
    ] as const)
      expect(factsOf({}, { metadata }).slice(2, -2), JSON.stringify(metadata)).to.deep.equal(lines);
  });
  it('shows the payer’s reason and the bank’s text', () => {
    for (const [reason, method, line] of [
      ['Never arrived', 'scam', 'Motivo: golpe: Never arrived'],
      ['Never arrived', 'other', 'Motivo: Never arrived'],
      [null, 'unauthorized', 'Motivo: transação não autorizada'],
      [null, 'coercion', 'Motivo: coação'],
      [null, 'invasion', 'Motivo: invasão de conta'],
      [null, 'other', 'Motivo: não informado'],
      [' \n', null, 'Motivo: não informado'],
    ] as const)
      expect(factsOf({ reason }, { method }).at(-1)).to.equal(line);
  });
  it('shows foreign text as one short line without markup', () => {
    const reason = 'a\r\nBcc: x@example.com\u202eb\u0000<img src="x">&\'';
    const metadata = { description: `${'é'.repeat(201)}` };
    const { text, html } = mailOf('MedCaseOpened', opened({ reason }), { metadata })!;
    expect(text.split('\n')).to.include('Motivo: a Bcc: x@example.comb <img src="x">&\'');
    expect(html).to.include('<strong>a Bcc: x@example.comb &lt;img src=&quot;x&quot;&gt;&amp;&#39;</strong>');
    expect(text.split('\n')).to.include(`Descrição: ${'é'.repeat(200)}…`);
    expect(factsOf({}, { metadata: { description: 'é'.repeat(200) } })[2]).to.equal(`Descrição: ${'é'.repeat(200)}`);
  });
  it('has as many lines as facts for any text (law)', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 2_000 }), (text) => {
        const facts = factsOf({ reason: text }, { metadata: { order_id: text, description: text } });
        expect(facts.map((line) => line.split(':')[0])).to.include.members(['Disputa', 'Cobrança', 'Valor', 'Motivo']);
        expect(facts.length).to.be.oneOf([4, 6]);
        for (const line of facts) expect(line).to.match(/^[^\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]+$/u);
      }),
    );
  });
  it('is marked as a test only in test mode', () => {
    expect(mailOf('MedCaseOpened', opened({ mode: 'live' }))?.subject).to.equal('Nova disputa aberta: R$ 123,45');
  });
  it('groups the digits of large amounts and uses the symbol of other currencies', () => {
    const amount = toMinor(123_456_789);
    expect(mailOf('MedCaseOpened', opened({ amount }))?.subject).to.match(/: R\$ 1\.234\.567,89$/);
    expect(mailOf('MedCaseOpened', opened({ amount, currency: 'EUR' }))?.subject).to.match(/: € 1\.234\.567,89$/);
  });
  it('says that nothing was held if the reported amount differs from the charge’s', () => {
    expect(sentenceOf('MedCaseOpened', opened(OF_OTHER_AMOUNT))).to.match(
      /^O pagador contesta R\$ 123,45 da cobrança\. O valor informado difere do valor da cobrança; por isso nada foi retido\. /,
    );
  });
  it('shows the disputed amount and the held amount', () => {
    for (const [amount, held, amounts] of [
      [5_000, 5_000, ['R$ 50,00', 'R$ 50,00']],
      [12_345, 5_000, ['R$ 123,45', 'R$ 50,00']],
    ] as const) {
      const medCase = opened({ amount: toMinor(amount), held: toMinor(held) });
      const sentence = `O pagador contesta ${amounts[0]} da cobrança. O valor retido até o resultado da disputa é de ${amounts[1]}. `;
      expect(sentenceOf('MedCaseOpened', medCase)?.startsWith(sentence)).to.equal(true);
      expect(sentenceOf('MedCaseDeadlineNeared', medCase)).to.include(` à disputa de ${amounts[0]}. `);
    }
  });
  it('does not ask for a response if the case has already ended', () => {
    const part = opened({ amount: toMinor(5_000), held: toMinor(5_000) });
    expect(mailOf('MedCaseOpened', part, { hasEnded: true })?.text.split('\n\n')[1]).to.equal(
      'O pagador contesta R$ 50,00 da cobrança. O valor retido até o resultado da disputa é de R$ 50,00.',
    );
  });
  it('shows the deadline in Brasília time', () => {
    const medCase = opened({ responseDeadline: parseTimestamp('2026-11-25T02:30:00.000Z') });
    const deadline = 'Prazo de resposta: 24/11/2026, 23:30 (horário de Brasília).';
    expect(sentenceOf('MedCaseDeadlineNeared', medCase)).to.equal(
      `Falta um dia ou menos para responder à disputa de R$ 123,45. ${deadline}`,
    );
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
      'a disputa terminou a favor do pagador e o valor retido não volta ao seu saldo',
      'a disputa terminou a favor do pagador',
    ],
  ];
  for (const [moneyOutcome, held, notHeld] of outcomes)
    it(`says where the money went for the outcome ${moneyOutcome}, if any was held`, () => {
      for (const type of ['MedCaseAccepted', 'MedCaseRejected', 'MedCaseClosed'] as const) {
        const ended = { ...opened(), moneyOutcome };
        expect(mailOf(type, ended)?.subject).to.equal('[teste] Resultado da disputa: R$ 123,45');
        expect(sentenceOf(type, ended)).to.equal(`Resultado: ${held}.`);
        expect(sentenceOf(type, { ...opened(OF_OTHER_AMOUNT), moneyOutcome })).to.equal(`Resultado: ${notHeld}.`);
      }
    });
  it('shows the amount of a hold that an operator decided', () => {
    const settled = { ...opened({ amountMismatch: true }), held: toMinor(123_456) };
    expect(sentenceOf('MedCaseSettled', settled)).to.equal(
      'Após uma análise, R$ 1.234,56 foram retidos até o resultado da disputa.',
    );
  });
  it('is not sent for other events', () => {
    for (const type of [
      'MedCaseAppealed',
      'MedCaseEvidenceConfirmed',
      'MedCaseReviewRequested',
      'MedCaseReviewApproved',
      'MedCaseReviewRefused',
    ] as const)
      expect(mailOf(type, opened()), type).to.equal(null);
  });
});
