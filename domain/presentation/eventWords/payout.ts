// Sentences about payouts.
import { ENTERED, type EventWords, en, pt } from './words.ts';

export const PAYOUT_SENTENCES = {
  PayoutRequested: ({ amount, fee, currency, awaitsApproval }) => ({
    en: `A payout of ${en(amount, currency)} was requested, with a fee of ${en(fee, currency)}${awaitsApproval ? '. It awaits approval' : ''}.`,
    pt: `Foi pedido um saque de ${pt(amount, currency)}, com tarifa de ${pt(fee, currency)}${awaitsApproval ? '. Ele espera aprovação' : ''}.`,
  }),
  PayoutAbandoned: () => ({
    en: 'The request of the payout was interrupted. The reserved money is free again.',
    pt: 'O pedido do saque foi interrompido. O dinheiro reservado está livre de novo.',
  }),
  PayoutApproved: () => ({ en: 'The payout was approved.', pt: 'O saque foi aprovado.' }),
  PayoutRejected: ({ amount, currency }) => ({
    en: `The payout of ${en(amount, currency)} was rejected.`,
    pt: `O saque de ${pt(amount, currency)} foi rejeitado.`,
  }),
  PayoutCancelled: ({ amount, currency }) => ({
    en: `The payout of ${en(amount, currency)} was cancelled.`,
    pt: `O saque de ${pt(amount, currency)} foi cancelado.`,
  }),
  PayoutSubmitted: () => ({ en: 'The payout was sent to the bank.', pt: 'O saque foi enviado ao banco.' }),
  PayoutOutcomeUnknown: () => ({
    en: 'The bank did not report the outcome of the payout. Quita keeps asking.',
    pt: 'O banco não informou o resultado do saque. A Quita continua consultando.',
  }),
  PayoutOutcomeEntered: ({ outcome }) => ({
    en: `An operator entered the outcome of the payout: ${ENTERED[outcome].en}.`,
    pt: `Um operador informou o resultado do saque: ${ENTERED[outcome].pt}.`,
  }),
  PayoutPaid: ({ amount, currency }) => ({
    en: `The bank paid out ${en(amount, currency)}.`,
    pt: `O banco pagou o saque de ${pt(amount, currency)}.`,
  }),
  PayoutFailed: ({ amount, currency }) => ({
    en: `The bank refused the payout of ${en(amount, currency)}.`,
    pt: `O banco recusou o saque de ${pt(amount, currency)}.`,
  }),
  PayoutConfirmedLate: ({ amount, currency }) => ({
    en: `The bank paid out ${en(amount, currency)} after it had reported a failure.`,
    pt: `O banco pagou o saque de ${pt(amount, currency)} depois de ter informado uma falha.`,
  }),
} satisfies Partial<EventWords>;
