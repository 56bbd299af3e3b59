// The schemas of webhook bodies, in the envelope of their family (contract.md Events).
import { exactly, id, type JsonSchema, string, timestamp } from '../../kernel/jsonSchema.ts';

/** Returns a function from an event name to the schema of its body. The body contains the affected object. */
export const canonicalBody =
  (object: JsonSchema) =>
  (event: string): JsonSchema =>
    exactly({
      id: {
        ...id('evt_'),
        description: 'The id of the event. It is the same in every delivery of this event; deduplicate on it.',
      },
      object: { type: 'string', const: 'event' },
      api_version: string(10, { description: 'The version of the API, a date.' }),
      type: { type: 'string', const: event },
      created_at: timestamp,
      data: exactly({ object }),
    });

/** Returns the same function for events of the older family. */
export const legacyBody =
  (data: JsonSchema) =>
  (event: string): JsonSchema =>
    exactly({ event: { type: 'string', const: event }, data });
