// Sentences about refunds.
import { ENTERED, type EventWords, en, pt, STRATEGIES } from './words.ts';

export const REFUND_SENTENCES = {
  RefundRequested: ({ amount, currency, strategy }) => ({
    en: `Quita prepared the refund of ${en(amount, currency)} ${STRATEGIES[strategy].en}.`,
    pt: `A Quita preparou o estorno de ${pt(amount, currency)} ${STRATEGIES[strategy].pt}.`,
  }),
  RefundSubmitted: () => ({
    en: 'The provider accepted the refund and is processing it.',
    pt: 'O provedor aceitou o estorno e o está processando.',
  }),
  RefundOutcomeUnknown: () => ({
    en: 'The provider did not report the outcome of the refund. Quita keeps asking.',
    pt: 'O provedor não informou o resultado do estorno. A Quita continua consultando.',
  }),
  RefundOutcomeEntered: ({ outcome }) => ({
    en: `An operator entered the outcome of the refund: ${ENTERED[outcome].en}.`,
    pt: `Um operador informou o resultado do estorno: ${ENTERED[outcome].pt}.`,
  }),
  RefundCompleted: () => ({ en: 'The provider confirmed the refund.', pt: 'O provedor confirmou o estorno.' }),
  RefundConfirmedLate: () => ({
    en: 'The provider confirmed the refund after it had failed.',
    pt: 'O provedor confirmou o estorno depois de ele ter falhado.',
  }),
  RefundFailed: () => ({ en: 'The provider refused the refund.', pt: 'O provedor recusou o estorno.' }),
} satisfies Partial<EventWords>;
