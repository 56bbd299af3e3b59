// Response schemas of the wallet routes (contract.md Wallet balance).
import * as s from '../../kernel/jsonSchema.ts';

const currency = s.described('The currency code, such as BRL or USDT.', s.string());
const balance = {
  available: s.described('The amount that can be spent, in the smallest unit. It may be negative.', s.anyInteger),
  pending: s.described('The amount that is settled but not yet released.', s.anyInteger),
};
const total = s.described('The sum of the available and pending amounts.', s.anyInteger);
const balanceEntry = s.exactly({ currency, ...balance, total });

export const balanceSchema = s.exactly({
  ...balance,
  // A response for a single currency omits the optional properties.
  total: s.optional(total),
  retained: s.optional(s.described('The amount retained because of disputes.', s.anyInteger)),
  currency,
  next_release_at: s.orNull(s.described('When the next part of the pending amount becomes available.', s.timestamp)),
  next_release_amount: s.orNull(s.described('The amount of the next release.', s.anyInteger)),
  balances: s.optional(s.described('The balance of each currency.', s.listOf(balanceEntry))),
  primary: s.optional(s.described('The balance of the primary currency, BRL.', balanceEntry)),
});

export const walletsSchema = s.listOf(
  s.exactly({
    currency,
    walletType: s.described('Always OPERATIONAL.', s.string()),
    balance: balance.available,
    pendingBalance: balance.pending,
  }),
);
