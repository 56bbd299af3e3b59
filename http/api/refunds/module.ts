// The HTTP module for refunds.
import { httpModule } from '../../kernel/httpModule.ts';
import { refundSchema } from './refundSchema.ts';
import { listRefundsRoute, refundPaymentRoute } from './refunds.ts';
import { confirmRefundRoute, failRefundRoute } from './sandboxRefunds.ts';
import { REFUNDS } from './tags.ts';

export const refunds = httpModule({
  name: 'refunds',
  chapters: [REFUNDS],
  routes: [refundPaymentRoute, listRefundsRoute, confirmRefundRoute, failRefundRoute],
  schemas: { Refund: refundSchema },
});
