// Sentences about the erasure of personal data.
import type { EventWords } from './words.ts';

export const ERASURE_SENTENCES = {
  PaymentPersonalDataErased: ({ by }) => ({
    en: `The payment’s personal data was erased by ${by}.`,
    pt: `Os dados pessoais do pagamento foram apagados por ${by}.`,
  }),
  RefundPersonalDataErased: () => ({
    en: 'The refund’s personal data was erased.',
    pt: 'Os dados pessoais do estorno foram apagados.',
  }),
  PayoutPersonalDataErased: ({ by }) => ({
    en: `The payout’s personal data was erased by ${by}.`,
    pt: `Os dados pessoais do saque foram apagados por ${by}.`,
  }),
  MedCasePersonalDataErased: () => ({
    en: 'The case’s personal data was erased.',
    pt: 'Os dados pessoais do caso foram apagados.',
  }),
  WebhookDeliveryPersonalDataErased: () => ({
    en: 'The delivery’s personal data was erased.',
    pt: 'Os dados pessoais da entrega foram apagados.',
  }),
} satisfies Partial<EventWords>;
