// The chapter of the reference that these routes stand in.
import type { Tag } from '../../kernel/route.ts';

export const DISPUTES: Tag = {
  name: 'Disputes',
  description: 'Cases that payers’ banks open about payments: answers, evidence, outcomes.',
};
