// The movements of each ledger account by civil day of São Paulo, from which analysts get balances without reading the ledger.

import type { LoggedEvent } from '../../application/ports/loggedEvent.ts';
import { AGGREGATES, isIdleIn, postingsOf } from '../../domain/aggregates.ts';
import { saoPauloDay } from '../../domain/kernel/civilDay.ts';
import { Additions, addCounts, type CounterTable, counterDdl } from '../engine/counterTable.ts';
import type { Projection } from '../engine/projection.ts';

type Count = 'credits' | 'debits' | 'postings';

const TABLE: CounterTable<Count> = {
  name: 'daily_movements',
  key: ['account_id', 'mode', 'currency', 'ledger_account', 'day'],
  counts: ['credits', 'debits', 'postings'],
};

const POSTINGS = postingsOf(AGGREGATES);

const movementsOf = (events: readonly LoggedEvent[]): Additions<Count> => {
  const additions = new Additions<Count>();
  for (const { category, event, account, mode } of events) {
    const entry = POSTINGS.get(category)?.entryOf(event) ?? null;
    if (entry === null) continue;
    const day = saoPauloDay(entry.at);
    for (const { account: ledgerAccount, currency, amount } of entry.postings)
      additions.add([account, mode, currency, ledgerAccount, day], {
        credits: amount > 0 ? amount : 0,
        debits: amount < 0 ? -amount : 0,
        postings: 1,
      });
  }
  return additions;
};

export const dailyBalancesProjection: Projection<'dailyBalances'> = {
  name: 'dailyBalances',
  version: 3,
  categories: [...POSTINGS.keys()],
  isByAccount: true,
  skips: isIdleIn(POSTINGS),
  tables: [{ name: TABLE.name, key: TABLE.key }],
  ddl: (schema) => counterDdl(TABLE, schema),
  writer: (schema) => {
    const add = addCounts(TABLE, schema);
    return {
      reset: () => undefined, // nothing is cached
      apply: (events, tx) => add(movementsOf(events), tx),
    };
  },
};
