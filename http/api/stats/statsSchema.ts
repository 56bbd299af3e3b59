// Responses of statistics and metrics (contract.md Stats, rule T3).
import { PAYMENT_METHODS } from '../../../domain/charge/methods.ts';
import {
  anyInteger,
  described,
  exactly,
  integer,
  listOf,
  oneOfTexts,
  orNull,
  string,
  volumesByCurrency,
} from '../../kernel/jsonSchema.ts';

const currency = described('Its code, such as BRL or USDT.', string(8));
const method = described('The payment method.', oneOfTexts(PAYMENT_METHODS));
const date = string(undefined, { pattern: '^\\d{4}-\\d\\d-\\d\\d$', description: 'A day in São Paulo.' });
const percent = (description: string) => described(description, integer(0, 100));
const count = (description: string) => described(description, anyInteger);
const volume = described('In the smallest unit.', anyInteger);
const volumes = (description: string) => described(description, volumesByCurrency);

export const statsSchema = exactly({
  totalTransactions: count('Payments created in the window.'),
  paidTransactions: count('Of these, paid.'),
  todayTransactions: count('Created today.'),
  successRate: percent('Whole percent of those created that were paid.'),
  volumeByCurrency: listOf(exactly({ currency, volume, count: count('Payments.') })),
  todayVolumeByCurrency: volumes('Paid today, by currency.'),
  dailyVolume: listOf(exactly({ date, currencies: volumes('Paid that day, by currency.') })),
  methodBreakdown: listOf(exactly({ method, volume, count: count('Payments.') })),
});

export const metricsSchema = exactly({
  days: count('Days of the window.'),
  currency: orNull(described('The one asked for; null: all.', string(8))),
  funnel: described(
    'Payments: `created` and `paid` by their day, the others by the day on which they got where they are.',
    exactly({
      created: count('Created.'),
      awaitingPayment: count('Waiting for the payer.'),
      processing: count('In flight.'),
      paid: count('Ever settled.'),
      failed: count('Declined.'),
      expired: count('Not paid in time.'),
      cancelled: count('Cancelled before completion.'),
      refunded: count('Fully refunded.'),
      disputed: count('Disputed.'),
      conversionRate: percent('Whole percent of those created that were ever settled.'),
    }),
  ),
  volume: listOf(
    exactly({
      currency,
      created: count('Asked for, in the smallest unit.'),
      paid: count('Paid.'),
      refunded: count('Given back.'),
      net: count('Paid, less fees and refunds.'),
      fees: count('Of acquirers and of this service.'),
      lost: count('What disputes took.'),
      averageTicket: count('Paid amount of a payment, on average.'),
    }),
  ),
  byMethod: listOf(
    exactly({
      method,
      created: count('Payments that take it.'),
      paid: count('Paid by it.'),
      conversionRate: percent('Whole percent.'),
      volume: listOf(exactly({ currency, volume })),
    }),
  ),
  timeToPay: described(
    'Seconds from creation to payment; null when nothing was paid.',
    exactly({
      p50Seconds: orNull(count('Half were faster.')),
      p90Seconds: orNull(count('Nine of ten were faster.')),
    }),
  ),
  daily: listOf(exactly({ date, created: count('Created that day.'), paid: count('Settled that day.') })),
});
