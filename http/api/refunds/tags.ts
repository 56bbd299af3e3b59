// The chapter of the API reference that contains these routes.
import type { Tag } from '../../kernel/route.ts';

export const REFUNDS: Tag = { name: 'Refunds', description: 'Full and partial refunds of settled payments.' };
