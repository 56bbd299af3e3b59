// The error codes that follow from what a route declares.
import type { ErrorCode } from '../../domain/kernel/rejection.ts';
import type { BodyRule, Principal, Route } from './route.ts';

export const isKeyed = (principal: Principal): boolean => principal === 'apiKey' || principal === 'testKey';

/** Whether a token of the dashboard is asked for. */
export const isOfSession = (principal: Principal): principal is 'anySession' | 'session' | 'operator' =>
  principal === 'anySession' || principal === 'session' || principal === 'operator';

/** What follows from who may call, what is taken, and that any process can be too busy or at fault. */
export const impliedErrors = ({
  principal,
  limit,
  params,
  query,
  body,
  needsIdempotencyKey,
}: Pick<Route, 'principal' | 'limit' | 'params' | 'query' | 'body'> & {
  needsIdempotencyKey: boolean;
}): ErrorCode[] => [
  ...(Object.keys(params).length > 0 ? (['invalid_request'] as const) : []), // a path that can't be decoded
  ...Object.values(query).map(({ code }) => code),
  ...(needsIdempotencyKey ? (['idempotency_key_required', 'invalid_idempotency_key'] as const) : []),
  ...bodyErrors(body),
  ...(isKeyed(principal) || isOfSession(principal) ? (['unauthorized'] as const) : []),
  ...(principal === 'session' || principal === 'operator' ? (['role_required'] as const) : []),
  ...(principal === 'operator' ? (['second_factor_enrolment_required'] as const) : []),
  ...(principal === 'testKey' ? (['mode_not_allowed'] as const) : []),
  ...(limit === 'unlimited' ? [] : (['rate_limited'] as const)),
  'internal_error',
  'service_unavailable',
];

const bodyErrors = (body: BodyRule): readonly ErrorCode[] => {
  if (body.kind === 'none') return [];
  if (body.kind === 'stream')
    return body.contentTypes === null
      ? ['payload_too_large', 'invalid_request']
      : ['payload_too_large', 'unsupported_media_type', 'invalid_request'];
  const codes = [...Object.values(body.codes), ...Object.values(body.missing)];
  return ['invalid_request', 'invalid_json', 'payload_too_large', 'unsupported_media_type', ...codes];
};
