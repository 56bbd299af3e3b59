// Routes of payouts (rules Y1–Y5).

import { StreamParked } from '../../../application/ports/readModels/progress.ts';
import { type PaymentId, PREFIX, parseId, parsePrefixedId, type Tenant } from '../../../domain/kernel/ids.ts';
import { isRejection, type Rejection, reject } from '../../../domain/kernel/rejection.ts';
import { PAYMENT } from '../../../domain/payment/aggregate.ts';
import { PAYOUT } from '../../../domain/payout/aggregate.ts';
import { NO_PAYOUT, NOT_AWAITING_APPROVAL, NOT_CANCELLABLE, type Review } from '../../../domain/payout/decisions.ts';
import type { PayoutId } from '../../../domain/payout/payout.ts';
import { requestedPayoutView } from '../../../domain/payout/presentation.ts';
import { payoutProblems } from '../../../domain/payout/request.ts';
import { PAYOUT_STATUSES, type PayoutView } from '../../../domain/presentation/payout.ts';
import type { Caller, SessionCaller } from '../../kernel/callers.ts';
import * as s from '../../kernel/jsonSchema.ts';
import { matching, neverAccepted, notAfter, notBefore, oneOf, wholeNumber } from '../../kernel/query.ts';
import { actorOf, created, json, jsonBody, type KeyContext, pathParam, type Route, route } from '../../kernel/route.ts';
import { assertCaughtUp } from '../../kernel/upToDate.ts';
import { renderPayoutReceipt } from './payoutReceipt.ts';
import { PAYOUTS, payoutBody, payoutListSchema, payoutSchema, rejectPayoutBody } from './payoutSchema.ts';

/** The path parameter of a payout. */
export const payoutParam = {
  id: pathParam(
    'The `po_` id of the payout, or its raw id.',
    (text) => parseId<PayoutId>(text, PAYOUT.idPrefix) ?? NO_PAYOUT,
  ),
};

/** Returns the payout, or null if the caller has none with this id. Throws StreamParked when reads don't follow it or its payment. */
export const findShown = async (
  { services, caller: { tenant } }: Pick<KeyContext, 'services'> & { readonly caller: Pick<Caller, 'tenant'> },
  id: PayoutId,
): Promise<PayoutView | null> => {
  const { parked, views } = services;
  const found = await views.payouts.find(tenant, id);
  const paymentId = found?.charge_id ? parsePrefixedId<PaymentId>(found.charge_id, PREFIX.charge) : null;
  // A missing payout may belong to a payment that was parked before its refund was read.
  const isParked =
    found === null
      ? parked.hasAnyOf('payouts', tenant)
      : parked.has('payouts', paymentId === null ? PAYOUT.stream(id) : PAYMENT.stream(paymentId), tenant);
  if (isParked) throw new StreamParked('reads of the payout are not up to date');
  return found;
};

const ONE = json('The payout.', payoutSchema);

const requestPayoutRoute = route('POST', '/v1/payouts', {
  operationId: 'requestPayout',
  summary: 'Request a payout from the wallet to a Pix key',
  description:
    'Moves money from the wallet to a Pix key. The available balance must cover the amount and its fee. Both are deducted from `available` immediately. A repeat with the same `Idempotency-Key` and body returns the first response.',
  tag: PAYOUTS,
  principal: 'apiKey',
  needsIdempotencyKey: true,
  body: jsonBody({
    schema: payoutBody,
    codes: {
      amount: 'invalid_amount',
      currency: 'invalid_currency',
      description: 'invalid_description',
      metadata: 'invalid_metadata',
      destination: 'invalid_pix_key',
    },
    refine: payoutProblems,
  }),
  responses: { 201: json('The requested payout.', payoutSchema) },
  errors: [
    'idempotency_key_reused',
    'idempotency_request_in_progress',
    'unprocessable_entity',
    'destination_not_allowed',
    'fraud.account_velocity_exceeded',
    'insufficient_funds',
    'service_unavailable',
  ],
  handle: async ({ caller, services, body, idempotencyKey, requestId }) => {
    const { account, actor, tenant } = caller;
    const done = await services.payoutRequests.request({
      account,
      mode: tenant.mode,
      idempotencyKey,
      body,
      actor,
      requestId,
    });
    return isRejection(done) ? done : created(requestedPayoutView(done.payout), done.replayed);
  },
});

