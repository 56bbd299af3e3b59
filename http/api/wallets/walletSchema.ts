// Responses of the wallet routes (contract.md Wallet balance).
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

const currency = described('Its code, such as BRL or USDT.', string());
const balance = {
  available: described('What can be spent, in the smallest unit.', anyInteger),
  pending: described('Settled, but still held.', anyInteger),
};
const total = described('Available and pending.', anyInteger);
const balanceEntry = exactly({ currency, ...balance, total });

export const balanceSchema = exactly({
  ...balance,
  // The flat shape of one currency has none of the optional ones.
  total: optional(total),
  retained: optional(described('Under retention.', anyInteger)),
  currency,
  next_release_at: orNull(described('When the next pending part becomes available.', timestamp)),
  next_release_amount: orNull(described('How much that is.', anyInteger)),
  balances: optional(described('One for each currency.', listOf(balanceEntry))),
  primary: optional(described('That of the primary currency, BRL.', balanceEntry)),
});

export const walletsSchema = listOf(
  exactly({
    currency,
    walletType: described('OPERATIONAL.', string()),
    balance: balance.available,
    pendingBalance: balance.pending,
  }),
);
