// The sandbox's acquirers and their payers: what happens to payments of other methods than Pix (rule X2).

import { NO_PAYMENT } from '../../../application/payments/ownPayment.ts';
import { NOT_FINALISED, type SandboxAct } from '../../../application/sandbox/actInSandbox.ts';
import { PAYMENT_METHODS, type PaymentMethod } from '../../../domain/charge/methods.ts';
import { isRejection } from '../../../domain/kernel/rejection.ts';
import type { ExistingPayment } from '../../../domain/payment/payment.ts';
import { findPayment } from '../../../projections/payments/queries.ts';
import { accepting, string } from '../../kernel/jsonSchema.ts';
import { pollUntil } from '../../kernel/pollUntil.ts';
import type { BodyRule, Route, RouteContext } from '../../kernel/route.ts';
import { assertFollowed } from '../../kernel/upToDate.ts';
import { paymentIdOf, transactionBody } from '../payments/transactionBody.ts';
import { transactionSchema } from '../schemas.ts';

/** Longest wait for the job that finalises the payment, and then for the effect; then 202, and the rest goes on (X). */
const VISIBLE_MS = 5_000;

const perform = async (ask: RouteContext, act: SandboxAct) => {
  const { caller, services } = ask;
  const id = paymentIdOf(ask);
  if (id === null) return NO_PAYMENT;
  assertFollowed(ask, id);
  const told = await pollUntil(services.progress, VISIBLE_MS, async () => {
    const result = await services.actInSandbox(caller.tenant, id, act);
    return isRejection(result) || result.kind === 'told' ? result : null;
  });
  if (told === null) return NOT_FINALISED;
  if (isRejection(told)) return told;
  let seen: ExistingPayment | null = null;
  const isVisible = await pollUntil(services.progress, VISIBLE_MS, async () => {
    seen = await findPayment(services.db, caller.tenant, id);
    return seen !== null && told.isVisible(seen) ? true : null;
  });
  return { status: isVisible ? 200 : 202, body: await transactionBody(seen ?? told.payment) };
};

const route = (name: string, summary: string, body: BodyRule, actOf: (sent: never) => SandboxAct): Route => ({
  method: 'POST',
  path: `/v1/sandbox/payments/{id}/${name}`,
  operationId: `sandbox${name.charAt(0).toUpperCase()}${name.slice(1)}`,
  summary,
  auth: 'testKey',
  body,
  responses: {
    200: { description: 'The payment, with what came of it.', schema: transactionSchema },
    202: { description: 'The payment, when that does not show in the reads within 5 s.', schema: transactionSchema },
  },
  errors: ['not_found', 'mode_not_allowed', 'invalid_payment_method', 'invalid_request'],
  handle: (ask) => perform(ask, actOf(ask.body as never)),
});

const NOTHING: BodyRule = { schema: accepting({}), codes: {} };

export const sandboxAuthorizeRoute = route(
  'authorize',
  'The payer pays by another method than Pix',
  {
    schema: accepting({ method: { type: 'string', enum: PAYMENT_METHODS } }),
    codes: { method: 'invalid_payment_method' },
  },
  ({ method }: { method?: PaymentMethod }) => ({ kind: 'authorize', method: method ?? null }),
);

export const sandboxRefuseRoute = route(
  'refuse',
  'The acquirer declines the method in flight, else the first that is left',
  { schema: accepting({ reason: string(500) }), codes: {} },
  ({ reason }: { reason?: string }) => ({ kind: 'refuse', reason: reason ?? null }),
);

export const sandboxProcessingRoute = route('processing', 'The payer is at it', NOTHING, () => ({
  kind: 'processing',
}));
export const sandboxChargebackRoute = route('chargeback', 'The card’s issuer raises a chargeback', NOTHING, () => ({
  kind: 'chargeback',
}));
export const sandboxDisputeRoute = route('dispute', 'The card’s holder opens a dispute', NOTHING, () => ({
  kind: 'dispute',
}));
