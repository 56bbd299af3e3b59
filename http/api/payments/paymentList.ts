// GET /v1/payments (contract.md List payments query).

import { type PageOrder, SORT_FIELDS, type SortField } from '../../../application/ports/readModels/payments.ts';
import { PREFIX } from '../../../domain/kernel/ids.ts';
import type { Timestamp } from '../../../domain/kernel/time.ts';
import { TRANSACTION_STATUSES, type TransactionStatus } from '../../../domain/presentation/status.ts';
import { transactionView } from '../../../domain/presentation/transaction.ts';
import { notAfter, notBefore } from '../../kernel/isoDates.ts';
import { paymentListSchema } from '../../kernel/listSchema.ts';
import { oneOf, wholeNumber } from '../../kernel/queryRules.ts';
import type { Route } from '../../kernel/route.ts';

/** Pages of a hundred beyond it start after more payments than there can be. */
const PAGE_MAX = 1_000_000_000;

interface Query {
  readonly page: number;
  readonly limit: number;
  readonly status?: TransactionStatus;
  readonly startDate?: Timestamp;
  readonly endDate?: Timestamp;
  readonly sortBy?: SortField;
  readonly sortOrder?: PageOrder['direction'];
}

export const listPaymentsRoute: Route = {
  method: 'GET',
  path: '/v1/payments',
  operationId: 'listPayments',
  summary: 'The payments, by page, sorted by any of their fields',
  auth: 'apikey',
  reads: ['payments'],
  query: {
    page: wholeNumber(1, PAGE_MAX, 1),
    limit: wholeNumber(1, 100, 20),
    status: oneOf(TRANSACTION_STATUSES),
    startDate: notBefore,
    endDate: notAfter,
    sortBy: oneOf(SORT_FIELDS),
    sortOrder: oneOf(['asc', 'desc']),
  },
  refusesUnknownQuery: true,
  responses: { 200: { description: 'A page of payments, with how many there are.', schema: paymentListSchema } },
  errors: ['invalid_filter'],
  handle: async ({ caller, query, services: { views } }) => {
    const { page, limit, status, startDate, endDate, sortBy, sortOrder } = query as unknown as Query;
    const filter = {
      statuses: status === undefined ? null : [status],
      from: startDate ?? null,
      to: endDate ?? null,
      documentKey: null,
    };
    const order: PageOrder = { by: sortBy ?? 'createdAt', direction: sortOrder ?? 'desc' };
    const [payments, total] = await Promise.all([
      views.payments.listPage(caller.tenant, filter, order, { page, limit }),
      views.payments.count(caller.tenant, filter),
    ]);
    const data = payments.map((payment) => {
      const view = transactionView(payment);
      return { ...view, id: PREFIX.transaction + view.id };
    });
    return { status: 200, body: { data, total, page, limit } };
  },
};
