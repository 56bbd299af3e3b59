// Charges (contract.md Charges).
import { type ChargeBody, chargeProblems, chargeRequest } from '../../../domain/charge/request.ts';
import { type PaymentId, PREFIX, parseId } from '../../../domain/kernel/ids.ts';
import { isRejection, reject } from '../../../domain/kernel/rejection.ts';
import { chargeView } from '../../../domain/presentation/charge.ts';
import { jsonBody, type KeyContext, route } from '../../kernel/route.ts';
import { assertShown } from '../../kernel/upToDate.ts';
import { chargeSchema, createChargeBody, createPixChargeBody } from './chargeSchema.ts';
import { created } from './created.ts';

export const NO_CHARGE = reject('not_found', 'There is no such charge.');
/** The charge that a path names. */
export const chargeParam = {
  id: {
    description: 'The `ch_` id of the charge, or its raw id.',
    schema: { type: 'string' },
    parse: (text: string) => parseId<PaymentId>(text, PREFIX.charge) ?? NO_CHARGE,
  },
} as const;

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
} as const;

const createBody = jsonBody({ ...bodyRules, schema: createChargeBody });
/** The route fills payment_method in itself. */
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
  method: 'POST',
  tag: 'Charges',
  principal: 'apiKey',
  needsIdempotencyKey: true,
  responses: { 201: { kind: 'json', description: 'The charge, with its Pix code.', schema: chargeSchema } },
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
} as const;

export const createChargeRoute = route({
  ...creating,
  path: '/v1/charges',
  operationId: 'createCharge',
  summary: 'Create a Pix charge',
  body: createBody,
  handle: (context) => create(context, context.body),
});

export const createPixChargeRoute = route({
  ...creating,
  path: '/v1/pix/charges',
  operationId: 'createPixCharge',
  summary: 'Create a Pix charge; the route fills in payment_method',
  body: createPixBody,
  handle: (context) => create(context, { ...context.body, payment_method: 'pix' }),
});

export const getChargeRoute = route({
  method: 'GET',
  path: '/v1/charges/{id}',
  operationId: 'getCharge',
  summary: 'Read a charge by its ch_ id or its raw id',
  tag: 'Charges',
  principal: 'apiKey',
  reads: ['payments'],
  responses: { 200: { kind: 'json', description: 'The charge.', schema: chargeSchema } },
  errors: ['not_found'],
  params: chargeParam,
  handle: async ({ caller, params, services }) => {
    assertShown({ services, caller }, params.id);
    const payment = await services.views.payments.find(caller.tenant, params.id);
    return payment ? { status: 200, body: chargeView(payment) } : NO_CHARGE;
  },
});
