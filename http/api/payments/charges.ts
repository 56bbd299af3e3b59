// Charges (contract.md Charges).
import { type ChargeBody, chargeProblems, chargeRequest } from '../../../domain/charge/request.ts';
import { type PaymentId, PREFIX, parseId } from '../../../domain/kernel/ids.ts';
import { isRejection, reject } from '../../../domain/kernel/rejection.ts';
import { chargeView } from '../../../domain/presentation/charge.ts';
import type { BodyRule, Route, RouteContext } from '../../kernel/route.ts';
import { assertShown } from '../../kernel/upToDate.ts';
import { chargeSchema, createChargeBody } from './chargeSchema.ts';
import { created } from './created.ts';

const body: BodyRule = {
  schema: createChargeBody,
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
};

const create = async (ask: RouteContext) => {
  const { caller, services, idempotencyKey, requestId } = ask;
  const done = await services.createCharge.handle({
    account: caller.account,
    mode: caller.tenant.mode,
    actor: caller.actor,
    request: chargeRequest(ask.body as ChargeBody),
    baseUrl: services.baseUrl,
    idempotencyKey,
    requestId,
  });
  if (isRejection(done)) return done;
  return created(chargeView(done.payment), done.replayed);
};

const creating = {
  method: 'POST',
  auth: 'apikey',
  idempotent: true,
  responses: { 201: { description: 'The charge, with its Pix code.', schema: chargeSchema } },
  errors: [
    'payer_tax_id_mismatch',
    'customer_name_required',
    'idempotency_key_reused',
    'idempotency_request_in_progress',
    'fraud.customer_velocity_exceeded',
    'fraud.account_velocity_exceeded',
    'unprocessable_entity',
    'service_unavailable',
  ],
  handle: create,
} as const;

export const createChargeRoute: Route = {
  ...creating,
  path: '/v1/charges',
  operationId: 'createCharge',
  summary: 'Create a Pix charge',
  body,
};

export const createPixChargeRoute: Route = {
  ...creating,
  path: '/v1/pix/charges',
  operationId: 'createPixCharge',
  summary: 'Create a Pix charge; the route fixes payment_method',
  body: { ...body, fill: (sent) => ({ ...sent, payment_method: 'pix' }) },
};

export const getChargeRoute: Route = {
  method: 'GET',
  path: '/v1/charges/{id}',
  operationId: 'getCharge',
  summary: 'Read a charge by its ch_ id or its raw id',
  auth: 'apikey',
  reads: ['payments'],
  responses: { 200: { description: 'The charge.', schema: chargeSchema } },
  errors: ['not_found'],
  handle: async ({ caller, params, services }) => {
    const id = parseId<PaymentId>(params['id'] as string, PREFIX.charge);
    if (id) assertShown({ services, caller }, id);
    const payment = id && (await services.views.payments.find(caller.tenant, id));
    return payment ? { status: 200, body: chargeView(payment) } : reject('not_found', 'There is no such charge.');
  },
};
