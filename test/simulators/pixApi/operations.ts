// The calls that the institution answers, by names that faults and counts use.

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
