// The answer to a creation under an idempotency key (contract.md Idempotency, rule K3).

/** 201, the first time and every time it is repeated; a repeat says so. */
export const created = <Body>(body: Body, replayed: boolean) => ({
  status: 201 as const,
  body,
  ...(replayed && { headers: { 'Idempotent-Replayed': 'true' } }),
});
