// What the page of a payment simulates of acquirers and card holders, in test mode.

/** While a payment is open. */
export const OPEN_ACTS = ['authorize', 'processing', 'refuse'] as const;
/** After it was settled by card. */
export const CARD_ACTS = ['chargeback', 'dispute'] as const;
