// Sandbox routes that simulate the bank's decision on a refund (rule X3).

import type { RefundView } from '../../../application/ports/readModels/views.ts';
import { NO_REFUND } from '../../../application/sandbox/decideSandboxRefund.ts';
import { parseId, type RefundId } from '../../../domain/kernel/ids.ts';
import { isRejection } from '../../../domain/kernel/rejection.ts';
import { REFUND } from '../../../domain/refund/refund.ts';
import { jsonBody, type KeyContext, route } from '../../kernel/route.ts';
import { bankFailsBody, bankPaysBody } from '../sandbox/sandboxSchema.ts';
import { IN_SANDBOX, VISIBLE_MS } from '../sandbox/tags.ts';
import { refundSchema } from './refundSchema.ts';

/** The longest wait for running work before each attempt to decide. */
const AT_REST_MS = 250;
const DEFAULT_FAILURE = 'The sandbox bank could not pay the refund.';

const isEnded = ({ status }: RefundView): boolean => status === 'REFUNDED' || status === 'FAILED';

/** The path parameter of a refund. */
const refundParam = {
  id: {
    description: 'The `rf_` id of the refund, or its raw id.',
    schema: { type: 'string' },
    parse: (text: string) => parseId<RefundId>(text, REFUND.idPrefix) ?? NO_REFUND,
  },
} as const;

/** Confirms the refund if `failure` is null. Waits until a refund just requested has reached the bank. */
const decide = async (
  { caller, params: { id }, services }: KeyContext<typeof refundParam>,
  failure: string | null,
  late = false,
) => {
  const { tenant } = caller;
  let isDecided = false;
  const look = async () => {
    if (!isDecided) {
      const isAtRest = await services.whenIdle(tenant.accountId, AT_REST_MS);
      const done = await services.decideSandboxRefund(tenant, id, failure, late);
      if (isRejection(done)) return done;
      if (done === 'absent' && isAtRest) return NO_REFUND;
      if (done !== 'decided') return null;
      isDecided = true;
    }
    const refund = await services.views.refunds.find(tenant, id);
    return refund && isEnded(refund) ? refund : null;
  };
  const seen = await services.untilSeen(VISIBLE_MS, look);
  if (isRejection(seen)) return seen;
  if (seen !== null) return { status: 200 as const, body: seen };
  const current = await services.views.refunds.find(tenant, id);
  return current === null ? NO_REFUND : { status: 202 as const, body: current };
};

const deciding = {
  method: 'POST',
  ...IN_SANDBOX,
  params: refundParam,
  responses: {
    200: { kind: 'json', description: 'The completed or failed refund.', schema: refundSchema },
    202: {
      kind: 'json',
      description: 'The refund as reads show it after 5 seconds. Processing continues.',
      schema: refundSchema,
    },
  },
  errors: ['not_found'],
} as const;

export const confirmRefundRoute = route({
  ...deciding,
  path: '/v1/sandbox/refunds/{id}/confirm',
  operationId: 'sandboxConfirmRefund',
  summary: 'Simulate the payment of a refund',
  description: 'Simulates the bank’s confirmation of a refund. Use it when `auto_confirm_refunds` is switched off.',
  body: jsonBody({ schema: bankPaysBody }),
  handle: (context) => decide(context, null, context.body.late),
});

export const failRefundRoute = route({
  ...deciding,
  path: '/v1/sandbox/refunds/{id}/fail',
  operationId: 'sandboxFailRefund',
  summary: 'Simulate the failure of a refund',
  description: 'Simulates a bank that rejects a refund. The amount returns to the wallet.',
  body: jsonBody({ schema: bankFailsBody }),
  handle: (context) => decide(context, context.body.reason ?? DEFAULT_FAILURE),
});
