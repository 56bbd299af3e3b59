// The chapter of the reference that these routes stand in.
import type { Tag } from '../../kernel/route.ts';

export const SANDBOX: Tag = { name: 'Sandbox', description: 'What payers, banks and time do. For test keys only.' };
