// Which error codes a route can answer: what it declares, and what follows from how it authenticates and what it reads.
import type { ErrorCode } from '../../domain/kernel/rejection.ts';
import { ERRORS } from '../kernel/errors.ts';
import type { Route } from '../kernel/route.ts';

/** What any request can meet, whatever its route. */
const ALWAYS = ['internal_error', 'service_unavailable', 'rate_limited'] as const satisfies readonly ErrorCode[];
const OF_BODIES = [
  'invalid_request',
  'invalid_json',
  'payload_too_large',
  'unsupported_media_type',
] as const satisfies readonly ErrorCode[];

/** Returns every code that an operation of the table can answer, without repeats. Other methods on its path answer `method_not_allowed`. */
export const errorCodesOf = ({ path, auth, idempotent, query = {}, body, errors }: Route): readonly ErrorCode[] => {
  const codes = new Set<ErrorCode>(errors);
  for (const code of ALWAYS) codes.add(code);
  if (path.includes('{')) codes.add('invalid_request'); // a parameter that can't be decoded
  if (auth !== 'none') codes.add('unauthorized');
  if (auth === 'testKey') codes.add('mode_not_allowed');
  if (idempotent) codes.add('idempotency_key_required').add('invalid_idempotency_key');
  for (const rule of Object.values(query)) codes.add(rule.code ?? 'invalid_filter');
  if (body) for (const code of [...OF_BODIES, ...Object.values(body.codes)]) codes.add(code);
  return [...codes];
};

/** Returns the codes of each status, in the order of the error table: statuses ascend. */
export const errorCodesByStatus = (route: Route): ReadonlyMap<number, readonly ErrorCode[]> => {
  const codes = new Set(errorCodesOf(route));
  const inOrder = (Object.keys(ERRORS) as ErrorCode[]).filter((code) => codes.has(code));
  const byStatus = Map.groupBy(inOrder, (code) => ERRORS[code].status);
  return new Map([...byStatus].sort(([a], [b]) => a - b));
};
