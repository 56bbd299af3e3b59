// Routes that create, retrieve and list charges (contract.md Charges, List charges query; rules I9, I12).

import { SEARCH_MAX, searchTermsOf } from '../../../application/payments/searchTerms.ts';
import { type Cursor, cursorAt, type PaymentFilter } from '../../../application/ports/readModels/payments.ts';
import { type ChargeBody, chargeProblems, chargeRequest } from '../../../domain/charge/request.ts';
import { type PaymentId, PREFIX, parseId, parsePrefixedId } from '../../../domain/kernel/ids.ts';
import { AMOUNT_MAX, AMOUNT_MIN } from '../../../domain/kernel/money.ts';
import { isRejection, type Rejection, reject } from '../../../domain/kernel/rejection.ts';
import { documentKeyOf } from '../../../domain/pix/taxId.ts';
import { chargeView } from '../../../domain/presentation/charge.ts';
import { PUBLIC_STATUSES, transactionStatusesOf } from '../../../domain/presentation/status.ts';
import { matching, neverAccepted, notAfter, notBefore, oneOf, wholeNumber } from '../../kernel/query.ts';
import { created, json, jsonBody, type KeyContext, pathParam, type QueryRule, route } from '../../kernel/route.ts';
import { assertShown } from '../../kernel/upToDate.ts';
import { CHARGES, chargeListSchema, chargeSchema, createChargeBody, createPixChargeBody } from './chargeSchema.ts';

const NO_CHARGE = reject('not_found', 'There is no such charge.');
/** The path parameter of a charge. */
export const chargeParam = {
  id: pathParam(
    'The `ch_` id of the charge, or its raw id.',
    (text) => parseId<PaymentId>(text, PREFIX.charge) ?? NO_CHARGE,
  ),
};

const bodyRules = {
  codes: {
    amount: 'invalid_amount',
    currency: 'invalid_currency',
    payment_method: 'invalid_payment_method',
    description: 'invalid_description',
    expires_in: 'invalid_expires_in',
    customer: 'invalid_customer',
    expected_payer_tax_id: 'invalid_payer_tax_id',
    metadata: 'invalid_metadata',
  },
  refine: chargeProblems,
  ignoresUnknownFields: true,
} as const;

const createBody = jsonBody({ ...bodyRules, schema: createChargeBody });
/** The route sets payment_method. */
const createPixBody = jsonBody({ ...bodyRules, schema: createPixChargeBody, ignores: ['payment_method'] });

const create = async (context: KeyContext, body: ChargeBody) => {
  const { caller, services, idempotencyKey, requestId } = context;
  const done = await services.createCharge.handle({
    account: caller.account,
    mode: caller.tenant.mode,
    actor: caller.actor,
    request: chargeRequest(body),
    baseUrl: services.baseUrl,
    idempotencyKey,
    requestId,
  });
  if (isRejection(done)) return done;
  return created(chargeView(done.payment), done.replayed);
};

const creating = {
  tag: CHARGES,
  principal: 'apiKey',
  needsIdempotencyKey: true,
  responses: { 201: json('The charge, with its Pix code.', chargeSchema) },
  errors: [
    'invalid_url',
    'payer_tax_id_mismatch',
    'customer_name_required',
    'idempotency_key_reused',
    'idempotency_request_in_progress',
    'fraud.customer_velocity_exceeded',
    'fraud.account_velocity_exceeded',
    'unprocessable_entity',
    'service_unavailable',
  ],
} as const;

export const createChargeRoute = route('POST', '/v1/charges', {
  ...creating,
  operationId: 'createCharge',
  summary: 'Create a Pix charge',
  description:
    'Creates a Pix charge and returns its copy-and-paste code, its QR code and a checkout page. A repeat with the same `Idempotency-Key` and body returns the first response and creates nothing.',
  body: createBody,
  handle: (context) => create(context, context.body),
});

export const createPixChargeRoute = route('POST', '/v1/pix/charges', {
  ...creating,
  operationId: 'createPixCharge',
  summary: 'Create a Pix charge without payment_method',
  description:
    'Does the same as `createCharge` with `payment_method` set to `pix`. Both operations share their idempotency keys.',
  body: createPixBody,
  handle: (context) => create(context, { ...context.body, payment_method: 'pix' }),
});

