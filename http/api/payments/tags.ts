// Chapters of the reference that these routes stand in.
import type { Tag } from '../../kernel/route.ts';

export const CHARGES: Tag = {
  name: 'Charges',
  description: 'Pix charges: the code to copy and its QR image come with the answer.',
};

export const PAYMENTS: Tag = {
  name: 'Payments',
  description: 'The transaction format: several methods, cancellation, receipts, statistics.',
};
