// Sentences about charges.
import { type EventWords, en, METHODS, pt } from './words.ts';

const BY = {
  merchant: { en: 'at the merchant’s request', pt: 'a pedido do lojista' },
  provider: { en: 'by the provider', pt: 'pelo provedor' },
} as const;

export const CHARGE_SENTENCES = {
  ChargeCreated: ({ amount, currency, methods, api }) => ({
    en: `The merchant asked for ${en(amount, currency)}, payable by ${methods.map((method) => METHODS[method].en).join(' or ')}, through /v1/${api}.`,
    pt: `O lojista criou uma cobrança de ${pt(amount, currency)}, a pagar por ${methods.map((method) => METHODS[method].pt).join(' ou ')}, pela rota /v1/${api}.`,
  }),
  ChargeRerouted: ({ providerErrorCode }) => ({
    en: `The provider created nothing (${providerErrorCode}), so another connection was chosen.`,
    pt: `O provedor não criou nada (${providerErrorCode}); por isso, outra conexão foi escolhida.`,
  }),
  ChargePixIssued: ({ txid, expiresAt }) => ({
    en: `The provider issued the Pix code ${txid}, valid until ${expiresAt}.`,
    pt: `O provedor emitiu o código Pix ${txid}, válido até ${expiresAt}.`,
  }),
  ChargeInstrumentIssued: ({ instrument: { method } }) => ({
    en: `The acquirer issued the ${METHODS[method].en} instrument.`,
    pt: `A adquirente emitiu os dados para o pagamento por ${METHODS[method].pt}.`,
  }),
  ChargeInstrumentRefused: ({ method, providerErrorCode }) => ({
    en: `The acquirer refused ${METHODS[method].en} (${providerErrorCode}); the other methods remain.`,
    pt: `A adquirente recusou ${METHODS[method].pt} como meio de pagamento (${providerErrorCode}); os outros continuam disponíveis.`,
  }),
  ChargeExpired: () => ({
    en: 'The charge expired unpaid. The provider confirmed it.',
    pt: 'A cobrança expirou sem pagamento. O provedor confirmou.',
  }),
  ChargeFailed: ({ providerErrorCode }) => ({
    en: `The charge failed: the provider issued nothing (${providerErrorCode}).`,
    pt: `A cobrança falhou: o provedor não emitiu nada (${providerErrorCode}).`,
  }),
  ChargeCancelRequested: () => ({
    en: 'The merchant asked to cancel the charge.',
    pt: 'O lojista pediu o cancelamento da cobrança.',
  }),
  ChargeCancelled: ({ by }) => ({
    en: `The charge was cancelled ${BY[by].en}.`,
    pt: `A cobrança foi cancelada ${BY[by].pt}.`,
  }),
  ChargeWebhookResendRequested: ({ ofRevision, isWanted }) => ({
    en: `The merchant asked to resend the webhooks of event ${ofRevision}${isWanted ? '' : '; no endpoint subscribes to them'}.`,
    pt: `O lojista pediu o reenvio dos webhooks do evento ${ofRevision}${isWanted ? '' : '; nenhum endpoint está inscrito neles'}.`,
  }),
} satisfies Partial<EventWords>;
