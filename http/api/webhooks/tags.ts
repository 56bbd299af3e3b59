// The chapter of the API reference that contains these routes.
import type { Tag } from '../../kernel/route.ts';

export const WEBHOOKS: Tag = { name: 'Webhooks', description: 'Webhook endpoints and the deliveries to them.' };

/** The common properties of routes about webhooks. */
export const ON_WEBHOOKS = { tag: WEBHOOKS, principal: 'apiKey' } as const;
