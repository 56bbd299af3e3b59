// GET /v1/charges (contract.md List charges query, rules I9, I12).

import type { Cursor } from '../../../application/ports/readModels/payments.ts';
import { type PaymentId, PREFIX, parsePrefixedId } from '../../../domain/kernel/ids.ts';
import { type Rejection, reject } from '../../../domain/kernel/rejection.ts';
import type { Timestamp } from '../../../domain/kernel/time.ts';
import { documentKeyOf } from '../../../domain/pix/taxId.ts';
import { chargeView } from '../../../domain/presentation/charge.ts';
import { PUBLIC_STATUSES, type PublicStatus, transactionStatusesOf } from '../../../domain/presentation/status.ts';
import { notAfter, notBefore } from '../../kernel/isoDates.ts';
import { chargeListSchema } from '../../kernel/listSchema.ts';
import { matching, neverAccepted, oneOf, wholeNumber } from '../../kernel/queryRules.ts';
import type { Route, RouteContext } from '../../kernel/route.ts';

interface Query {
  readonly limit: number;
  readonly starting_after?: PaymentId;
  readonly status?: PublicStatus;
  readonly created_after?: Timestamp;
  readonly created_before?: Timestamp;
  /** As `documentKeyOf` gives it. */
  readonly customer_id?: string;
}

const cursorOf = async ({ caller, services }: RouteContext, id: PaymentId): Promise<Cursor | Rejection> => {
  const payment = await services.views.payments.find(caller.tenant, id);
  return payment
    ? { createdAt: payment.charge.terms.createdAt, id }
    : reject('invalid_cursor', 'starting_after is not one of your charges.', { param: 'starting_after' });
};

const cursorsOnly = neverAccepted('starting_after');

export const listChargesRoute: Route = {
  method: 'GET',
  path: '/v1/charges',
  operationId: 'listCharges',
  summary: 'The charges, newest first, by cursor',
  auth: 'apikey',
  reads: ['payments'],
  query: {
    limit: wholeNumber(1, 100, 25),
    starting_after: matching('a ch_ id', (text) => parsePrefixedId<PaymentId>(text, PREFIX.charge) ?? undefined, {
      code: 'invalid_cursor',
    }),
    status: oneOf(PUBLIC_STATUSES),
    created_after: notBefore,
    created_before: notAfter,
    customer_id: matching('a document, masked or not', (text) => documentKeyOf(text) ?? undefined),
    page: cursorsOnly,
    offset: cursorsOnly,
  },
  refusesUnknownQuery: true,
  responses: { 200: { description: 'A page of charges.', schema: chargeListSchema } },
  errors: ['invalid_filter', 'invalid_cursor'],
  handle: async (ask) => {
    const query = ask.query as unknown as Query;
    const after = query.starting_after === undefined ? null : await cursorOf(ask, query.starting_after);
    if (after !== null && 'rejected' in after) return after;
    const filter = {
      statuses: query.status === undefined ? null : transactionStatusesOf(query.status),
      from: query.created_after ?? null,
      to: query.created_before ?? null,
      documentKey: query.customer_id ?? null,
    };
    const { payments } = ask.services.views;
    // One more than asked for tells whether there are more.
    const found = await payments.listAfter(ask.caller.tenant, filter, after, query.limit + 1);
    const data = found.slice(0, query.limit).map(chargeView);
    const hasMore = found.length > query.limit;
    const next = hasMore ? (data.at(-1)?.id ?? null) : null;
    return { status: 200, body: { object: 'list', data, has_more: hasMore, next_cursor: next } };
  },
};
