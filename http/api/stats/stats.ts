// Routes of payment statistics and metrics (contract.md Stats and Metrics, rules T1–T3).

import { PAYMENT_METHODS } from '../../../domain/charge/methods.ts';
import { lastBusinessDays, saoPauloDay } from '../../../domain/kernel/civilDay.ts';
import { metricsView } from '../../../domain/presentation/metrics.ts';
import { statsView } from '../../../domain/presentation/stats.ts';
import { httpModule } from '../../kernel/httpModule.ts';
import * as s from '../../kernel/jsonSchema.ts';
import { currencyCode, wholeNumber } from '../../kernel/query.ts';
import { json, type KeyContext, route } from '../../kernel/route.ts';
import { ON_PAYMENTS } from '../payments/chargeSchema.ts';

// --- Response schemas of statistics and metrics (contract.md Stats, rule T3) ---

const currency = s.described('The currency code, such as BRL or USDT.', s.string(8));
const method = s.described('The payment method.', s.oneOfTexts(PAYMENT_METHODS));
const date = s.string(undefined, { pattern: '^\\d{4}-\\d\\d-\\d\\d$', description: 'A day in São Paulo.' });
const percent = (description: string) => s.described(description, s.integer(0, 100));
const count = (description: string) => s.described(description, s.anyInteger);
const volume = s.described('The amount in the smallest unit.', s.anyInteger);
const volumes = (description: string) => s.described(description, s.volumesByCurrency);

const statsSchema = s.exactly({
  totalTransactions: count('Payments created in the window.'),
  paidTransactions: count('Payments created in the window that were paid.'),
  todayTransactions: count('Payments created today.'),
  successRate: percent('The percentage of created payments that were paid, as an integer.'),
  volumeByCurrency: s.listOf(s.exactly({ currency, volume, count: count('The number of payments.') })),
  todayVolumeByCurrency: volumes('The volume paid today, by currency.'),
  dailyVolume: s.listOf(s.exactly({ date, currencies: volumes('The volume paid on that day, by currency.') })),
  methodBreakdown: s.listOf(s.exactly({ method, volume, count: count('The number of payments.') })),
});

const metricsSchema = s.exactly({
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
    'Seconds from creation to payment; null if nothing was paid. Exact up to 255 seconds, at most 0.8 % too low beyond.',
    s.exactly({
      p50Seconds: s.orNull(count('Half of the payments were faster.')),
      p90Seconds: s.orNull(count('Nine of ten payments were faster.')),
    }),
  ),
  daily: s.listOf(
    s.exactly({ date, created: count('Payments created on that day.'), paid: count('Payments settled on that day.') }),
  ),
});

/** Ten years (T1). */
const DAYS_MAX = 3_650;
const days = wholeNumber('The number of business days in São Paulo, including today.', 1, DAYS_MAX, 7);

/** Returns the window of `count` business days that ends today. Today follows account time, which a test clock can move. */
const daysOf = async ({ caller: { tenant }, services }: KeyContext, count: number): Promise<readonly string[]> => {
  const now = await services.accounts.now(tenant.accountId, tenant.mode);
  return lastBusinessDays(saoPauloDay(now), count);
};

const paymentStatsRoute = route('GET', '/v1/payments/stats', {
  operationId: 'getPaymentStats',
  summary: 'Retrieve payment statistics',
  description:
    'Returns the number of payments and their volume for the last `days` business days in São Paulo, including today.',
  ...ON_PAYMENTS,
  reads: ['payments'],
  query: { days },
  refusesUnknownQuery: true,
  responses: { 200: json('The statistics of the window.', statsSchema) },
  handle: async (context) => {
    const window = await daysOf(context, context.query.days);
    const rows = await context.services.views.stats.dayRows(context.caller.tenant, { days: window, currency: null });
    return { status: 200, body: statsView(window, rows) };
  },
});

const paymentMetricsRoute = route('GET', '/v1/payments/metrics', {
  operationId: 'getPaymentMetrics',
  summary: 'Retrieve payment metrics',
  description:
    'Returns the conversion funnel, volumes by currency and method, fees, and the time to payment. The window is the last `days` business days in São Paulo, including today.',
  ...ON_PAYMENTS,
  reads: ['payments'],
  query: { days, currency: currencyCode('Only payments in this currency.') },
  refusesUnknownQuery: true,
  responses: { 200: json('The metrics of the window.', metricsSchema) },
  handle: async (context) => {
    const { caller, query, services } = context;
    const window = { days: await daysOf(context, context.query.days), currency: query.currency ?? null };
    const [rows, timeToPay] = await Promise.all([
      services.views.stats.dayRows(caller.tenant, window),
      services.views.stats.timeToPay(caller.tenant, window),
    ]);
    return { status: 200, body: metricsView(window, rows, timeToPay) };
  },
});

export const stats = httpModule({ name: 'stats', routes: [paymentStatsRoute, paymentMetricsRoute] });
