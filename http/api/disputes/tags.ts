// The chapter of the API reference that contains these routes.
import type { Tag } from '../../kernel/route.ts';

export const DISPUTES: Tag = {
  name: 'Disputes',
  description: 'Dispute cases that payers’ banks open about payments: responses, evidence and outcomes.',
};

/** The common properties of routes about disputes. */
export const ON_DISPUTES = { tag: DISPUTES, principal: 'apiKey' } as const;
