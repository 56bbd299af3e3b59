// Routes of the wallet balances (contract.md Wallets and Wallet balance, rules M3, M3a).

import { StreamParked } from '../../../application/ports/readModels/progress.ts';
import type { CurrencyBalance } from '../../../application/ports/readModels/views.ts';
import { httpModule } from '../../kernel/httpModule.ts';
import * as s from '../../kernel/jsonSchema.ts';
import { currencyCode } from '../../kernel/query.ts';
import { json, type KeyContext, route, type Tag } from '../../kernel/route.ts';

const WALLETS: Tag = { name: 'Wallets', description: 'Available and pending balances of a merchant.' };

const currency = s.described('The currency code, such as BRL or USDT.', s.string());
const balance = {
  available: s.described('The amount that can be spent, in the smallest unit. It may be negative.', s.anyInteger),
  pending: s.described('The amount that is settled but not yet released.', s.anyInteger),
};
const total = s.described('The sum of the available and pending amounts.', s.anyInteger);
const balanceEntry = s.exactly({ currency, ...balance, total });

const balanceSchema = s.exactly({
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

const walletsSchema = s.listOf(
  s.exactly({
    currency,
    walletType: s.described('Always OPERATIONAL.', s.string()),
    balance: balance.available,
    pendingBalance: balance.pending,
  }),
);

const PRIMARY = 'BRL';
const empty = (currency: string): CurrencyBalance => ({
  currency,
  available: 0,
  pending: 0,
  retained: 0,
  nextRelease: null,
});

/** Returns the balances of the caller. A new account has one BRL wallet. Throws StreamParked when the wallet is out of date. */
export const balancesOf = async ({
  caller,
  services,
}: Pick<KeyContext, 'caller' | 'services'>): Promise<readonly CurrencyBalance[]> => {
  if (services.parked.hasAnyOf('wallet', caller.tenant))
    throw new StreamParked('the wallet does not follow one of its payments');
  const balances = await services.views.wallet.balances(caller.tenant);
  return balances.some(({ currency }) => currency === PRIMARY) ? balances : [empty(PRIMARY), ...balances];
};

const entry = ({ currency, available, pending }: CurrencyBalance) => ({
  currency,
  available,
  pending,
  total: available + pending,
});
const release = ({ nextRelease }: CurrencyBalance) => ({
  next_release_at: nextRelease?.at ?? null,
  next_release_amount: nextRelease?.amount ?? null,
});

const getBalanceRoute = route('GET', '/v1/wallets/balance', {
  operationId: 'getBalance',
  summary: 'Retrieve the balance',
  description:
    'Returns the available, pending and retained amounts of all currencies, or of one. `available` may be negative after a refund or a lost dispute.',
  tag: WALLETS,
  principal: 'apiKey',
  reads: ['wallet'],
  query: { currency: currencyCode('Only the balance in this currency.') },
  responses: {
    200: json(
      'The balances of all currencies, with the primary one at the top level. With `currency`, only the balance in that currency.',
      balanceSchema,
    ),
  },
  handle: async (context) => {
    const balances = await balancesOf(context);
    const asked = context.query.currency;
    if (asked !== undefined) {
      const one = balances.find((balance) => balance.currency === asked) ?? empty(asked);
      return {
        status: 200,
        body: { available: one.available, pending: one.pending, currency: asked, ...release(one) },
      };
    }
    const primary = balances.find((balance) => balance.currency === PRIMARY) as CurrencyBalance;
    const { available, pending, total } = entry(primary);
    const top = { available, pending, total, retained: primary.retained, currency: PRIMARY, ...release(primary) };
    return { status: 200, body: { ...top, balances: balances.map(entry), primary: entry(primary) } };
  },
});

const listWalletsRoute = route('GET', '/v1/wallets', {
  operationId: 'listWallets',
  summary: 'List wallets',
  description: 'Returns the wallets as an array, one entry per currency, in the older format.',
  tag: WALLETS,
  principal: 'apiKey',
  reads: ['wallet'],
  responses: { 200: json('The wallets.', walletsSchema) },
  handle: async (context) => {
    const wallets = (await balancesOf(context)).map(({ currency, available, pending }) => ({
      currency,
      walletType: 'OPERATIONAL',
      balance: available,
      pendingBalance: pending,
    }));
    return { status: 200, body: wallets };
  },
});

export const wallets = httpModule({
  name: 'wallets',
  chapters: [WALLETS],
  routes: [getBalanceRoute, listWalletsRoute],
});
