// The chapter of the reference that these routes stand in.
import type { Tag } from '../../kernel/route.ts';

export const SANDBOX: Tag = { name: 'Sandbox', description: 'What payers, banks and time do. For test keys only.' };

/** What routes of the sandbox have in common. */
export const IN_SANDBOX = { tag: SANDBOX, principal: 'testKey' } as const;
/** The longest wait for an effect to show in the reads. Then the answer is 202, and the rest goes on (rules X). */
export const VISIBLE_MS = 5_000;
