// The operations of the institution, by the names that faults and call counts use.

export const OPERATIONS = [
  'token',
  'charge.create',
  'charge.read',
  'charge.change',
  'charge.list',
  'pix.read',
  'pix.list',
  'return.create',
  'return.read',
  'webhook.register',
  'webhook.read',
  'webhook.delete',
  'webhook.list',
  'payout.create',
  'payout.read',
  'payout.list',
  'balance.read',
] as const;
export type Operation = (typeof OPERATIONS)[number];
