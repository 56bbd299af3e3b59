// Acts of acquirers and card holders that the payment page simulates in test mode.

/** Acts on an open payment. */
export const OPEN_ACTS = ['authorize', 'processing', 'refuse'] as const;
/** Acts on a payment settled by card. */
export const CARD_ACTS = ['chargeback', 'dispute'] as const;
