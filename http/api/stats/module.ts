// Statistics of payments over HTTP.
import { httpModule } from '../../kernel/httpModule.ts';
import { paymentMetricsRoute, paymentStatsRoute } from './stats.ts';

export const stats = httpModule({ name: 'stats', routes: [paymentStatsRoute, paymentMetricsRoute] });
