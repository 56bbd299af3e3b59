// Reads a whole filtered list, a page at a time, so that memory doesn't grow with it and a client that disconnects ends it.
import type { Tenant } from '../../domain/kernel/ids.ts';
import { type Rejection, reject } from '../../domain/kernel/rejection.ts';
import type { ExistingPayment } from '../../domain/payment/payment.ts';
import { KeyedCount } from '../core/keyedCount.ts';
import { pagesOf } from '../ports/pagesOf.ts';
import { type CursorOrder, cursorAt, type PaymentFilter, type PaymentViews } from '../ports/readModels/payments.ts';

export interface PaymentExport {
  readonly pages: AsyncIterable<readonly ExistingPayment[]>;
  /** Frees its slot. */
  readonly close: () => void;
}

const PAGE = 1_000;
/** Concurrent exports of an account in each process, because a long one takes a minute of work. */
const OF_ACCOUNT_MAX = 2;
const TOO_MANY = reject(
  'rate_limited',
  `Too many exports at once: at most ${OF_ACCOUNT_MAX} per account. Wait until one ends.`,
);

/** Returns the payments of a list, which the caller must close. Holds no database connection between pages. */
export const exportPayments = ({ views }: { readonly views: { readonly payments: PaymentViews } }) => {
  const open = new KeyedCount();
  return (tenant: Tenant, filter: PaymentFilter, order: CursorOrder): PaymentExport | Rejection => {
    if (open.of(tenant.accountId) >= OF_ACCOUNT_MAX) return TOO_MANY;
    const read = async (last: ExistingPayment | null) => ({
      rows: await views.payments.listAfter(tenant, filter, last && cursorAt(last), PAGE, order),
    });
    return { pages: pagesOf(PAGE, read, (rows) => rows), close: open.add(tenant.accountId) };
  };
};
