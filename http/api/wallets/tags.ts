// The chapter of the API reference that contains these routes.
import type { Tag } from '../../kernel/route.ts';

export const WALLETS: Tag = { name: 'Wallets', description: 'Available and pending balances of a merchant.' };
