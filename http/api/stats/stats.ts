// Routes of payment statistics and metrics (contract.md Stats and Metrics, rules T1–T3).

import { lastBusinessDays, saoPauloDay } from '../../../domain/kernel/civilDay.ts';
import { metricsView } from '../../../domain/presentation/metrics.ts';
import { statsView } from '../../../domain/presentation/stats.ts';
import { httpModule } from '../../kernel/httpModule.ts';
import { currencyCode, wholeNumber } from '../../kernel/query.ts';
import { json, type KeyContext, route } from '../../kernel/route.ts';
import { ON_PAYMENTS } from '../payments/tags.ts';
import { metricsSchema, statsSchema } from './statsSchema.ts';

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
