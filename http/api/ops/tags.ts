// The chapter of the API reference that contains these routes.
import type { Tag } from '../../kernel/route.ts';

export const PLATFORM: Tag = {
  name: 'Platform',
  description:
    'Administration of accounts, users, keys, jobs and the event log by operators of the platform. These operations require the token of an OPERATOR.',
};

/** The common properties of routes for operators. */
export const FOR_OPERATORS = { tag: PLATFORM, principal: 'operator' } as const;
