// The error codes of a route by their statuses.
import type { ErrorCode } from '../../domain/kernel/rejection.ts';
import { ERRORS } from '../kernel/errors.ts';
import type { Route } from '../kernel/route.ts';

/** Returns the codes of each status, in the order of the error table: statuses ascend. */
export const errorCodesByStatus = (route: Route): ReadonlyMap<number, readonly ErrorCode[]> => {
  const codes = new Set(route.errors);
  const inOrder = (Object.keys(ERRORS) as ErrorCode[]).filter((code) => codes.has(code));
  const byStatus = Map.groupBy(inOrder, (code) => ERRORS[code].status);
  return new Map([...byStatus].sort(([a], [b]) => a - b));
};
