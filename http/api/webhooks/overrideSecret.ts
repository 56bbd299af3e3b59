// The secret that signs what goes to payments' own URLs (rule W7).
import { isRejection } from '../../../domain/kernel/rejection.ts';
import { actorOf } from '../../kernel/actor.ts';
import { route } from '../../kernel/route.ts';
import { overrideSecretSchema } from './webhookSchema.ts';

export const rotateOverrideSecretRoute = route({
  method: 'POST',
  path: '/v1/webhooks/override-secret/rotate',
  operationId: 'rotateOverrideSecret',
  summary: 'Replace the secret that signs deliveries to a payment’s webhookUrl; it is shown once',
  tag: 'Webhooks',
  principal: 'apiKey',
  responses: { 200: { kind: 'json', description: 'The new secret.', schema: overrideSecretSchema } },
  errors: [],
  handle: async (context) => {
    const secret = await context.services.rotateOverrideSecret(context.caller.tenant, actorOf(context));
    return isRejection(secret) ? secret : { status: 200, body: { secret } };
  },
});
