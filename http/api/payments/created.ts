// The answer to a creation under an idempotency key (contract.md Idempotency, rule K3).
import type { RouteResult } from '../../kernel/route.ts';

/** 201, the first time and every time it is repeated; a repeat says so. */
export const created = (body: unknown, replayed: boolean): RouteResult => ({
  status: 201,
  body,
  ...(replayed && { headers: { 'Idempotent-Replayed': 'true' } }),
});
