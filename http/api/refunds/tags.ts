// The chapter of the reference that these routes stand in.
import type { Tag } from '../../kernel/route.ts';

export const REFUNDS: Tag = { name: 'Refunds', description: 'Giving a settled payment back, in full or in part.' };
