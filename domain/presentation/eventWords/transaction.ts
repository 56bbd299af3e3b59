// Sentences about the money of a payment: received, held, returned, refunded, disputed.
import type { CaseChange } from '../../dispute/snapshot.ts';
import { most, negate } from '../../kernel/money.ts';
import {
  ENTERED,
  type EventWords,
  en,
  METHODS,
  MONEY_OUTCOMES,
  pt,
  STRATEGIES,
  VERDICTS,
  type Words,
} from './words.ts';

/** The central bank's natures of a Pix return. */
const NATURES = {
  ordinary: { en: 'in the bank’s own application', pt: 'pelo aplicativo do próprio banco' },
  withdrawal: { en: 'as the return of a Pix Saque or Pix Troco', pt: 'como devolução de um Pix Saque ou Pix Troco' },
  medOperational: { en: 'by the MED, after an operational failure', pt: 'pelo MED, por falha operacional' },
  medFraud: { en: 'by the MED, on suspicion of fraud', pt: 'pelo MED, por suspeita de fraude' },
  medAutomatic: { en: 'by the MED, for a Pix Automático', pt: 'pelo MED, por um Pix Automático' },
} as const;
const REJECTIONS = {
  wrong_amount: { en: 'the amount is wrong', pt: 'o valor está errado' },
  second_payment: { en: 'the charge was already paid', pt: 'a cobrança já estava paga' },
  charge_ended: { en: 'the charge had ended', pt: 'a cobrança já estava encerrada' },
  payer_mismatch: { en: 'the payer is not the expected one', pt: 'o pagador não é o esperado' },
} as const;
const RETURNED_BECAUSE = {
  operator: { en: 'an operator decided so', pt: 'um operador decidiu assim' },
  cancelled: { en: 'the charge was cancelled', pt: 'a cobrança foi cancelada' },
} as const;
const KINDS = {
  CHARGEBACK: { en: 'chargeback', pt: 'um chargeback' },
  DISPUTE: { en: 'dispute', pt: 'uma disputa' },
} as const;
const CHANGES: { readonly [C in CaseChange]: Words } = {
  opened: { en: 'opened', pt: 'aberto' },
  evidence_requested: { en: 'evidence requested', pt: 'provas pedidas' },
  appealed: { en: 'appealed', pt: 'contestado' },
  accepted: { en: 'accepted', pt: 'aceito' },
  rejected: { en: 'rejected', pt: 'decidido a favor do pagador' },
  closed: { en: 'closed', pt: 'encerrado' },
  settled: { en: 'settled', pt: 'valor divergente resolvido' },
  reported: { en: 'reported', pt: 'novo aviso do banco' },
};

