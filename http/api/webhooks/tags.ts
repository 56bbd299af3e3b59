// The chapter of the reference that these routes stand in.
import type { Tag } from '../../kernel/route.ts';

export const WEBHOOKS: Tag = { name: 'Webhooks', description: 'Where events are sent, and what was sent.' };