const getPayoutRoute = route('GET', '/v1/payouts/{id}', {
  operationId: 'getPayout',
  summary: 'Retrieve a payout',
  description: 'Returns a payout, or the Pix transfer of a cash-out refund. The destination is masked.',
  tag: PAYOUTS,
  principal: 'apiKey',
  params: payoutParam,
  reads: ['payouts'],
  responses: { 200: ONE },
  handle: async (context) => {
    const found = await findShown(context, context.params.id);
    return found === null ? NO_PAYOUT : { status: 200, body: found };
  },
});

const NO_CURSOR = reject('invalid_cursor', 'starting_after is not the id of one of your payouts.', {
  param: 'starting_after',
});
const cursorsOnly = neverAccepted('starting_after');

const listPayoutsRoute = route('GET', '/v1/payouts', {
  operationId: 'listPayouts',
  summary: 'List payouts',
  description:
    'Returns payouts and the Pix transfers of cash-out refunds, newest first. To read the next page, pass `next_cursor` as `starting_after`.',
  tag: PAYOUTS,
  principal: 'apiKey',
  reads: ['payouts'],
  query: {
    limit: wholeNumber('The maximum number of payouts to return.', 1, 100, 25),
    starting_after: matching(
      'The `next_cursor` of the previous page.',
      'a po_ id',
      (text) => parsePrefixedId<PayoutId>(text, PAYOUT.idPrefix) ?? undefined,
      'invalid_cursor',
    ),
    status: oneOf('Only payouts in this status.', PAYOUT_STATUSES),
    created_after: notBefore('Only payouts created at or after this time.'),
    created_before: notAfter('Only payouts created at or before this time.'),
    page: cursorsOnly,
    offset: cursorsOnly,
  },
  refusesUnknownQuery: true,
  responses: { 200: json('A page of payouts.', payoutListSchema) },
  handle: async ({ caller, query, services }) => {
    const { limit, starting_after: after = null } = query;
    const filter = {
      status: query.status ?? null,
      from: query.created_after ?? null,
      to: query.created_before ?? null,
    };
    const found = await services.views.payouts.list(caller.tenant, filter, { after, limit });
    if (found === null) return NO_CURSOR;
    const { payouts: data, hasMore } = found;
    const next = hasMore ? (data.at(-1)?.id ?? null) : null;
    return { status: 200, body: { object: 'list' as const, data, has_more: hasMore, next_cursor: next } };
  },
});

/** Returns `refusal` if the id is that of a cash-out refund's Pix, which only the bank can end (Y2); otherwise `NO_PAYOUT`. */
const unlessPixOut = async (
  services: KeyContext['services'],
  tenants: readonly Tenant[],
  id: PayoutId,
  refusal: Rejection,
): Promise<Rejection> => {
  await assertCaughtUp(services, ['payouts']);
  const found = await Promise.all(tenants.map((tenant) => services.views.payouts.find(tenant, id)));
  return found.some((payout) => payout?.refund_id) ? refusal : NO_PAYOUT;
};

const cancelPayoutRoute = route('POST', '/v1/payouts/{id}/cancel', {
  operationId: 'cancelPayout',
  summary: 'Cancel a pending payout',
  description:
    'Cancels a pending payout. The amount and the fee return to the wallet. A repeat returns the cancelled payout.',
  tag: PAYOUTS,
  principal: 'apiKey',
  params: payoutParam,
  responses: { 200: ONE },
  errors: ['payout_not_cancellable'],
  handle: async (context) => {
    const { caller, params, services } = context;
    const done = await services.cancelPayout(caller.tenant, params.id, actorOf(context));
    if (done === NO_PAYOUT) return unlessPixOut(services, [caller.tenant], params.id, NOT_CANCELLABLE);
    return isRejection(done) ? done : { status: 200, body: requestedPayoutView(done) };
  },
});

