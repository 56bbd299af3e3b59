import { FIELD_ERRORS, PAYER_LOCK_ERRORS } from '../../domain/charge/errors.ts';
import {
  CASE_ERRORS,
  EVIDENCE_ERRORS,
  SIGNATURE_ERRORS,
  UPLOAD_ERRORS,
  UPLOAD_LIMIT_ERRORS,
} from '../../domain/dispute/errors.ts';
import { codes, type ErrorCode, type ErrorEntry, type Problem, type Rejection } from '../../domain/kernel/rejection.ts';
import { KEY_ERRORS } from '../../domain/keyring/errors.ts';
import {
  DISPUTE_ERRORS,
  PAYMENT_CONFLICTS,
  PAYMENT_ERRORS,
  REFUND_ERRORS,
  VELOCITY_ERRORS,
} from '../../domain/payment/errors.ts';
import { PAYOUT_ERRORS, PAYOUT_REFUSALS } from '../../domain/payout/errors.ts';
import { SECOND_FACTOR_ERRORS } from '../../domain/user/errors.ts';
import { ENDPOINT_ERRORS, ENDPOINT_FIELD_ERRORS } from '../../domain/webhookEndpoint/errors.ts';

type ErrorType =
  | 'invalid_request_error'
  | 'authentication_error'
  | 'permission_error'
  | 'not_found_error'
  | 'conflict_error'
  | 'rate_limit_error'
  | 'api_error';

/** Returns the type that goes with the status. */
export const errorType = (status: number): ErrorType =>
  TYPES[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error');
const TYPES: { readonly [status: number]: ErrorType } = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  409: 'conflict_error',
  429: 'rate_limit_error',
};

/** Every code with its HTTP status: general ones, and those of capabilities, which each declares beside its domain. */
export const ERRORS: { readonly [Code in ErrorCode]: ErrorEntry } = {
  ...codes(400, { invalid_request: 'Validation failed, in several fields or in one without a code of its own.' }),
  ...FIELD_ERRORS,
  ...codes(400, { invalid_json: 'The body is not valid JSON, or one of its objects has a key twice.' }),
  ...ENDPOINT_FIELD_ERRORS,
  ...codes(400, {
    invalid_filter: 'A list parameter is malformed or out of bounds.',
    invalid_cursor: 'The cursor is not one of the caller’s.',
  }),
  ...PAYER_LOCK_ERRORS,
  ...codes(400, {
    idempotency_key_required: 'The `Idempotency-Key` header, or `idempotencyKey` in the body, is missing.',
    invalid_idempotency_key: 'The idempotency key is not 8 to 128 printable ASCII characters.',
  }),
  ...ENDPOINT_ERRORS,
  ...PAYMENT_ERRORS,
  ...EVIDENCE_ERRORS,
  ...DISPUTE_ERRORS,
  ...PAYOUT_ERRORS,
  ...CASE_ERRORS,
  ...REFUND_ERRORS,
  ...PAYOUT_REFUSALS,
  ...VELOCITY_ERRORS,
  ...codes(401, {
    unauthorized:
      'The API key or the dashboard’s token is missing, invalid, replaced or ended; or e-mail address and password are not somebody’s.',
  }),
  ...SECOND_FACTOR_ERRORS,
  ...codes(403, { mode_not_allowed: 'A live key on a sandbox route, or the reverse.' }),
  ...KEY_ERRORS,
  ...SIGNATURE_ERRORS,
  ...codes(403, { role_required: 'The role of the user who is logged in does not allow this.' }),
  ...codes(404, { not_found: 'The resource or the route does not exist, or belongs to another account or mode.' }),
  ...codes(405, { method_not_allowed: 'The route has no such method; `Allow` lists those it has.' }),
  ...PAYMENT_CONFLICTS,
  ...UPLOAD_ERRORS,
  ...codes(413, { payload_too_large: 'The body is larger than 64 kB.' }),
  ...codes(415, { unsupported_media_type: 'The body is not `application/json` in UTF-8.' }),
  ...codes(422, { unprocessable_entity: 'No provider is configured for the method. Do not retry.' }),
  ...codes(429, {
    rate_limited:
      'Too many requests in this minute, or streams or downloads at once; `Retry-After` says when to go on.',
  }),
  ...UPLOAD_LIMIT_ERRORS,
  ...codes(431, { headers_too_large: 'The request headers are larger than 16 kB.' }),
  ...codes(500, { internal_error: 'A fault of the service. Safe to retry with the same `Idempotency-Key`.' }),
  ...codes(503, {
    service_unavailable:
      'The store or the provider is away, what is read is not up to date, or too much is in progress. Safe to retry with the same `Idempotency-Key`.',
  }),
};

interface ErrorBody {
  readonly error: {
    readonly type: ErrorType;
    readonly code: ErrorCode;
    readonly message: string;
    readonly param?: string;
    readonly details?: readonly Problem[];
  };
  readonly request_id: string;
}

export const errorBody = (
  { code, message, param, details }: Omit<Rejection, 'rejected'>,
  requestId: string,
): ErrorBody => ({
  error: {
    type: errorType(ERRORS[code].status),
    code,
    message,
    ...(param !== undefined && { param }),
    ...(details && { details }),
  },
  request_id: requestId,
});

/** The value of the header `Link` of an error answer: where its code is explained. `publicUrl`: without a slash at its end. */
export const helpLink = (publicUrl: string, code: ErrorCode): string =>
  `<${publicUrl}/docs/errors#${code}>; rel="help"`;
