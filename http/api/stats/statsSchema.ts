// Response schemas of statistics and metrics (contract.md Stats, rule T3).
import { PAYMENT_METHODS } from '../../../domain/charge/methods.ts';
import * as s from '../../kernel/jsonSchema.ts';

const currency = s.described('The currency code, such as BRL or USDT.', s.string(8));
const method = s.described('The payment method.', s.oneOfTexts(PAYMENT_METHODS));
const date = s.string(undefined, { pattern: '^\\d{4}-\\d\\d-\\d\\d$', description: 'A day in São Paulo.' });
const percent = (description: string) => s.described(description, s.integer(0, 100));
const count = (description: string) => s.described(description, s.anyInteger);
const volume = s.described('The amount in the smallest unit.', s.anyInteger);
const volumes = (description: string) => s.described(description, s.volumesByCurrency);

export const statsSchema = s.exactly({
  totalTransactions: count('Payments created in the window.'),
  paidTransactions: count('Payments created in the window that were paid.'),
  todayTransactions: count('Payments created today.'),
  successRate: percent('The percentage of created payments that were paid, as an integer.'),
  volumeByCurrency: s.listOf(s.exactly({ currency, volume, count: count('The number of payments.') })),
  todayVolumeByCurrency: volumes('The volume paid today, by currency.'),
  dailyVolume: s.listOf(s.exactly({ date, currencies: volumes('The volume paid on that day, by currency.') })),
  methodBreakdown: s.listOf(s.exactly({ method, volume, count: count('The number of payments.') })),
});

export const metricsSchema = s.exactly({
  days: count('The number of days in the window.'),
  currency: s.orNull(s.described('The requested currency; null for all currencies.', s.string(8))),
  funnel: s.described(
    'Numbers of payments. `created` and `paid` count by the day of creation and payment, the others by the day on which the status was reached.',
    s.exactly({
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
  volume: s.listOf(
    s.exactly({
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
  byMethod: s.listOf(
    s.exactly({
      method,
      created: count('Payments that offer the method.'),
      paid: count('Payments paid by the method.'),
      conversionRate: percent('The percentage of payments offering the method that it paid, as an integer.'),
      volume: s.listOf(s.exactly({ currency, volume })),
    }),
  ),
  timeToPay: s.described(
    'Seconds from creation to payment; null if nothing was paid.',
    s.exactly({
      p50Seconds: s.orNull(count('Half of the payments were faster.')),
      p90Seconds: s.orNull(count('Nine of ten payments were faster.')),
    }),
  ),
  daily: s.listOf(
    s.exactly({ date, created: count('Payments created on that day.'), paid: count('Payments settled on that day.') }),
  ),
});
