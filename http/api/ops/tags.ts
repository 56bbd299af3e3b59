// The chapter of the reference that these routes stand in.
import type { Tag } from '../../kernel/route.ts';

export const PLATFORM: Tag = {
  name: 'Platform',
  description:
    'What operators of the platform do with accounts, users, keys, work and the log. For the token of an OPERATOR, who belongs to no account.',
};

/** What routes for operators have in common. */
export const FOR_OPERATORS = { tag: PLATFORM, principal: 'operator' } as const;
