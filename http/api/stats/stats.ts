// Statistics and metrics of payments (contract.md Stats and Metrics, rules T1–T3).

import { lastBusinessDays, saoPauloDay } from '../../../domain/kernel/civilDay.ts';
import { metricsView } from '../../../domain/presentation/metrics.ts';
import { statsView } from '../../../domain/presentation/stats.ts';
import { httpModule } from '../../kernel/httpModule.ts';
import { currencyCode, wholeNumber } from '../../kernel/query.ts';
import { type KeyContext, route } from '../../kernel/route.ts';
import { PAYMENTS } from '../payments/tags.ts';
import { metricsSchema, statsSchema } from './statsSchema.ts';

/** Ten years (T1). */
const DAYS_MAX = 3_650;
const days = wholeNumber('Business days in São Paulo, today included.', 1, DAYS_MAX, 7);

/** The window ends today by account time: a test clock moves it. */
const daysOf = async ({ caller: { tenant }, services }: KeyContext, count: number): Promise<readonly string[]> => {
  const now = await services.accounts.now(tenant.accountId, tenant.mode);
  return lastBusinessDays(saoPauloDay(now), count);
};

const paymentStatsRoute = route({
  method: 'GET',
  path: '/v1/payments/stats',
  operationId: 'getPaymentStats',
  summary: 'How many payments, how many of them paid, and volumes of the last days',
  description:
    'Counts payments and sums their volume for the last `days` days. Days are those of São Paulo, and today is included.',
  tag: PAYMENTS,
  principal: 'apiKey',
  reads: ['payments'],
  query: { days },
  refusesUnknownQuery: true,
  responses: { 200: { kind: 'json', description: 'Statistics of the window, today included.', schema: statsSchema } },
  errors: [],
  handle: async (context) => {
    const window = await daysOf(context, context.query.days);
    const rows = await context.services.views.stats.dayRows(context.caller.tenant, { days: window, currency: null });
    return { status: 200, body: statsView(window, rows) };
  },
});

const paymentMetricsRoute = route({
  method: 'GET',
  path: '/v1/payments/metrics',
  operationId: 'getPaymentMetrics',
  summary: 'The conversion funnel and volumes of the last days, of all currencies or of one',
  description:
    'Returns the conversion funnel, volumes by method, fees and the time that payers take. Days are those of São Paulo, and today is included.',
  tag: PAYMENTS,
  principal: 'apiKey',
  reads: ['payments'],
  query: { days, currency: currencyCode('Payments in this currency only.') },
  refusesUnknownQuery: true,
  responses: { 200: { kind: 'json', description: 'Metrics of the window, today included.', schema: metricsSchema } },
  errors: [],
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
