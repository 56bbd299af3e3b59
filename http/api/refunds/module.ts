// The HTTP module for refunds.
import { httpModule } from '../../kernel/httpModule.ts';
import { REFUNDS, refundSchema } from './refundSchema.ts';
import { listRefundsRoute, refundPaymentRoute } from './refunds.ts';
import { confirmRefundRoute, failRefundRoute } from './sandboxRefunds.ts';

export const refunds = httpModule({
  name: 'refunds',
  chapters: [REFUNDS],
  routes: [refundPaymentRoute, listRefundsRoute, confirmRefundRoute, failRefundRoute],
  schemas: { Refund: refundSchema },
});
