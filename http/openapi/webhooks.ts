// The schemas of the webhooks in the OpenAPI document, one for each event of the catalogue.
import { HTTP_MODULES } from '../api/routes.ts';
import type { JsonSchema } from '../kernel/jsonSchema.ts';

const BODIES = new Map(HTTP_MODULES.flatMap(({ webhooks }) => Object.entries(webhooks)));

/** Returns the schema of the delivery body of an event. Throws Error when no module describes the event. */
export const webhookSchema = (event: string): JsonSchema => {
  const bodyOf = BODIES.get(event.split('.', 1).join());
  if (bodyOf === undefined) throw new Error(`no module of http/api describes the body of ${event}`);
  return bodyOf(event);
};
