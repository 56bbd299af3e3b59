// The HTTP module for payouts.
import { httpModule } from '../../kernel/httpModule.ts';
import { canonicalBody } from '../webhooks/webhookBodies.ts';
import { OPERATOR_PAYOUT_ROUTES } from './operatorPayouts.ts';
import { PAYOUTS, payoutSchema } from './payoutSchema.ts';
import { PAYOUT_ROUTES } from './payouts.ts';
import { SANDBOX_PAYOUT_ROUTES } from './sandboxPayouts.ts';
import { withdrawalBody } from './webhookBodies.ts';

export const payouts = httpModule({
  name: 'payouts',
  chapters: [PAYOUTS],
  routes: [...PAYOUT_ROUTES, ...SANDBOX_PAYOUT_ROUTES, ...OPERATOR_PAYOUT_ROUTES],
  schemas: { Payout: payoutSchema },
  webhooks: { payout: canonicalBody(payoutSchema), withdrawal: withdrawalBody },
});
