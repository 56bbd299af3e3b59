// The ways to pay, and what each takes (rules I4, P1, P5).
import { AMOUNT_MAX } from '../kernel/money.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../kernel/time.ts';

export const PAYMENT_METHODS = ['PIX', 'CREDIT_CARD', 'MBWAY', 'MULTIBANCO', 'BOLETO', 'CRYPTO'] as const;
export type PaymentMethod = (typeof PAYMENT_METHODS)[number];

interface MethodRules {
  readonly currencies: readonly string[];
  /** Minor units. */
  readonly amountMax: number;
  /** How long its instrument can be paid; null: the account's charge window. */
  readonly lifetimeMs: number | null;
}

export const METHOD_RULES: { readonly [Method in PaymentMethod]: MethodRules } = {
  PIX: { currencies: ['BRL'], amountMax: AMOUNT_MAX, lifetimeMs: null },
  CREDIT_CARD: { currencies: ['BRL', 'EUR', 'USD'], amountMax: AMOUNT_MAX, lifetimeMs: 30 * MINUTE_MS },
  MBWAY: { currencies: ['EUR'], amountMax: AMOUNT_MAX, lifetimeMs: 30 * MINUTE_MS },
  MULTIBANCO: { currencies: ['EUR'], amountMax: 99_999_999, lifetimeMs: 3 * DAY_MS },
  BOLETO: { currencies: ['BRL'], amountMax: 9_999_999_999, lifetimeMs: 3 * DAY_MS },
  CRYPTO: { currencies: ['USDT', 'USDC', 'BTC'], amountMax: AMOUNT_MAX, lifetimeMs: HOUR_MS },
};

/** Digits after the decimal point of one whole unit. */
export const CURRENCY_DECIMALS: { readonly [currency: string]: number } = {
  BRL: 2,
  EUR: 2,
  USD: 2,
  USDT: 6,
  USDC: 6,
  BTC: 8,
};
