// The chapter of the API reference that contains these routes.
import type { Tag } from '../../kernel/route.ts';

export const PAYOUTS: Tag = { name: 'Payouts', description: 'Transfers from the wallet to a Pix key.' };
