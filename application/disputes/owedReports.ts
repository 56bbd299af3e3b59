// Processes dispute reports again that arrived when their payment could not be disputed (Q10).

import type { PaymentId } from '../../domain/kernel/ids.ts';
import { idOf, jobKind, payloadOf } from '../core/capability.ts';
import type { PayloadOf } from '../ports/jobs.ts';
import { type TakeCasesNeeds, takeProviderCases } from './takeProviderCases.ts';

export const takeOwedReports = jobKind({
  name: 'takeOwedReports',
  payload: payloadOf({ paymentId: idOf<PaymentId>() }),
  subjectOf: ({ paymentId }) => paymentId,
});

/** Reads the provider's reports about the payment again. Throws UnknownAtProvider. */
export const takeOwedReportsOf =
  (needs: TakeCasesNeeds) =>
  ({ paymentId }: PayloadOf<typeof takeOwedReports>): Promise<void> =>
    takeProviderCases(needs)(paymentId);
