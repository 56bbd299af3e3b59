import * as s from '../../kernel/jsonSchema.ts';
import { secretSchema } from './endpointSchema.ts';

export const overrideSecretSchema = s.exactly({
  secret: secretSchema('The secret that signs deliveries to `webhookUrl`. Returned only once.'),
});

export const catalogueSchema = s.listOf(
  s.exactly({
    event: s.described('The event name to subscribe to.', s.string()),
    description: s.described('When the event is sent.', s.string()),
    legacy: s.optional(
      s.described('`true` for events of the older family, which new integrations don’t need.', s.boolean),
    ),
  }),
);
