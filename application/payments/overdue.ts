// Finds overdue work of payments in their read model.
import { type OwedSource, owedBy } from '../core/capability.ts';
import type { JobPayload } from '../ports/jobs.ts';
import type { OverduePayment, PaymentReads } from '../ports/readModels/payments.ts';

interface Needs {
  readonly payments: Pick<PaymentReads, 'overdue'>;
}

/** Shared by all jobs that use it, so that it is read only once. */
const overduePayments: OwedSource<Needs, OverduePayment> = ({ payments }, { before, page }) =>
  payments.overdue(before, page);

type Pending = OverduePayment['work'];

/** Returns how the watchdog finds overdue work of one kind. */
export const owedOf = <Kind extends Pending['kind'], Payload extends JobPayload>(
  kind: Kind,
  payloadOf: (paymentId: OverduePayment['paymentId'], work: Pending & { readonly kind: Kind }) => Payload,
) =>
  owedBy<Needs, OverduePayment, Payload>(overduePayments, ({ tenant, paymentId, work }) =>
    work.kind === kind ? { tenant, payload: payloadOf(paymentId, work as Pending & { readonly kind: Kind }) } : null,
  );
