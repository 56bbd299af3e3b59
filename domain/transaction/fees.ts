// Fees per account and method (rule M1).
import type { PaymentMethod } from '../charge/methods.ts';
import { add, basisPointsOf, least, type Minor, subtract, toMinor } from '../kernel/money.ts';

export interface Fee {
  /** Basis points of the amount, 0 to 10,000. */
  readonly percentBps: number;
  /** Fixed fee in minor units, added to the percentage. */
  readonly fixed: Minor;
}
export interface FeePair {
  readonly provider: Fee;
  readonly platform: Fee;
}
export type FeeSchedule = { readonly [Method in PaymentMethod]: FeePair };

export interface ChargedFees {
  readonly providerFee: Minor;
  readonly platformFee: Minor;
  /** amount − providerFee − platformFee, never negative. */
  readonly netAmount: Minor;
}

const feeOf = (amount: Minor, fee: Fee): Minor => add(basisPointsOf(amount, fee.percentBps), fee.fixed);

/** Returns the fees, rounded half up. Together they never exceed the amount; the platform's share is reduced first. */
export const chargeFees = (amount: Minor, { provider, platform }: FeePair): ChargedFees => {
  const providerFee = least(feeOf(amount, provider), amount);
  const platformFee = least(feeOf(amount, platform), subtract(amount, providerFee));
  return { providerFee, platformFee, netAmount: subtract(subtract(amount, providerFee), platformFee) };
};

const pair = (providerBps: number, providerFixed: number, platformBps: number): FeePair => ({
  provider: { percentBps: providerBps, fixed: toMinor(providerFixed) },
  platform: { percentBps: platformBps, fixed: toMinor(0) },
});
const OTHERS = pair(150, 0, 100);

export const DEFAULT_FEES: FeeSchedule = {
  PIX: pair(0, 10, 100),
  CREDIT_CARD: pair(250, 30, 100),
  MBWAY: OTHERS,
  MULTIBANCO: OTHERS,
  BOLETO: OTHERS,
  CRYPTO: OTHERS,
};
