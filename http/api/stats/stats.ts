// Statistics and metrics of payments (contract.md Stats and Metrics, rules T1–T3).
import { lastBusinessDays, saoPauloDay } from '../../../domain/kernel/civilDay.ts';
import { metricsView } from '../../../domain/presentation/metrics.ts';
import { statsView } from '../../../domain/presentation/stats.ts';
import { currencyCode, wholeNumber } from '../../kernel/queryRules.ts';
import type { Route, RouteContext } from '../../kernel/route.ts';
import { metricsSchema, statsSchema } from './statsSchema.ts';

/** Ten years (T1). */
const DAYS_MAX = 3_650;
const days = wholeNumber(1, DAYS_MAX, 7);

/** The window ends today by account time: a test clock moves it. */
const daysOf = async ({ caller: { tenant }, query, services }: RouteContext): Promise<readonly string[]> => {
  const now = await services.accounts.now(tenant.accountId, tenant.mode);
  return lastBusinessDays(saoPauloDay(now), query['days'] as number);
};

export const paymentStatsRoute: Route = {
  method: 'GET',
  path: '/v1/payments/stats',
  operationId: 'getPaymentStats',
  summary: 'How many payments, how many of them paid, and volumes of the last days',
  auth: 'apikey',
  reads: ['payments'],
  query: { days },
  responses: { 200: { description: 'Statistics of the window, today included.', schema: statsSchema } },
  errors: ['invalid_filter'],
  handle: async (ask) => {
    const window = await daysOf(ask);
    const rows = await ask.services.views.stats.dayRows(ask.caller.tenant, { days: window, currency: null });
    return { status: 200, body: statsView(window, rows) };
  },
};

export const paymentMetricsRoute: Route = {
  method: 'GET',
  path: '/v1/payments/metrics',
  operationId: 'getPaymentMetrics',
  summary: 'The conversion funnel and volumes of the last days, of all currencies or of one',
  auth: 'apikey',
  reads: ['payments'],
  query: { days, currency: currencyCode },
  responses: { 200: { description: 'Metrics of the window, today included.', schema: metricsSchema } },
  errors: ['invalid_filter', 'invalid_currency'],
  handle: async (ask) => {
    const { caller, query, services } = ask;
    const window = { days: await daysOf(ask), currency: (query['currency'] as string | undefined) ?? null };
    const [rows, timeToPay] = await Promise.all([
      services.views.stats.dayRows(caller.tenant, window),
      services.views.stats.timeToPay(caller.tenant, window),
    ]);
    return { status: 200, body: metricsView(window, rows, timeToPay) };
  },
};
