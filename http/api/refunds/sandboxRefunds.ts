// Sandbox routes that simulate the bank's decision on a refund (rule X3).

import type { RefundView } from '../../../application/ports/readModels/views.ts';
import { NO_REFUND } from '../../../application/sandbox/decideSandboxRefund.ts';
import { parseId, type RefundId } from '../../../domain/kernel/ids.ts';
import { REFUND } from '../../../domain/refund/refund.ts';
import { json, jsonBody, type KeyContext, pathParam, route } from '../../kernel/route.ts';
import { decideAtBank } from '../sandbox/bankDecision.ts';
import { bankFailsBody, bankPaysBody, IN_SANDBOX } from '../sandbox/sandboxSchema.ts';
import { refundSchema } from './refundSchema.ts';

export const DEFAULT_FAILURE = 'The sandbox bank could not pay the refund.';

const isEnded = ({ status }: RefundView): boolean => status === 'REFUNDED' || status === 'FAILED';

/** The path parameter of a refund. */
export const refundParam = {
  id: pathParam(
    'The `rf_` id of the refund, or its raw id.',
    (text) => parseId<RefundId>(text, REFUND.idPrefix) ?? NO_REFUND,
  ),
};

/** Confirms the refund if `failure` is null. Waits until a refund just requested has reached the bank. */
export const decideRefund = (
  context: Pick<KeyContext<typeof refundParam>, 'caller' | 'params' | 'services'>,
  failure: string | null,
  late = false,
) => {
  const { caller, params, services } = context;
  return decideAtBank(context, {
    decide: async (isAtRest) => {
      const done = await services.decideSandboxRefund(caller.tenant, params.id, failure, late);
      if (done === 'absent') return isAtRest ? NO_REFUND : null;
      return done === 'early' ? null : done;
    },
    find: () => services.views.refunds.find(caller.tenant, params.id),
    isShown: isEnded,
    missing: NO_REFUND,
  });
};

const deciding = {
  ...IN_SANDBOX,
  params: refundParam,
  responses: {
    200: json('The completed or failed refund.', refundSchema),
    202: json('The refund as reads show it after 5 seconds. Processing continues.', refundSchema),
  },
} as const;

export const confirmRefundRoute = route('POST', '/v1/sandbox/refunds/{id}/confirm', {
  ...deciding,
  operationId: 'sandboxConfirmRefund',
  summary: 'Simulate the payment of a refund',
  description: 'Simulates the bank’s confirmation of a refund. Use it when `auto_confirm_refunds` is switched off.',
  body: jsonBody({ schema: bankPaysBody }),
  handle: (context) => decideRefund(context, null, context.body.late),
});

export const failRefundRoute = route('POST', '/v1/sandbox/refunds/{id}/fail', {
  ...deciding,
  operationId: 'sandboxFailRefund',
  summary: 'Simulate the failure of a refund',
  description: 'Simulates a bank that rejects a refund. The amount returns to the wallet.',
  body: jsonBody({ schema: bankFailsBody }),
  handle: (context) => decideRefund(context, context.body.reason ?? DEFAULT_FAILURE),
});
