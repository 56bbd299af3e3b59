// The chapter of the reference that these routes stand in.
import type { Tag } from '../../kernel/route.ts';

export const PAYOUTS: Tag = { name: 'Payouts', description: 'Money out of the wallet to a Pix key.' };
