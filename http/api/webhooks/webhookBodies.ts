// The bodies that webhooks deliver, in the envelope of their family (contract.md Events).
import { exactly, id, type JsonSchema, string, timestamp } from '../../kernel/jsonSchema.ts';

/** Returns what makes the schema of an event's body: with the object that it is about. */
export const canonicalBody =
  (object: JsonSchema) =>
  (event: string): JsonSchema =>
    exactly({
      id: { ...id('evt_'), description: 'The same in every repeat of this event: deduplicate on it.' },
      object: { type: 'string', const: 'event' },
      api_version: string(10, { description: 'The version of this contract, a date.' }),
      type: { type: 'string', const: event },
      created_at: timestamp,
      data: exactly({ object }),
    });

/** The same for events of the older family. */
export const legacyBody =
  (data: JsonSchema) =>
  (event: string): JsonSchema =>
    exactly({ event: { type: 'string', const: event }, data });
