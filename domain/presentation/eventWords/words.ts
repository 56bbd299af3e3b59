// Common parts of the sentences about events: their types, amounts, and phrases that several groups of events use.
import type { EventOf } from '../../aggregates.ts';
import type { PaymentMethod } from '../../charge/methods.ts';
import { formatAmount, type Language } from '../amount.ts';

type AnyEvent = EventOf[keyof EventOf];
/** Every stored event type. */
export type EventType = AnyEvent['type'];
type DataOf<Type extends EventType> = Extract<AnyEvent, { readonly type: Type }>['data'];

/** A sentence or phrase, in every language. */
export type Words = { readonly [L in Language]: string };
/** The sentence of each event type. No sentence shows personal data. */
export type EventWords = { readonly [Type in EventType]: (data: DataOf<Type>) => Words };

export const en = (amount: number, currency: string): string => formatAmount(amount, currency, 'en');
export const pt = (amount: number, currency: string): string => formatAmount(amount, currency, 'pt');

export const METHODS: { readonly [M in PaymentMethod]: Words } = {
  PIX: { en: 'Pix', pt: 'Pix' },
  CREDIT_CARD: { en: 'credit card', pt: 'cartão de crédito' },
  MBWAY: { en: 'MB WAY', pt: 'MB WAY' },
  MULTIBANCO: { en: 'Multibanco', pt: 'Multibanco' },
  BOLETO: { en: 'boleto', pt: 'boleto' },
  CRYPTO: { en: 'crypto', pt: 'criptomoeda' },
};
export const STRATEGIES = {
  devolution: { en: 'as a Pix return', pt: 'por devolução Pix' },
  cashout: { en: 'as a new Pix', pt: 'por um novo Pix' },
  reversal: { en: 'through the acquirer', pt: 'pela adquirente' },
} as const;
export const MONEY_OUTCOMES = {
  refunded_to_merchant: { en: 'the money returns to the merchant', pt: 'o dinheiro volta para o lojista' },
  closed_without_refund: {
    en: 'the merchant does not get the money back',
    pt: 'o lojista não recebe o dinheiro de volta',
  },
  lost: { en: 'the payer gets the money', pt: 'o dinheiro fica com o pagador' },
} as const;
export const ENTERED = {
  done: { en: 'the money arrived', pt: 'o dinheiro chegou' },
  refused: { en: 'the bank did not execute it', pt: 'o banco não executou' },
} as const;
export const VERDICTS = {
  held: { en: 'the amount is held', pt: 'o valor fica retido' },
  lost: { en: 'the amount is lost', pt: 'o valor é perdido' },
  nothing: { en: 'nothing is held', pt: 'nada fica retido' },
} as const;
