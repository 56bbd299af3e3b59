// Refunds: reserving them, and paying them to the payer.
import { autoConfirmRefunds, refundVelocity } from '../../domain/refund/settings.ts';
import { capability, each, job } from '../core/capability.ts';
import type { UseCaseNeeds } from '../core/useCase.ts';
import { owedOf } from '../payments/overdue.ts';
import type { OperatorAlerts } from '../ports/operatorAlerts.ts';
import type { PaymentProviders } from '../ports/paymentProvider.ts';
import type { ProviderConnections } from '../ports/providerConnections.ts';
import type { PaymentReads } from '../ports/readModels/payments.ts';
import type { RefundViews } from '../ports/readModels/views.ts';
import type { RefundGuard } from '../ports/refundGuard.ts';
import type { Timers } from '../ports/timers.ts';
import { alertOfLate, confirmedLate, RefundExecutor, refund, refundExecution } from './refundExecution.ts';
import { quoteRefund, requestRefund } from './requestRefund.ts';

interface RefundsNeeds extends UseCaseNeeds {
  readonly providers: PaymentProviders;
  readonly providerConnections: Pick<ProviderConnections, 'statusOf'>;
  readonly timers: Timers;
  readonly payments: Pick<PaymentReads, 'overdue'>;
  readonly alerts: OperatorAlerts;
  readonly refundGuard: RefundGuard;
  /** For its routes. */
  readonly views: { readonly refunds: RefundViews };
}

export const refunds = capability({
  name: 'refunds',
  parts: (needs: RefundsNeeds) => needs,
  processes: [refundExecution],
  settings: [refundVelocity],
  sandboxSwitches: [autoConfirmRefunds],
  jobs: [
    job(refund, {
      handler: (needs: RefundsNeeds) => {
        const executor = new RefundExecutor(needs);
        return each((...what) => executor.run(...what));
      },
      places: { places: 24, perTarget: 24 },
      idle: 'awaited',
      owed: owedOf('refund', (paymentId, { refundId }) => ({ paymentId, refundId })),
    }),
  ],
  notifications: { refund: { job: refund } },
  effects: confirmedLate.by((needs: RefundsNeeds) => alertOfLate(needs)),
  useCases: (needs) => ({ requestRefund: requestRefund(needs), quoteRefund: quoteRefund(needs) }),
});
