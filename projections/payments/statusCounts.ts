// How many payments have which status, by the UTC day of their creation: totals of lists without counting rows.
import { exists, type PaymentState } from '../../domain/payment/payment.ts';
import type { AggregateChange } from '../engine/aggregateTable.ts';
import { Additions, type CounterTable, counterTable } from '../engine/counterTable.ts';

const TABLE: CounterTable<'payments'> = {
  name: 'status_counts',
  key: ['account_id', 'mode', 'status', 'created_day'],
  counts: ['payments'],
};

const additionsOf = (changes: readonly AggregateChange<'payment', PaymentState>[]): Additions<'payments'> => {
  const additions = new Additions<'payments'>();
  for (const { before, after } of changes) {
    const { account, mode, state, status } = after;
    if (!exists(state) || before?.status === status) continue;
    const day = state.charge.terms.createdAt.slice(0, 10);
    if (before && before.status !== null) additions.add([account, mode, before.status, day], { payments: -1 });
    if (status !== null) additions.add([account, mode, status, day], { payments: 1 });
  }
  return additions;
};

export const statusCounts = counterTable(TABLE, additionsOf);
