// Sentences about dispute cases.
import type { NotTakenBecause } from '../../dispute/medCase.ts';
import { type EventWords, en, MONEY_OUTCOMES, pt, VERDICTS, type Words } from './words.ts';

const RESULTS = {
  agreed: { en: 'for the payer', pt: 'a favor do pagador' },
  disagreed: { en: 'for the merchant', pt: 'a favor do lojista' },
  withdrawn: { en: 'nothing: the payer withdrew', pt: 'encerrar o caso, porque o pagador desistiu' },
} as const;
const ENDINGS = {
  withdrawn: { en: 'the payer withdrew', pt: 'o pagador desistiu' },
  disagreed: { en: 'the bank ruled for the merchant', pt: 'o banco decidiu a favor do lojista' },
} as const;
const UPLOADERS = {
  merchant: { en: 'The merchant', pt: 'O lojista' },
  partner: { en: 'The partner', pt: 'O parceiro' },
  platform: { en: 'The platform', pt: 'A plataforma' },
} as const;
const BECAUSE: { readonly [B in NotTakenBecause]: Words } = {
  not_paid: { en: 'not paid', pt: 'não foi pago' },
  held_for_review: { en: 'held for review', pt: 'está retido para análise' },
  being_returned: { en: 'being returned', pt: 'está sendo devolvido' },
  case_open: { en: 'case open', pt: 'já tem um caso aberto' },
  mismatch_not_settled: { en: 'mismatch not settled', pt: 'tem um valor divergente a decidir' },
  other_method: { en: 'other method', pt: 'é por outro meio de pagamento' },
  returned: { en: 'returned', pt: 'foi devolvido' },
  refunded: { en: 'refunded', pt: 'foi estornado' },
  lost_before: { en: 'lost before', pt: 'já foi perdido em outra disputa' },
  exceeds_rest: { en: 'exceeds rest', pt: 'tem um valor restante menor' },
};

export const DISPUTE_SENTENCES = {
  MedCaseOpened: ({ amount, currency, responseDeadline }) => ({
    en: `The bank reported a dispute of ${en(amount, currency)}${responseDeadline === null ? '' : `, to be answered by ${responseDeadline}`}.`,
    pt: `O banco informou uma disputa de ${pt(amount, currency)}${responseDeadline === null ? '' : `, a responder até ${responseDeadline}`}.`,
  }),
  MedCaseReportNotTaken: ({ amount, currency, because, isFinal }) => ({
    en: `The bank reported a dispute of ${en(amount, currency)}, which the payment ${isFinal ? 'refused' : 'does not accept yet'} (${BECAUSE[because].en}).`,
    pt: `O banco informou uma disputa de ${pt(amount, currency)}. O pagamento ${isFinal ? 'a recusou' : 'ainda não a aceita'}: ${BECAUSE[because].pt}.`,
  }),
  MedCaseReportDismissed: () => ({
    en: 'An operator dismissed the bank’s report.',
    pt: 'Um operador descartou o aviso do banco.',
  }),
  MedCaseSettled: ({ verdict }) => ({
    en: `An operator settled the differing amount: ${VERDICTS[verdict].en}.`,
    pt: `Um operador decidiu sobre o valor divergente: ${VERDICTS[verdict].pt}.`,
  }),
  MedCaseLateReported: ({ result, contradicts }) => ({
    en: `The bank reported after the end: it ruled ${RESULTS[result].en}${contradicts ? ', which contradicts the end' : ''}.`,
    pt: `O banco avisou depois do fim: decidiu ${RESULTS[result].pt}${contradicts ? ', o que contradiz o fim' : ''}.`,
  }),
  MedCaseMoneyReturned: () => ({
    en: 'The banks returned a part of the money to the payer.',
    pt: 'Os bancos devolveram uma parte do dinheiro ao pagador.',
  }),
  MedCaseEvidenceRequested: () => ({
    en: 'The platform asked the merchant for evidence.',
    pt: 'A plataforma pediu provas ao lojista.',
  }),
  MedCaseDeadlineNeared: () => ({
    en: 'One day remained to answer; the merchant was reminded.',
    pt: 'Faltava um dia para responder; o lojista recebeu um lembrete.',
  }),
  MedCaseEvidenceConfirmed: ({ uploadedBy, fileSize, sha256 }) => ({
    en: `${UPLOADERS[uploadedBy].en} uploaded evidence of ${fileSize} bytes (SHA-256 ${sha256}).`,
    pt: `${UPLOADERS[uploadedBy].pt} enviou uma prova de ${fileSize} bytes (SHA-256 ${sha256}).`,
  }),
  MedCaseAppealed: () => ({ en: 'The merchant contested the dispute.', pt: 'O lojista contestou a disputa.' }),
  MedCaseAccepted: () => ({ en: 'The merchant accepted the dispute.', pt: 'O lojista aceitou a disputa.' }),
  MedCaseReviewRequested: ({ result }) => ({
    en: `The bank ruled ${RESULTS[result].en}. An operator must review the ruling.`,
    pt: `O banco decidiu ${RESULTS[result].pt}. Um operador precisa analisar a decisão.`,
  }),
  MedCaseReviewApproved: () => ({
    en: 'An operator approved the ruling.',
    pt: 'Um operador aprovou a decisão do banco.',
  }),
  MedCaseReviewRefused: () => ({
    en: 'An operator refused the ruling; the case goes on.',
    pt: 'Um operador recusou a decisão do banco; o caso continua.',
  }),
  MedCaseRejected: () => ({
    en: 'The case ended: the bank ruled for the payer.',
    pt: 'O caso terminou: o banco decidiu a favor do pagador.',
  }),
  MedCaseClosed: ({ because, moneyOutcome }) => ({
    en: `The case ended: ${ENDINGS[because].en}; ${MONEY_OUTCOMES[moneyOutcome].en}.`,
    pt: `O caso terminou: ${ENDINGS[because].pt}; ${MONEY_OUTCOMES[moneyOutcome].pt}.`,
  }),
} satisfies Partial<EventWords>;
