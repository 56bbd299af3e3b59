import { boolean, described, exactly, listOf, optional, string } from '../../kernel/jsonSchema.ts';
import { secretSchema } from './endpointSchema.ts';

export const overrideSecretSchema = exactly({
  secret: secretSchema('Signs what goes to payments’ own URLs. Shown once.'),
});

export const catalogueSchema = listOf(
  exactly({
    event: described('The name to subscribe to.', string()),
    description: described('When it is sent.', string()),
    legacy: optional(described('true: of the older family, not needed by new integrations.', boolean)),
  }),
);
