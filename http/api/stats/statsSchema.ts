// Response schemas of statistics and metrics (contract.md Stats, rule T3).
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

const currency = described('The currency code, such as BRL or USDT.', string(8));
const method = described('The payment method.', oneOfTexts(PAYMENT_METHODS));
const date = string(undefined, { pattern: '^\\d{4}-\\d\\d-\\d\\d$', description: 'A day in São Paulo.' });
const percent = (description: string) => described(description, integer(0, 100));
const count = (description: string) => described(description, anyInteger);
const volume = described('The amount in the smallest unit.', anyInteger);
const volumes = (description: string) => described(description, volumesByCurrency);

export const statsSchema = exactly({
  totalTransactions: count('Payments created in the window.'),
  paidTransactions: count('Payments created in the window that were paid.'),
  todayTransactions: count('Payments created today.'),
  successRate: percent('The percentage of created payments that were paid, as an integer.'),
  volumeByCurrency: listOf(exactly({ currency, volume, count: count('The number of payments.') })),
  todayVolumeByCurrency: volumes('The volume paid today, by currency.'),
  dailyVolume: listOf(exactly({ date, currencies: volumes('The volume paid on that day, by currency.') })),
  methodBreakdown: listOf(exactly({ method, volume, count: count('The number of payments.') })),
});

export const metricsSchema = exactly({
  days: count('The number of days in the window.'),
  currency: orNull(described('The requested currency; null for all currencies.', string(8))),
  funnel: described(
    'Numbers of payments. `created` and `paid` count by the day of creation and payment, the others by the day on which the status was reached.',
    exactly({
      created: count('Created payments.'),
      awaitingPayment: count('Waiting for the payer.'),
      processing: count('Payment in progress.'),
      paid: count('Settled at any time, including payments refunded later.'),
      failed: count('Declined.'),
      expired: count('Not paid in time.'),
      cancelled: count('Cancelled before completion.'),
      refunded: count('Fully refunded.'),
      disputed: count('Disputed.'),
      conversionRate: percent('The percentage of created payments that were ever settled, as an integer.'),
    }),
  ),
  volume: listOf(
    exactly({
      currency,
      created: count('The volume of created payments, in the smallest unit.'),
      paid: count('The paid volume.'),
      refunded: count('The refunded volume.'),
      net: count('The paid volume less fees and refunds.'),
      fees: count('The fees of acquirers and of the platform.'),
      lost: count('The volume lost in disputes.'),
      averageTicket: count('The average amount of a paid payment.'),
    }),
  ),
  byMethod: listOf(
    exactly({
      method,
      created: count('Payments that offer the method.'),
      paid: count('Payments paid by the method.'),
      conversionRate: percent('The percentage of payments offering the method that it paid, as an integer.'),
      volume: listOf(exactly({ currency, volume })),
    }),
  ),
  timeToPay: described(
    'Seconds from creation to payment; null if nothing was paid.',
    exactly({
      p50Seconds: orNull(count('Half of the payments were faster.')),
      p90Seconds: orNull(count('Nine of ten payments were faster.')),
    }),
  ),
  daily: listOf(
    exactly({ date, created: count('Payments created on that day.'), paid: count('Payments settled on that day.') }),
  ),
});
