// Processes dispute reports again that arrived when their payment could not be disputed (Q10).

import type { PaymentId } from '../../domain/kernel/ids.ts';
import { PAYMENT } from '../../domain/payment/aggregate.ts';
import { idOf, jobKind, payloadOf } from '../core/capability.ts';
import { enqueue, paymentOf, processManager, reacting } from '../core/reactions.ts';
import type { PayloadOf } from '../ports/jobs.ts';
import { followSettling } from './reviews.ts';
import { type TakeCasesNeeds, takeProviderCases } from './takeProviderCases.ts';

export const takeOwedReports = jobKind({
  name: 'takeOwedReports',
  payload: payloadOf({ paymentId: idOf<PaymentId>() }),
  subjectOf: ({ paymentId }) => paymentId,
});

const take = (logged: { readonly subject: string }) => [enqueue(takeOwedReports, { paymentId: paymentOf(logged) })];

/** Records a payment's settlement in its case, and processes owed reports when the payment can be disputed again. */
export const caseSettling = processManager({
  name: 'caseSettling',
  movesMoney: true,
  from: 'beginning',
  reactions: {
    payment: reacting(PAYMENT.groups, {
      reads: {
        TransactionDisputeSettled: (logged) => [
          enqueue(followSettling, { paymentId: paymentOf(logged), revision: logged.revision }),
        ],
        TransactionDisputeResolved: take,
        TransactionHeldReleased: take,
      },
      ignores: ['demand', 'methods', 'money', 'hold', 'rejection', 'returns', 'refund', 'case', 'erasure'],
    }),
  },
});

/** Reads the provider's reports about the payment again. Throws UnknownAtProvider. */
export const takeOwedReportsOf =
  (needs: TakeCasesNeeds) =>
  ({ paymentId }: PayloadOf<typeof takeOwedReports>): Promise<void> =>
    takeProviderCases(needs)(paymentId);
