// The chapter of the reference that these routes stand in.
import type { Tag } from '../../kernel/route.ts';

export const WALLETS: Tag = { name: 'Wallets', description: 'What a merchant may dispose of, and what is still held.' };
