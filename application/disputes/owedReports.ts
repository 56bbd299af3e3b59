// Processes dispute reports again that arrived when their payment could not be disputed (Q10).

import { jobKind, ofPayment } from '../core/capability.ts';
import type { PayloadOf } from '../ports/jobs.ts';
import { type TakeCasesNeeds, takeProviderCases } from './takeProviderCases.ts';

export const takeOwedReports = jobKind({ name: 'takeOwedReports', ...ofPayment });

/** Reads the provider's reports about the payment again. Throws UnknownAtProvider. */
export const takeOwedReportsOf =
  (needs: TakeCasesNeeds) =>
  ({ paymentId }: PayloadOf<typeof takeOwedReports>): Promise<void> =>
    takeProviderCases(needs)(paymentId);
