// Times from creation to payment, counted by civil day and by month of `paidAt`. A window of years reads one set of counts per month, and
// per day at its edges (rule T3).
import { saoPauloDay } from '../../domain/kernel/civilDay.ts';
import { reading } from '../../domain/kernel/eventGroups.ts';
import { secondsBetween } from '../../domain/kernel/time.ts';
import { PAYMENT } from '../../domain/payment/aggregate.ts';
import { exists, type PaymentEvent, type PaymentState } from '../../domain/payment/payment.ts';
import type { AggregateChange } from '../engine/aggregateTable.ts';
import { Additions, type CounterTable, counterTable } from '../engine/counterTable.ts';
import { bucketOf } from './buckets.ts';

/** A payment changes two rows, of about 100 bytes each, however many payments and different times a day has. */
const TABLE: CounterTable<'payments'> = {
  name: 'time_to_pay',
  key: ['account_id', 'mode', 'period', 'currency', 'seconds'],
  counts: ['payments'],
};

const pays = reading(PAYMENT.groups, {
  reads: ['settlement'],
  ignores: ['demand', 'methods', 'release', 'held', 'returns', 'refund', 'dispute', 'erasure'],
});

const additionsOf = (changes: readonly AggregateChange<PaymentState, PaymentEvent>[]): Additions<'payments'> => {
  const additions = new Additions<'payments'>();
  for (const { event, after } of changes) {
    if (!pays(event) || !exists(after.state)) continue;
    const { paidAt } = event.data.incoming;
    const { createdAt, currency } = after.state.charge.terms;
    const seconds = bucketOf(Math.max(0, secondsBetween(createdAt, paidAt)));
    const day = saoPauloDay(paidAt);
    for (const period of [day, day.slice(0, 7)])
      additions.add([after.account, after.mode, period, currency, `${seconds}`], { payments: 1 });
  }
  return additions;
};

export const timeToPay = counterTable(TABLE, additionsOf);
