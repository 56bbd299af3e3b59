// The names of payment methods for payers.
import type { PaymentMethod } from '../../domain/charge/methods.ts';

export const METHOD_NAME: { readonly [Method in PaymentMethod]: string } = {
  PIX: 'Pix',
  CREDIT_CARD: 'Cartão de crédito',
  MBWAY: 'MB WAY',
  MULTIBANCO: 'Multibanco',
  BOLETO: 'Boleto',
  CRYPTO: 'Criptomoeda',
};

const BRANDS: readonly PaymentMethod[] = ['PIX', 'MBWAY', 'MULTIBANCO'];

/** Returns a method's name for use within a sentence: `boleto`, but `Pix`. */
export const methodInSentence = (method: PaymentMethod): string =>
  BRANDS.includes(method) ? METHOD_NAME[method] : METHOD_NAME[method].toLowerCase();
