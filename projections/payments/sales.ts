// The sales of each day, for analysts: payments settled on a civil day of São Paulo, by method and currency. A payment that is refunded or
// disputed later stays a sale: the funnel tells what became of it.
import { saoPauloDay } from '../../domain/kernel/civilDay.ts';
import { exists, type PaymentEvent, type PaymentState } from '../../domain/payment/payment.ts';
import type { AggregateChange } from '../engine/aggregateTable.ts';
import { Additions, type CounterTable, counterTable } from '../engine/counterTable.ts';

type Sum = 'payments' | 'amount' | 'provider_fee' | 'platform_fee';

const TABLE: CounterTable<Sum> = {
  name: 'sales',
  key: ['account_id', 'mode', 'day', 'currency', 'method'],
  counts: ['payments', 'amount', 'provider_fee', 'platform_fee'],
};

const additionsOf = (changes: readonly AggregateChange<PaymentState, PaymentEvent>[]): Additions<Sum> => {
  const additions = new Additions<Sum>();
  for (const { event, after } of changes) {
    const { account, mode, state } = after;
    if (event.type !== 'TransactionSettled' || !exists(state)) continue;
    const { incoming, method, providerFee, platformFee } = event.data;
    additions.add([account, mode, saoPauloDay(incoming.paidAt), state.charge.terms.currency, method], {
      ...{ payments: 1, amount: state.charge.terms.amount, provider_fee: providerFee, platform_fee: platformFee },
    });
  }
  return additions;
};

export const sales = counterTable(TABLE, additionsOf);
