// GET /v1/charges (contract.md List charges query, rules I9, I12).

import type { Cursor } from '../../../application/ports/readModels/payments.ts';
import { type PaymentId, PREFIX, parsePrefixedId } from '../../../domain/kernel/ids.ts';
import { type Rejection, reject } from '../../../domain/kernel/rejection.ts';
import { documentKeyOf } from '../../../domain/pix/taxId.ts';
import { chargeView } from '../../../domain/presentation/charge.ts';
import { PUBLIC_STATUSES, transactionStatusesOf } from '../../../domain/presentation/status.ts';
import { notAfter, notBefore } from '../../kernel/isoDates.ts';
import { matching, neverAccepted, oneOf, wholeNumber } from '../../kernel/queryRules.ts';
import { type KeyContext, route } from '../../kernel/route.ts';
import { chargeListSchema } from './chargeSchema.ts';

const cursorOf = async ({ caller, services }: KeyContext, id: PaymentId): Promise<Cursor | Rejection> => {
  const payment = await services.views.payments.find(caller.tenant, id);
  return payment
    ? { createdAt: payment.charge.terms.createdAt, id }
    : reject('invalid_cursor', 'starting_after is not one of your charges.', { param: 'starting_after' });
};

const cursorsOnly = neverAccepted('starting_after');

export const listChargesRoute = route({
  method: 'GET',
  path: '/v1/charges',
  operationId: 'listCharges',
  summary: 'The charges, newest first, by cursor',
  tag: 'Charges',
  principal: 'apiKey',
  reads: ['payments'],
  query: {
    limit: wholeNumber('How many charges at most.', 1, 100, 25),
    starting_after: matching(
      'The last charge of the page before: `next_cursor` of its answer.',
      'a ch_ id',
      (text) => parsePrefixedId<PaymentId>(text, PREFIX.charge) ?? undefined,
      'invalid_cursor',
    ),
    status: oneOf('Charges in this status.', PUBLIC_STATUSES),
    created_after: notBefore('Charges created then or later.'),
    created_before: notAfter('Charges created then or earlier.'),
    customer_id: matching(
      'Charges of the customer with this CPF or CNPJ.',
      'a document, masked or not',
      (text) => documentKeyOf(text) ?? undefined,
    ),
    page: cursorsOnly,
    offset: cursorsOnly,
  },
  refusesUnknownQuery: true,
  responses: { 200: { kind: 'json', description: 'A page of charges.', schema: chargeListSchema } },
  errors: [],
  handle: async (context) => {
    const { caller, query, services } = context;
    const after = query.starting_after === undefined ? null : await cursorOf(context, query.starting_after);
    if (after !== null && 'rejected' in after) return after;
    const filter = {
      statuses: query.status === undefined ? null : transactionStatusesOf(query.status),
      from: query.created_after ?? null,
      to: query.created_before ?? null,
      documentKey: query.customer_id ?? null,
    };
    // One more than asked for tells whether there are more.
    const found = await services.views.payments.listAfter(caller.tenant, filter, after, query.limit + 1);
    const data = found.slice(0, query.limit).map(chargeView);
    const hasMore = found.length > query.limit;
    const next = hasMore ? (data.at(-1)?.id ?? null) : null;
    return { status: 200, body: { object: 'list' as const, data, has_more: hasMore, next_cursor: next } };
  },
});