export const TRANSACTION_SENTENCES = {
  TransactionProcessing: ({ method }) => ({
    en: `The payer began to pay by ${METHODS[method].en}.`,
    pt: `O pagador começou a pagar por ${METHODS[method].pt}.`,
  }),
  TransactionRefused: ({ method, providerErrorCode, isFinal }) => ({
    en: `The ${METHODS[method].en} payment was declined (${providerErrorCode})${isFinal ? '; no method remains' : ''}.`,
    pt: `O pagamento por ${METHODS[method].pt} foi recusado (${providerErrorCode})${isFinal ? '; não resta outro meio de pagamento' : ''}.`,
  }),
  TransactionSettled: ({ incoming, method, currency, netAmount, availableAt }) => ({
    en:
      `The payer paid ${en(incoming.amount, currency)} by ${METHODS[method].en}. ` +
      `After fees, ${en(netAmount, currency)} belongs to the merchant${availableAt === null ? '' : `, available from ${availableAt}`}.`,
    pt:
      `O pagador pagou ${pt(incoming.amount, currency)} por ${METHODS[method].pt}. ` +
      `Descontadas as tarifas, o lojista fica com ${pt(netAmount, currency)}${availableAt === null ? '' : `, a liberar em ${availableAt}`}.`,
  }),
  TransactionHeld: ({ incoming, currency }) => ({
    en: `${en(incoming.amount, currency)} arrived without a payer’s document. It is held until an operator decides.`,
    pt: `Chegou um pagamento de ${pt(incoming.amount, currency)} sem o documento do pagador. O valor fica retido até um operador decidir.`,
  }),
  TransactionHeldReleased: ({ amount, currency }) => ({
    en: `An operator released the held ${en(amount, currency)}.`,
    pt: `Um operador liberou o valor retido de ${pt(amount, currency)}.`,
  }),
  TransactionHeldRejected: ({ amount, currency, reason }) => ({
    en: `The held ${en(amount, currency)} is to be returned, because ${RETURNED_BECAUSE[reason].en}.`,
    pt: `O valor retido de ${pt(amount, currency)} será devolvido, porque ${RETURNED_BECAUSE[reason].pt}.`,
  }),
  TransactionPaymentRejected: ({ incoming, currency, reason }) => ({
    en: `${en(incoming.amount, currency)} arrived but is not credited: ${REJECTIONS[reason].en}. It is owed to the payer.`,
    pt: `Chegou um pagamento de ${pt(incoming.amount, currency)} que não é creditado: ${REJECTIONS[reason].pt}. O valor é devido ao pagador.`,
  }),
  TransactionPaymentReturned: ({ amount, currency }) => ({
    en: `The provider returned ${en(amount, currency)} to the payer.`,
    pt: `O provedor devolveu ${pt(amount, currency)} ao pagador.`,
  }),
  TransactionReturnRefused: ({ amount, currency }) => ({
    en: `The provider refused to return ${en(amount, currency)}. An operator must decide.`,
    pt: `O provedor recusou a devolução de ${pt(amount, currency)}. Um operador precisa decidir.`,
  }),
  TransactionReturnRetried: () => ({
    en: 'An operator requested the refused return again.',
    pt: 'Um operador pediu de novo a devolução recusada.',
  }),
  TransactionReturnOutcomeUnknown: () => ({
    en: 'The provider did not report the outcome of the return. Quita keeps asking.',
    pt: 'O provedor não informou o resultado da devolução. A Quita continua consultando.',
  }),
  TransactionReturnOutcomeEntered: ({ outcome }) => ({
    en: `An operator entered the outcome of the return: ${ENTERED[outcome].en}.`,
    pt: `Um operador informou o resultado da devolução: ${ENTERED[outcome].pt}.`,
  }),
  TransactionReturnedOutside: ({ amount, currency, nature }) => ({
    en: `${en(amount, currency)} was returned to the payer ${NATURES[nature].en}, not through Quita.`,
    pt: `O pagador recebeu ${pt(amount, currency)} de volta ${NATURES[nature].pt}, fora da Quita.`,
  }),
  TransactionHeldPayoutRequested: ({ amount, currency }) => ({
    en: `An operator decided to pay ${en(amount, currency)} out to a Pix key, because the return was refused.`,
    pt: `Um operador decidiu enviar ${pt(amount, currency)} a uma chave Pix, porque a devolução foi recusada.`,
  }),
  TransactionHeldPayoutPaid: ({ amount, currency }) => ({
    en: `The Pix of ${en(amount, currency)} in place of the return arrived.`,
    pt: `O Pix de ${pt(amount, currency)} enviado no lugar da devolução chegou.`,
  }),
  TransactionHeldPayoutFailed: () => ({
    en: 'The provider refused the Pix in place of the return.',
    pt: 'O provedor recusou o Pix enviado no lugar da devolução.',
  }),
  TransactionHeldWrittenOff: ({ amount, currency }) => ({
    en: `An operator wrote off ${en(amount, currency)}, which becomes the platform’s.`,
    pt: `Um operador deu baixa em ${pt(amount, currency)}; o valor fica com a plataforma.`,
  }),
  TransactionReturnConfirmedLate: ({ amount, currency }) => ({
    en: `The provider confirmed the return of ${en(amount, currency)} after it had refused it. The platform claims the amount back.`,
    pt: `O provedor confirmou a devolução de ${pt(amount, currency)} depois de tê-la recusado. A plataforma pede o valor de volta.`,
  }),
  TransactionRefundConfirmedLate: ({ amount, currency }) => ({
    en: `The provider confirmed the refund of ${en(amount, currency)} after it had failed. The platform claims the amount back.`,
    pt: `O provedor confirmou o estorno de ${pt(amount, currency)} depois de ele ter falhado. A plataforma pede o valor de volta.`,
  }),
  TransactionLateConfirmationWrittenOff: ({ amount, currency }) => ({
    en: `An operator wrote off the claim of ${en(amount, currency)}; the platform bears it.`,
    pt: `Um operador deu baixa no valor a recuperar de ${pt(amount, currency)}; a plataforma assume a perda.`,
  }),
  TransactionFundsReleased: ({ amount, currency }) => ({
    en: `${en(amount, currency)} became available to the merchant.`,
    pt: `O valor de ${pt(amount, currency)} ficou disponível para o lojista.`,
  }),
  TransactionRefundReserved: ({ amount, currency, strategy }) => ({
    en: `The merchant asked to refund ${en(amount, currency)} ${STRATEGIES[strategy].en}. The amount left the wallet.`,
    pt: `O lojista pediu o estorno de ${pt(amount, currency)} ${STRATEGIES[strategy].pt}. O valor saiu da carteira.`,
  }),
  TransactionRefundCompleted: ({ amount, currency }) => ({
    en: `The payer got the refund of ${en(amount, currency)}.`,
    pt: `O pagador recebeu o estorno de ${pt(amount, currency)}.`,
  }),
  TransactionRefundReleased: ({ amount, currency }) => ({
    en: `The refund of ${en(amount, currency)} failed. The amount is back in the wallet.`,
    pt: `O estorno de ${pt(amount, currency)} falhou. O valor voltou para a carteira.`,
  }),
  TransactionDisputeOpened: ({ kind, amount, currency, amountMismatch }) => ({
    en: `The payer opened a ${KINDS[kind].en}. ${
      amountMismatch ? 'The reported amount differs, so nothing is held yet.' : `${en(amount, currency)} is held.`
    }`,
    pt: `O pagador abriu ${KINDS[kind].pt}. ${
      amountMismatch
        ? 'O valor informado é diferente; por isso, nada fica retido por enquanto.'
        : `O valor de ${pt(amount, currency)} fica retido.`
    }`,
  }),
  TransactionDisputeUpdated: ({ change }) => ({
    en: `The dispute case changed: ${CHANGES[change].en}.`,
    pt: `O caso da disputa mudou: ${CHANGES[change].pt}.`,
  }),
  TransactionDisputeSettled: ({ verdict, amount, currency }) => ({
    en: `An operator settled the differing amount of the dispute: ${VERDICTS[verdict].en}${verdict === 'nothing' ? '' : ` (${en(amount, currency)})`}.`,
    pt: `Um operador decidiu sobre o valor divergente da disputa: ${VERDICTS[verdict].pt}${verdict === 'nothing' ? '' : ` (${pt(amount, currency)})`}.`,
  }),
  TransactionDisputeReturned: ({ amount, currency }) => ({
    en: `The bank paid ${en(amount, currency)} of the dispute to the payer.`,
    pt: `O banco pagou ao pagador ${pt(amount, currency)} da disputa.`,
  }),
  TransactionDisputeReturnCounted: ({ amount, posted, currency }) =>
    amount >= 0
      ? {
          en: `The return outside Quita counts as that of the dispute (${en(most(amount, posted), currency)}).`,
          pt: `A devolução fora da Quita conta como a da disputa (${pt(most(amount, posted), currency)}).`,
        }
      : {
          en: `The banks returned more than the lost dispute took (${en(negate(amount), currency)}).`,
          pt: `Os bancos devolveram mais do que a disputa perdida levou (${pt(negate(amount), currency)}).`,
        },
  TransactionDisputeResolved: ({ moneyOutcome }) => ({
    en: `The dispute ended: ${MONEY_OUTCOMES[moneyOutcome].en}.`,
    pt: `A disputa terminou: ${MONEY_OUTCOMES[moneyOutcome].pt}.`,
  }),
} satisfies Partial<EventWords>;
