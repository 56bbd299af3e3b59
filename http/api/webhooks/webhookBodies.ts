// The schemas of webhook bodies, in the envelope of their family (contract.md Events).

import type { JsonSchema } from '../../kernel/jsonSchema.ts';
import * as s from '../../kernel/jsonSchema.ts';

/** Returns a function from an event name to the schema of its body. The body contains the affected object. */
export const canonicalBody =
  (object: JsonSchema) =>
  (event: string): JsonSchema =>
    s.exactly({
      id: {
        ...s.id('evt_'),
        description: 'The id of the event. It is the same in every delivery of this event; deduplicate on it.',
      },
      object: { type: 'string', const: 'event' },
      api_version: s.string(10, { description: 'The version of the API, a date.' }),
      type: { type: 'string', const: event },
      created_at: s.timestamp,
      data: s.exactly({ object }),
    });

/** Returns the same function for events of the older family. */
export const legacyBody =
  (data: JsonSchema) =>
  (event: string): JsonSchema =>
    s.exactly({ event: { type: 'string', const: event }, data });
