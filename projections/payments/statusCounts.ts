// How many payments have which status, by the UTC day of their creation: totals of lists without counting rows.
import { exists, type PaymentState } from '../../domain/payment/payment.ts';
import { Additions, type CountedTable, countedBeside } from '../engine/countedTable.ts';
import type { FoldedChange } from '../engine/foldedTable.ts';

const TABLE: CountedTable<'payments'> = {
  name: 'status_counts',
  key: ['account_id', 'mode', 'status', 'created_day'],
  counts: ['payments'],
};

/** The mark of a payment's row is its status. */
const additionsOf = (changes: readonly FoldedChange<'payment', PaymentState>[]): Additions<'payments'> => {
  const additions = new Additions<'payments'>();
  for (const { before, after } of changes) {
    const { account, mode, state, mark } = after;
    if (!exists(state) || before?.mark === mark) continue;
    const day = state.charge.terms.createdAt.slice(0, 10);
    if (before && before.mark !== null) additions.add([account, mode, before.mark, day], { payments: -1 });
    if (mark !== null) additions.add([account, mode, mark, day], { payments: 1 });
  }
  return additions;
};

export const statusCounts = countedBeside(TABLE, additionsOf);
