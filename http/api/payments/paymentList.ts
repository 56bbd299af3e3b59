// GET /v1/payments (contract.md List payments query).

import { type PageOrder, SORT_FIELDS } from '../../../application/ports/readModels/payments.ts';
import { PREFIX } from '../../../domain/kernel/ids.ts';
import { TRANSACTION_STATUSES } from '../../../domain/presentation/status.ts';
import { transactionView } from '../../../domain/presentation/transaction.ts';
import { notAfter, notBefore } from '../../kernel/isoDates.ts';
import { oneOf, wholeNumber } from '../../kernel/queryRules.ts';
import { route } from '../../kernel/route.ts';
import { paymentListSchema } from './transactionSchema.ts';

/** Pages of a hundred beyond it start after more payments than there can be. */
const PAGE_MAX = 1_000_000_000;

export const listPaymentsRoute = route({
  method: 'GET',
  path: '/v1/payments',
  operationId: 'listPayments',
  summary: 'The payments, by page, sorted by any of their fields',
  tag: 'Payments',
  principal: 'apiKey',
  reads: ['payments'],
  query: {
    page: wholeNumber('Which page.', 1, PAGE_MAX, 1),
    limit: wholeNumber('How many payments a page has at most.', 1, 100, 20),
    status: oneOf('Payments in this status.', TRANSACTION_STATUSES),
    startDate: notBefore('Payments created then or later.'),
    endDate: notAfter('Payments created then or earlier.'),
    sortBy: oneOf('What they are sorted by. Default createdAt.', SORT_FIELDS),
    sortOrder: oneOf('Default desc.', ['asc', 'desc']),
  },
  refusesUnknownQuery: true,
  responses: {
    200: { kind: 'json', description: 'A page of payments, with how many there are.', schema: paymentListSchema },
  },
  errors: [],
  handle: async ({ caller, query, services: { views } }) => {
    const { page, limit, status, startDate, endDate, sortBy, sortOrder } = query;
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
});
