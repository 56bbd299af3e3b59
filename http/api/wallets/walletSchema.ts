// Response schemas of the wallet routes (contract.md Wallet balance).
import {
  anyInteger,
  described,
  exactly,
  listOf,
  optional,
  orNull,
  string,
  timestamp,
} from '../../kernel/jsonSchema.ts';

const currency = described('The currency code, such as BRL or USDT.', string());
const balance = {
  available: described('The amount that can be spent, in the smallest unit. It may be negative.', anyInteger),
  pending: described('The amount that is settled but not yet released.', anyInteger),
};
const total = described('The sum of the available and pending amounts.', anyInteger);
const balanceEntry = exactly({ currency, ...balance, total });

export const balanceSchema = exactly({
  ...balance,
  // A response for a single currency omits the optional properties.
  total: optional(total),
  retained: optional(described('The amount retained because of disputes.', anyInteger)),
  currency,
  next_release_at: orNull(described('When the next part of the pending amount becomes available.', timestamp)),
  next_release_amount: orNull(described('The amount of the next release.', anyInteger)),
  balances: optional(described('The balance of each currency.', listOf(balanceEntry))),
  primary: optional(described('The balance of the primary currency, BRL.', balanceEntry)),
});

export const walletsSchema = listOf(
  exactly({
    currency,
    walletType: described('Always OPERATIONAL.', string()),
    balance: balance.available,
    pendingBalance: balance.pending,
  }),
);
