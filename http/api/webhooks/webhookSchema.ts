import { boolean, described, exactly, listOf, optional, string } from '../../kernel/jsonSchema.ts';
import { secretSchema } from './endpointSchema.ts';

export const overrideSecretSchema = exactly({
  secret: secretSchema('The secret that signs deliveries to `webhookUrl`. Returned only once.'),
});

export const catalogueSchema = listOf(
  exactly({
    event: described('The event name to subscribe to.', string()),
    description: described('When the event is sent.', string()),
    legacy: optional(described('`true` for events of the older family, which new integrations don’t need.', boolean)),
  }),
);
