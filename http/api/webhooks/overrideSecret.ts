// The secret that signs what goes to payments' own URLs (rule W7).
import { isRejection } from '../../../domain/kernel/rejection.ts';
import { requesterOf } from '../../kernel/actor.ts';
import type { Route } from '../../kernel/route.ts';
import { overrideSecretSchema } from '../payments/paymentActionsSchema.ts';

export const rotateOverrideSecretRoute: Route = {
  method: 'POST',
  path: '/v1/webhooks/override-secret/rotate',
  operationId: 'rotateOverrideSecret',
  summary: 'Replace the secret that signs deliveries to a payment’s webhookUrl; it is shown once',
  auth: 'apikey',
  responses: { 200: { description: 'The new secret.', schema: overrideSecretSchema } },
  errors: [],
  handle: async (ask) => {
    const secret = await ask.services.rotateOverrideSecret(ask.caller.tenant, requesterOf(ask));
    return isRejection(secret) ? secret : { status: 200, body: { secret } };
  },
};