export const getChargeRoute = route('GET', '/v1/charges/{id}', {
  operationId: 'getCharge',
  summary: 'Retrieve a charge',
  description:
    'Returns one charge of this account and mode, by its `ch_` id or raw id. Charges of the other mode return 404.',
  tag: CHARGES,
  principal: 'apiKey',
  reads: ['payments'],
  responses: { 200: json('The charge.', chargeSchema) },
  params: chargeParam,
  handle: async ({ caller, params, services }) => {
    assertShown({ services, caller }, params.id);
    const payment = await services.views.payments.find(caller.tenant, params.id);
    return payment ? { status: 200, body: chargeView(payment) } : NO_CHARGE;
  },
});

const cursorOf = async ({ caller, services }: KeyContext, id: PaymentId): Promise<Cursor | Rejection> => {
  const payment = await services.views.payments.find(caller.tenant, id);
  return payment
    ? cursorAt(payment)
    : reject('invalid_cursor', 'starting_after is not the id of one of your charges.', { param: 'starting_after' });
};

const amountBound = (description: string): QueryRule<number, undefined> => ({
  ...matching(description, `a whole number from ${AMOUNT_MIN} to ${AMOUNT_MAX}`, (text) => {
    const amount = /^\d{1,11}$/.test(text) ? Number(text) : 0;
    return amount >= AMOUNT_MIN && amount <= AMOUNT_MAX ? amount : undefined;
  }),
  schema: { type: 'integer', minimum: AMOUNT_MIN, maximum: AMOUNT_MAX },
});

const cursorsOnly = neverAccepted('starting_after');

export const listChargesRoute = route('GET', '/v1/charges', {
  operationId: 'listCharges',
  summary: 'List charges',
  description:
    'Returns charges sorted by `created_at`, newest first. To read the next page, pass `next_cursor` as `starting_after`.',
  tag: CHARGES,
  principal: 'apiKey',
  reads: ['payments'],
  query: {
    limit: wholeNumber('The maximum number of charges to return.', 1, 100, 25),
    starting_after: matching(
      'The `next_cursor` of the previous page.',
      'a ch_ id',
      (text) => parsePrefixedId<PaymentId>(text, PREFIX.charge) ?? undefined,
      'invalid_cursor',
    ),
    status: oneOf('Only charges in this status.', PUBLIC_STATUSES),
    created_after: notBefore('Only charges created at or after this time.'),
    created_before: notAfter('Only charges created at or before this time.'),
    customer_id: matching(
      'Only charges of the customer with this CPF or CNPJ.',
      'a CPF or CNPJ, formatted or not',
      (text) => documentKeyOf(text) ?? undefined,
    ),
    amount_min: amountBound('Only charges of at least this amount, in the smallest unit.'),
    amount_max: amountBound('Only charges of at most this amount, in the smallest unit.'),
    q: matching(
      'Only charges with this id, txid, end-to-end id (also of a return or refund), CPF or CNPJ, email address, `customerId` or amount. `12.34` means R$ 12.34; `1234` also means 1,234 centavos.',
      `a text of 1 to ${SEARCH_MAX} characters`,
      (text) => {
        const terms = searchTermsOf(text);
        return terms.length === 0 ? undefined : terms;
      },
    ),
    page: cursorsOnly,
    offset: cursorsOnly,
  },
  refusesUnknownQuery: true,
  responses: { 200: json('A page of charges.', chargeListSchema) },
  handle: async (context) => {
    const { caller, query, services } = context;
    const after = query.starting_after === undefined ? null : await cursorOf(context, query.starting_after);
    if (after !== null && 'rejected' in after) return after;
    const filter: PaymentFilter = {
      statuses: query.status === undefined ? null : transactionStatusesOf(query.status),
      from: query.created_after ?? null,
      to: query.created_before ?? null,
      documentKey: query.customer_id ?? null,
      amountFrom: query.amount_min ?? null,
      amountTo: query.amount_max ?? null,
      found: query.q ?? null,
    };
    // One extra row shows whether there is a next page.
    const found = await services.views.payments.listAfter(caller.tenant, filter, after, query.limit + 1);
    const data = found.slice(0, query.limit).map(chargeView);
    const hasMore = found.length > query.limit;
    const next = hasMore ? (data.at(-1)?.id ?? null) : null;
    return { status: 200, body: { object: 'list' as const, data, has_more: hasMore, next_cursor: next } };
  },
});
