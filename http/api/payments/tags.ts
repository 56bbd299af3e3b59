// The chapters of the API reference that contain these routes.
import type { Tag } from '../../kernel/route.ts';

export const CHARGES: Tag = {
  name: 'Charges',
  description: 'Pix charges. The response contains the copy-and-paste code and its QR image.',
};

export const PAYMENTS: Tag = {
  name: 'Payments',
  description: 'Payments in the transaction format: several methods, cancellation, receipts and statistics.',
};

/** The common properties of routes about payments. */
export const ON_PAYMENTS = { tag: PAYMENTS, principal: 'apiKey' } as const;