const NO_RECEIPT = reject('not_found', 'There is no receipt: the payout is not paid.');

/** Returns the receipt as a PDF. */
export const receiptOf = async (
  context: Pick<KeyContext<typeof payoutParam>, 'caller' | 'params' | 'services'>,
): Promise<Buffer | Rejection> => {
  const { caller, params, services } = context;
  const payout = await findShown(context, params.id);
  if (payout === null) return NO_PAYOUT;
  if (payout.paid_at === null) return NO_RECEIPT;
  const { settings } = caller.account;
  const logo = await services.findLogo(settings.logo);
  const facts = { mode: caller.tenant.mode, merchant: settings, logo: logo?.bytes ?? null };
  return renderPayoutReceipt({ ...facts, payout, paidAt: payout.paid_at });
};

const receiptRoute = route('GET', '/v1/payouts/{id}/receipt', {
  operationId: 'getPayoutReceipt',
  summary: 'Retrieve the receipt of a payout',
  description: 'Returns the receipt of a paid payout as a PDF in base64.',
  tag: PAYOUTS,
  principal: 'apiKey',
  params: payoutParam,
  reads: ['payouts'],
  responses: {
    200: json(
      'The receipt.',
      s.exactly({
        contentType: s.constant('application/pdf'),
        base64: s.described('The PDF file, in base64.', s.string()),
      }),
    ),
  },
  handle: async (context) => {
    const pdf = await receiptOf(context);
    if (isRejection(pdf)) return pdf;
    return { status: 200, body: { contentType: 'application/pdf' as const, base64: pdf.toString('base64') } };
  },
});

const NOT_YOURS = reject('role_required', 'Only an OWNER or ADMIN can review payouts.');
const unlessManager = ({ role }: SessionCaller) => (role === 'OWNER' || role === 'ADMIN' ? null : NOT_YOURS);

const reviewing = {
  tag: PAYOUTS,
  principal: 'session',
  refusalOf: unlessManager,
  params: payoutParam,
  responses: { 200: ONE },
  errors: ['role_required', 'payout_not_awaiting_approval'],
} as const;

export const reviewOf = async (
  context: {
    readonly caller: SessionCaller;
    readonly services: KeyContext['services'];
    readonly params: { readonly id: PayoutId };
    readonly requestId: string;
  },
  verdict: Review,
) => {
  const { caller, services, params } = context;
  const by = { ...actorOf(context), userId: caller.userId };
  const { accountId } = caller.account;
  const done = await services.reviewPayout(accountId, params.id, verdict, by);
  if (done === NO_PAYOUT) {
    const tenants = (['test', 'live'] as const).map((mode) => ({ accountId, mode }));
    return unlessPixOut(services, tenants, params.id, NOT_AWAITING_APPROVAL);
  }
  return isRejection(done) ? done : { status: 200 as const, body: requestedPayoutView(done) };
};

const approvePayoutRoute = route('POST', '/v1/payouts/{id}/approve', {
  ...reviewing,
  operationId: 'approvePayout',
  summary: 'Approve a payout',
  description:
    'Approves a payout that awaits approval. The user who requested the payout, or who issued the API key used for the request, can’t approve it.',
  handle: (context) => reviewOf(context, { verdict: 'approved' }),
});

const rejectPayoutRoute = route('POST', '/v1/payouts/{id}/reject', {
  ...reviewing,
  operationId: 'rejectPayout',
  summary: 'Reject a payout',
  description:
    'Rejects a payout that awaits approval. The payout fails with `failure_reason` `rejected`. The amount and the fee return to the wallet.',
  body: jsonBody({ schema: rejectPayoutBody }),
  handle: (context) => reviewOf(context, { verdict: 'rejected', reason: context.body.reason ?? null }),
});

export const PAYOUT_ROUTES: readonly Route[] = [
  requestPayoutRoute,
  listPayoutsRoute,
  getPayoutRoute,
  cancelPayoutRoute,
  receiptRoute,
  approvePayoutRoute,
  rejectPayoutRoute,
];
