// Sandbox routes that simulate acquirers and payers of methods other than Pix (rule X2).

import { NOT_FINALISED, type SandboxAct } from '../../../application/sandbox/actInSandbox.ts';
import { isRejection } from '../../../domain/kernel/rejection.ts';
import type { ExistingPayment } from '../../../domain/payment/payment.ts';
import { json, jsonBody, type KeyContext, type Route, route } from '../../kernel/route.ts';
import { assertFollowed } from '../../kernel/upToDate.ts';
import { IN_SANDBOX, VISIBLE_MS } from '../sandbox/sandboxSchema.ts';
import { paymentParam, transactionBody } from './payment.ts';
import { authorizeBody, refuseBody } from './sandboxSchema.ts';
import { transactionSchema } from './transactionSchema.ts';

/** Acts as the acquirer or payer would. Waits until reads show it. */
export const perform = async (
  context: Pick<KeyContext<typeof paymentParam>, 'caller' | 'params' | 'services'>,
  act: SandboxAct,
) => {
  const {
    caller,
    params: { id },
    services,
  } = context;
  assertFollowed(context, id);
  const done = await services.untilSeen(VISIBLE_MS, async () => {
    const result = await services.actInSandbox(caller.tenant, id, act);
    return isRejection(result) || result.kind === 'reported' ? result : null;
  });
  if (done === null) return NOT_FINALISED;
  if (isRejection(done)) return done;
  let seen: ExistingPayment | null = null;
  const isVisible = await services.untilPaymentSeen(caller.tenant, id, VISIBLE_MS, (payment) => {
    seen = payment;
    return done.isVisible(payment) || null;
  });
  return { status: isVisible ? (200 as const) : (202 as const), body: await transactionBody(seen ?? done.payment) };
};

const ACTING = {
  ...IN_SANDBOX,
  params: paymentParam,
  responses: {
    200: json('The payment after the change.', transactionSchema),
    202: json('The payment, if the change is not visible within 5 seconds.', transactionSchema),
  },
  errors: ['invalid_payment_method', 'invalid_request'],
} as const;
const DISPUTING = { ...ACTING, errors: [...ACTING.errors, 'change_limit_reached'] } as const;

const sandboxAuthorizeRoute = route('POST', '/v1/sandbox/payments/{id}/authorize', {
  ...ACTING,
  operationId: 'sandboxAuthorize',
  summary: 'Simulate a payment by a method other than Pix',
  description: 'Simulates a successful payment by card, boleto, MB WAY, Multibanco or crypto.',
  body: jsonBody({
    schema: authorizeBody,
    codes: { method: 'invalid_payment_method' },
  }),
  handle: (context) => perform(context, { kind: 'authorize', method: context.body.method ?? null }),
});

const sandboxRefuseRoute = route('POST', '/v1/sandbox/payments/{id}/refuse', {
  ...ACTING,
  operationId: 'sandboxRefuse',
  summary: 'Simulate a decline by the acquirer',
  description:
    'Simulates a decline of the method in progress, or of the first remaining method. If the payment offers other methods, the payer can still use them.',
  body: jsonBody({ schema: refuseBody }),
  handle: (context) => perform(context, { kind: 'refuse', reason: context.body.reason ?? null }),
});

const sandboxProcessingRoute = route('POST', '/v1/sandbox/payments/{id}/processing', {
  ...ACTING,
  operationId: 'sandboxProcessing',
  summary: 'Simulate a payment in progress',
  description: 'Simulates a payer who has started to pay. The payment becomes PROCESSING.',
  handle: (context) => perform(context, { kind: 'processing' }),
});

const sandboxChargebackRoute = route('POST', '/v1/sandbox/payments/{id}/chargeback', {
  ...DISPUTING,
  operationId: 'sandboxChargeback',
  summary: 'Simulate a chargeback',
  description: 'Simulates a chargeback by the card’s issuer. The disputed amount is retained.',
  handle: (context) => perform(context, { kind: 'chargeback' }),
});

const sandboxDisputeRoute = route('POST', '/v1/sandbox/payments/{id}/dispute', {
  ...DISPUTING,
  operationId: 'sandboxDispute',
  summary: 'Simulate a cardholder dispute',
  description: 'Simulates a dispute by the cardholder. The disputed amount is retained.',
  handle: (context) => perform(context, { kind: 'dispute' }),
});

export const SANDBOX_METHOD_ROUTES: readonly Route[] = [
  sandboxAuthorizeRoute,
  sandboxRefuseRoute,
  sandboxProcessingRoute,
  sandboxChargebackRoute,
  sandboxDisputeRoute,
];
