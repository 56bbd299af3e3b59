// The fields of the settings' forms, by who may change them.
export const MANAGERS_FIELDS = ['color', 'chargeWindow'] as const;
export const OWNERS_FIELDS = [
  'payoutApprovalAbove',
  'payoutSum',
  'payoutCount',
  'refundSum',
  'refundCount',
  'destinations',
  'anyDestination',
] as const;
export type Field = (typeof MANAGERS_FIELDS)[number] | (typeof OWNERS_FIELDS)[number];
