// Payment methods with their currencies, bounds and lifetimes (rules I4, P1, P5).
import { type CivilZone, endOfCivilDay } from '../kernel/civilDay.ts';
import { AMOUNT_MAX } from '../kernel/money.ts';
import { addMillis, HOUR_MS, MINUTE_MS, SECOND_MS, type Timestamp } from '../kernel/time.ts';

export const PAYMENT_METHODS = ['PIX', 'CREDIT_CARD', 'MBWAY', 'MULTIBANCO', 'BOLETO', 'CRYPTO'] as const;
export type PaymentMethod = (typeof PAYMENT_METHODS)[number];

interface MethodRules {
  readonly currencies: readonly string[];
  /** In minor units. */
  readonly amountMax: number;
  /** Lifetime of the instrument; null for the account's charge window. Days count from creation and end at midnight in the zone. */
  readonly lifetime: { readonly ms: number } | { readonly days: number; readonly zone: CivilZone } | null;
}

export const METHOD_RULES: { readonly [Method in PaymentMethod]: MethodRules } = {
  PIX: { currencies: ['BRL'], amountMax: AMOUNT_MAX, lifetime: null },
  CREDIT_CARD: { currencies: ['BRL', 'EUR', 'USD'], amountMax: AMOUNT_MAX, lifetime: { ms: 30 * MINUTE_MS } },
  MBWAY: { currencies: ['EUR'], amountMax: AMOUNT_MAX, lifetime: { ms: 30 * MINUTE_MS } },
  MULTIBANCO: { currencies: ['EUR'], amountMax: 99_999_999, lifetime: { days: 3, zone: 'Europe/Lisbon' } },
  BOLETO: { currencies: ['BRL'], amountMax: 9_999_999_999, lifetime: { days: 3, zone: 'America/Sao_Paulo' } },
  CRYPTO: { currencies: ['USDT', 'USDC', 'BTC'], amountMax: AMOUNT_MAX, lifetime: { ms: HOUR_MS } },
};

/** Returns whether the method's instruments are due on a civil day. */
export const hasDueDay = (method: PaymentMethod): boolean => {
  const { lifetime } = METHOD_RULES[method];
  return lifetime !== null && 'days' in lifetime;
};

/** Returns when an instrument expires whose lifetime starts at `from` (P5). */
export const expiryOf = (
  method: PaymentMethod,
  { createdAt, expiresInSeconds }: { readonly createdAt: Timestamp; readonly expiresInSeconds: number },
  from: Timestamp,
): Timestamp => {
  const { lifetime } = METHOD_RULES[method];
  if (lifetime === null) return addMillis(from, expiresInSeconds * SECOND_MS);
  return 'ms' in lifetime ? addMillis(from, lifetime.ms) : endOfCivilDay(createdAt, lifetime.days, lifetime.zone);
};

/** Number of decimal places of each currency. */
export const CURRENCY_DECIMALS: { readonly [currency: string]: number } = {
  BRL: 2,
  EUR: 2,
  USD: 2,
  USDT: 6,
  USDC: 6,
  BTC: 8,
};
